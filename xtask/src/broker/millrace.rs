//! How Millrace is started.

use std::path::Path;
use std::process::Command;

use super::{Setup, data};

pub(super) fn command(setup: &Setup, dir: &Path, port: u16) -> Command {
    let mut command = Command::new(&setup.millrace);
    // Settings of whoever runs the tests are none of this node's.
    let variables = std::env::vars_os().map(|(name, _)| name);
    for name in variables.filter(|name| name.as_encoded_bytes().starts_with(b"MILLRACE_")) {
        command.env_remove(name);
    }
    command.arg("serve").arg("--data-dir").arg(data(dir));
    command
        .arg("--set")
        .arg(format!("kafka.listen=127.0.0.1:{port}"));
    if !setup.settings.iter().any(|(key, _)| key == "admin.listen") {
        command.args(["--set", "admin.listen=off"]);
    }
    for (key, value) in &setup.settings {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    command
}

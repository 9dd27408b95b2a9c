//! How Millrace is started, and what it says of itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Setup, data};
use crate::command::{command as command_of, run};

/// The setting that says where status is served.
pub(super) const ADMIN: &str = "admin.listen";
const STATUS_LIMIT: Duration = Duration::from_secs(30);

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
    if !setup.settings.iter().any(|(key, _)| key == ADMIN) {
        command.args(["--set", "admin.listen=off"]);
    }
    for (key, value) in &setup.settings {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    command
}

/// What a node says of itself.
pub(super) fn status(setup: &Setup) -> Result<serde_json::Value> {
    let mut status = command_of([&setup.millrace]);
    status.args(["status", "--json", "--admin", admin(setup)?]);
    serde_json::from_str(&run(&mut status, STATUS_LIMIT)?).context("status")
}

/// Where it says so.
pub(super) fn admin(setup: &Setup) -> Result<&str> {
    let admin = setup.settings.iter().find(|(key, _)| key == ADMIN);
    Ok(&admin.context("no port for status")?.1)
}

//! The first Java program that a newcomer writes, and its record read back by another client.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::broker::Setup;
use crate::command::{command, run as run_command};
use crate::install::Clients;

/// The port that the program has in it.
const PORT: u16 = 9092;
const LIMIT: Duration = Duration::from_secs(60);
const TOPIC: &str = "my_topic";

/// Takes the port that the program expects, where it is free.
pub(super) fn setup(setup: Setup) -> Setup {
    let free = std::net::TcpListener::bind(("127.0.0.1", PORT)).is_ok();
    Setup {
        port: free.then_some(PORT),
        ..setup
    }
}

pub(super) fn run(installed: &Clients, bootstrap: &str) -> Result<()> {
    let mut java = command(["java"]);
    if !bootstrap.ends_with(&format!(":{PORT}")) {
        java.arg(format!("-Dbootstrap={bootstrap}"));
    }
    let said = run_command(
        java.arg("-cp")
            .arg(&installed.class_path)
            .arg("FirstProducer"),
        LIMIT,
    )?;
    ensure!(
        said.contains("Message sent successfully: my_topic-0@0"),
        "the program said: {said}"
    );
    let kcat = [
        "kcat",
        "-C",
        "-q",
        "-e",
        "-b",
        bootstrap,
        "-t",
        TOPIC,
        "-o",
        "beginning",
    ];
    let read = run_command(&mut command(kcat), LIMIT)?;
    ensure!(read == "Hello, Kafka!\n", "kcat read back: {read:?}");
    Ok(())
}

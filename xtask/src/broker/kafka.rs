//! How Apache Kafka is started from its jars: one node, broker and controller in one process, KRaft.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Setup, data, free_port};
use crate::command::run;

/// The heap and collector of the stock start script.
const JVM: [&str; 7] = [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
];
/// What the shipped single-node configuration sets: internal topics with one replica each.
const SINGLE_NODE: [(&str, &str); 5] = [
    ("offsets.topic.replication.factor", "1"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
];
const CLUSTER_ID: &str = "AAAAAAAAQACAAAAAAAAAAA";
const FORMAT_LIMIT: Duration = Duration::from_secs(60);

/// Writes the configuration and formats the data directory.
pub(super) fn format(setup: &Setup, dir: &Path, port: u16) -> Result<()> {
    let file = dir.join("server.properties");
    std::fs::write(&file, properties(setup, dir, port)?)
        .with_context(|| format!("write {}", file.display()))?;
    let mut tool = Command::new("java");
    tool.arg("-cp").arg(&setup.class_path);
    tool.args(["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c"])
        .arg(&file);
    run(&mut tool, FORMAT_LIMIT).context("format Kafka's data directory")?;
    Ok(())
}

pub(super) fn command(setup: &Setup, dir: &Path) -> Command {
    let mut command = Command::new("java");
    command.args(JVM).arg("-cp").arg(&setup.class_path);
    command
        .arg("kafka.Kafka")
        .arg(dir.join("server.properties"));
    command
}

fn properties(setup: &Setup, dir: &Path, port: u16) -> Result<String> {
    let controller = free_port()?;
    let own = [
        ("process.roles", "broker,controller".to_owned()),
        ("node.id", "1".to_owned()),
        (
            "controller.quorum.voters",
            format!("1@127.0.0.1:{controller}"),
        ),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        (
            "listeners",
            format!("PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}"),
        ),
        (
            "listener.security.protocol.map",
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned(),
        ),
        ("log.dirs", data(dir).display().to_string()),
    ];
    let own = own.iter().map(|(key, value)| (*key, value.as_str()));
    let given = setup
        .settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    let lines = own
        .chain(SINGLE_NODE)
        .chain(given)
        .map(|(key, value)| format!("{key}={value}\n"));
    Ok(lines.collect())
}

//! rskafka's own tests, as many as need no group, no authentication and no proxy: all that run with one address.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::broker::Setup;
use crate::command::{command, run as run_command};
use crate::install::Clients;
use crate::paths;

const LIMIT: Duration = Duration::from_secs(1800);
const FILES: [&str; 4] = ["client", "consumer", "produce_consume", "producer"];

/// rdkafka is assigned a partition without an offset there: it asks its group for the committed one.
const NEEDS_GROUP: &str = "consume_rdkafka";

/// One of the tests asks for a topic that must not come into being.
pub(super) fn setup(setup: Setup) -> Setup {
    setup.set("auto.create.topics.enable", "false")
}

pub(super) fn run(installed: &Clients, bootstrap: &str) -> Result<()> {
    let mut cargo = command([
        "cargo",
        "test",
        "--quiet",
        "--features",
        "full",
        "--no-fail-fast",
    ]);
    for file in FILES {
        cargo.args(["--test", file]);
    }
    cargo.args(["--", "--skip", NEEDS_GROUP]);
    let output = run_command(
        cargo
            .current_dir(&installed.rskafka_tests)
            .env(
                "CARGO_TARGET_DIR",
                paths::cache()?.join("rskafka-tests-target"),
            )
            .env("TEST_INTEGRATION", "1")
            .env("TEST_BROKER_IMPL", "kafka")
            .env("KAFKA_CONNECT", bootstrap),
        LIMIT,
    )?;
    let passed: usize = output.lines().filter_map(passed).sum();
    ensure!(passed > 0, "no test ran:\n{output}");
    println!("rskafka: {passed} tests passed");
    Ok(())
}

fn passed(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("test result: ok. ")?;
    rest.split_once(" passed")
        .context("no count")
        .ok()?
        .0
        .parse()
        .ok()
}

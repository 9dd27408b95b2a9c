//! rskafka's own tests, as many as need no authentication and no proxy: all that run with one address.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::broker::Setup;
use crate::command::{command, run as run_command};
use crate::install::Clients;
use crate::paths;

const LIMIT: Duration = Duration::from_secs(1800);
const FILES: [&str; 4] = ["client", "consumer", "produce_consume", "producer"];

/// In these rdkafka is assigned a partition without an offset: it asks its group for the committed one. There is
/// one for each codec and for none; more are left out by rskafka itself where there is no Java.
const READ_BY_RDKAFKA: &str = "rskafka_consume_rdkafka";
const CODECS: usize = 5;

/// One of the tests asks for a topic that must not come into being.
pub(super) fn setup(setup: Setup) -> Setup {
    setup.set("auto.create.topics.enable", "false")
}

pub(super) fn run(installed: &Clients, bootstrap: &str) -> Result<()> {
    let mut cargo = command([
        "cargo",
        "test",
        "--locked",
        "--features",
        "full",
        "--no-fail-fast",
    ]);
    for file in FILES {
        cargo.args(["--test", file]);
    }
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
    let passed: Vec<_> = output.lines().filter_map(passed).collect();
    let read_by_rdkafka = passed
        .iter()
        .filter(|name| name.contains(READ_BY_RDKAFKA))
        .count();
    ensure!(
        read_by_rdkafka == CODECS,
        "rdkafka read in {read_by_rdkafka} tests, not in {CODECS}:\n{output}"
    );
    println!(
        "rskafka: {} tests passed, {read_by_rdkafka} of them read by rdkafka",
        passed.len()
    );
    Ok(())
}

/// The name of a test that passed, in a line of its report.
fn passed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_that_passed_count() {
        assert_eq!(passed("test reads_back ... ok"), Some("reads_back"));
        for line in [
            "test reads_back ... FAILED",
            "test reads_back ... ignored",
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            "",
        ] {
            assert_eq!(passed(line), None, "{line}");
        }
    }
}

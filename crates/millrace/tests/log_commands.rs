//! `millrace log` on the data directory of a broker that was killed.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

const VALUE: &str = "a value that stands in the log as it is";

/// Makes a data directory with two records in it; the broker gets no time to write a checkpoint.
/// The frame of the second proves that of the first: what is not proven counts as torn, not as
/// damaged.
fn directory_of_a_killed_broker() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(cargo_bin!("millrace"));
    command.args(["serve", "--data-dir"]).arg(dir.path());
    for set in [
        "kafka.listen=127.0.0.1:0",
        "admin.listen=off",
        "log.file.bytes=1048576",
    ] {
        command.args(["--set", set]);
    }
    let mut broker = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut ready = String::new();
    BufReader::new(broker.stdout.take().expect("piped"))
        .read_line(&mut ready)
        .expect("a line");
    let server = ready.trim_end().strip_prefix("ready kafka=");
    let server = server.unwrap_or_default();
    let produced = [VALUE, "another"].map(|value| produce(value, server));
    broker.kill().expect("killed");
    broker.wait().expect("ended");
    for said in produced {
        assert!(said.contains("1 records to t"), "{said}");
    }
    dir
}

fn produce(value: &str, server: &str) -> String {
    let output = Command::new(cargo_bin!("millrace"))
        .args(["produce", "t", "--value", value, "--server", server])
        .output()
        .expect("the binary runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Exit code and report of `log verify`.
fn verify(dir: &Path) -> (Option<i32>, Value) {
    let output = Command::new(cargo_bin!("millrace"))
        .args(["log", "verify", "--json", "--data-dir"])
        .arg(dir)
        .output()
        .expect("the binary runs");
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code(), report)
}

/// The log file that holds the record, and where.
fn place_of_the_value(dir: &Path) -> (PathBuf, u64) {
    for entry in std::fs::read_dir(dir.join("log")).expect("listed") {
        let path = entry.expect("an entry").path();
        let mut bytes = Vec::new();
        let mut file = open(&path);
        std::io::Read::read_to_end(&mut file, &mut bytes).expect("read");
        let at = bytes
            .windows(VALUE.len())
            .position(|window| window == VALUE.as_bytes());
        if let Some(at) = at {
            return (path, u64::try_from(at).expect("a position"));
        }
    }
    panic!("no log file holds the record");
}

fn open(path: &Path) -> std::fs::File {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).open(path).expect("opened")
}

#[test]
fn verify_checks_records_of_partitions_that_no_checkpoint_knows() {
    let dir = directory_of_a_killed_broker();
    let (code, report) = verify(dir.path());
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["damages"], Value::Array(Vec::new()));
    // The topic and the records.
    assert_eq!(report["entries_count"], 3, "{report}");

    let (path, at) = place_of_the_value(dir.path());
    let mut file = open(&path);
    file.seek(SeekFrom::Start(at)).expect("sought");
    file.write_all(b"A").expect("written");
    drop(file);
    let (code, report) = verify(dir.path());
    assert_eq!(code, Some(1), "{report}");
    let damage = report["damages"][0].as_str().expect("a damage");
    assert!(
        damage.contains("Records entry of partition 0, offset 0"),
        "{damage}"
    );
}

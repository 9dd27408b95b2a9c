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

/// Lines of `log dump --json`.
fn dump(dir: &Path, args: &[&str]) -> Vec<Value> {
    let output = Command::new(cargo_bin!("millrace"))
        .args(["log", "dump", "--json", "--data-dir"])
        .arg(dir)
        .args(args)
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON in every line"))
        .collect()
}

#[test]
fn dump_prints_json_for_damage_as_well_and_the_entries_of_a_partition() {
    let dir = directory_of_a_killed_broker();
    let name = "00000000000000000099.log";
    let bad = dir.path().join("log").join(name);
    std::fs::copy(dir.path().join("format"), bad).expect("copied");
    let lines = dump(dir.path(), &["--partition", "0"]);
    let fault = lines.iter().find(|line| line["file"] == name);
    let error = fault.expect("the bad file")["error"].as_str();
    assert!(
        error.is_some_and(|e| e.contains("log file header")),
        "{fault:?}"
    );
    let entries: Vec<_> = lines
        .iter()
        .filter_map(|line| line["entries"].as_array())
        .flatten()
        .filter(|entry| entry["kind"] == "Records")
        .collect();
    assert_eq!(entries.len(), 2, "{lines:?}");
    let others = dump(dir.path(), &["--partition", "77"]);
    assert!(
        others
            .iter()
            .all(|line| line["entries"].as_array().is_none_or(Vec::is_empty))
    );
}

#[test]
fn log_commands_get_along_with_few_open_files() {
    let dir = directory_of_a_killed_broker();
    let (live, _) = place_of_the_value(dir.path());
    for number in 50..70 {
        let copy = dir.path().join(format!("log/{number:020}.log"));
        std::fs::copy(&live, copy).expect("copied");
    }
    for (command, hard) in [("verify", 100), ("dump", 12)] {
        let script = format!("ulimit -Sn 12; ulimit -Hn {hard}; exec \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(cargo_bin!("millrace"))
            .args(["log", command, "--data-dir"])
            .arg(dir.path())
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

/// Whoever waits for the line may read; that nothing can be produced is what readiness says.
#[test]
fn a_node_that_serves_reads_only_is_not_ready() {
    let dir = directory_of_a_killed_broker();
    let (live, _) = place_of_the_value(dir.path());
    let mut file = open(&live);
    // The header of the first frame, which later ones prove synced.
    file.seek(SeekFrom::Start(8_192 + 40)).expect("sought");
    file.write_all(&[0xff; 8]).expect("written");
    drop(file);
    let mut broker = Command::new(cargo_bin!("millrace"))
        .args(["serve", "--data-dir"])
        .arg(dir.path())
        .args(["--set", "kafka.listen=127.0.0.1:0"])
        .args(["--set", "admin.listen=127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    BufReader::new(broker.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("a line");
    let admin = line
        .trim_end()
        .split_once(" admin=")
        .map(|(_, admin)| admin);
    let status = Command::new(cargo_bin!("millrace"))
        .args(["status", "--json", "--admin", admin.unwrap_or_default()])
        .output()
        .expect("the binary runs");
    broker.kill().expect("killed");
    broker.wait().expect("ended");
    assert!(line.starts_with("ready kafka=127.0.0.1:"), "{line}");
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(status["ready"], false, "{status}");
}

//! The commands that speak Kafka's protocol, against our own broker.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

struct Output {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Output {
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.ok()).expect("JSON")
    }
}

/// A broker on a free port, killed when dropped.
struct Broker {
    child: Child,
    server: String,
    dir: tempfile::TempDir,
}

impl Broker {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (child, server) = Self::launch(&dir, "127.0.0.1:0");
        Self { child, server, dir }
    }

    /// Kills it and starts it again, on the same data and port.
    fn bounce(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
        (self.child, _) = Self::launch(&self.dir, &self.server);
    }

    fn launch(dir: &tempfile::TempDir, listen: &str) -> (Child, String) {
        let mut command = Command::new(cargo_bin!("millrace"));
        command.args(["serve", "--data-dir", dir.path().to_str().expect("UTF-8")]);
        command.args(["--set", &format!("kafka.listen={listen}")]);
        for set in ["admin.listen=off", "log.file.bytes=16777216"] {
            command.args(["--set", set]);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("started");
        let mut ready = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout)
            .read_line(&mut ready)
            .expect("a line");
        let server = ready
            .trim_end()
            .strip_prefix("ready kafka=")
            .expect("the ready line");
        (child, server.to_owned())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin!("millrace"));
        command.args(args).args(["--server", &self.server]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, b"")
    }

    fn run_with(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .spawn()
            .expect("started");
        // A command that takes no input may have ended before.
        drop(child.stdin.take().expect("piped").write_all(stdin));
        let output = child.wait_with_output().expect("ended");
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn lines(stdout: ChildStdout) -> impl Iterator<Item = String> {
    BufReader::new(stdout)
        .lines()
        .map(|line| line.expect("UTF-8"))
}

#[test]
fn topics_are_made_listed_described_altered_and_deleted() {
    let broker = Broker::start();
    let create = [
        "topic",
        "create",
        "t",
        "--partitions",
        "3",
        "--config",
        "retention.ms=60000",
    ];
    assert_eq!(broker.run(&create).ok(), "t: created\n");
    let again = broker.run(&create);
    assert_eq!(again.code, Some(1));
    assert!(
        again.stderr.contains("TOPIC_ALREADY_EXISTS"),
        "{}",
        again.stderr
    );
    assert_eq!(
        broker
            .run(&["topic", "create", "t", "--if-not-exists"])
            .ok(),
        "t: exists\n"
    );
    let list = broker.run(&["topic", "list", "--json"]).json();
    assert_eq!(
        list,
        serde_json::json!([{"name": "t", "partitions": 3, "internal": false}])
    );

    let alter = [
        "topic",
        "alter",
        "t",
        "--partitions",
        "4",
        "--config",
        "retention.ms=70000",
    ];
    broker.run(&alter).ok();
    let described = broker.run(&["topic", "describe", "t", "--json"]).json();
    assert_eq!(described[0]["configs"]["retention.ms"], "70000");
    assert_eq!(described[0]["partitions"].as_array().map(Vec::len), Some(4));
    broker
        .run(&["topic", "alter", "t", "--reset", "retention.ms"])
        .ok();
    let described = broker.run(&["topic", "describe", "t", "--json"]).json();
    assert_eq!(described[0]["configs"]["retention.ms"], Value::Null);
    assert_eq!(broker.run(&["topic", "alter", "t"]).code, Some(2));

    assert_eq!(broker.run(&["topic", "delete", "t"]).ok(), "t: deleted\n");
    assert_eq!(broker.run(&["topic", "delete", "t"]).code, Some(1));
    assert_eq!(
        broker.run(&["topic", "delete", "t", "--if-exists"]).ok(),
        "t: missing\n"
    );
}

#[test]
fn records_come_back_with_key_headers_and_bytes_in_every_codec() {
    let broker = Broker::start();
    broker.run(&["topic", "create", "t"]).ok();
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let produce = [
            "produce",
            "t",
            "--codec",
            codec,
            "--key-separator",
            ":",
            "--header",
            "h=1",
            "--header",
            "h=",
        ];
        broker
            .run_with(&produce, format!("k:{codec}\n:\n").as_bytes())
            .ok();
    }
    let binary = tempfile::NamedTempFile::new().expect("a file");
    (&binary).write_all(b"\xff\xfe").expect("written");
    let file = binary.path().to_str().expect("UTF-8");
    let placed = broker
        .run(&["produce", "t", "--file", file, "--json"])
        .json();
    assert_eq!(placed["partitions"][0]["first_offset"], 10);

    let consumed = broker.run(&["consume", "t", "--json"]).ok();
    let records: Vec<Value> = consumed
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(records.len(), 11);
    for (i, codec) in ["none", "gzip", "snappy", "lz4", "zstd"]
        .into_iter()
        .enumerate()
    {
        let record = &records[2 * i];
        assert_eq!(record["offset"], 2 * i);
        assert_eq!(
            (&record["key"], &record["value"]),
            (&"k".into(), &codec.into())
        );
        let headers = serde_json::json!([{"key": "h", "value": "1"}, {"key": "h", "value": ""}]);
        assert_eq!(record["headers"], headers);
        assert_eq!(
            (&records[2 * i + 1]["key"], &records[2 * i + 1]["value"]),
            (&"".into(), &"".into())
        );
    }
    assert_eq!(records[10]["key"], Value::Null);
    assert_eq!(records[10]["value_base64"], "//4=");
}

#[test]
fn consume_starts_and_stops_where_it_is_told() {
    let broker = Broker::start();
    broker
        .run(&["topic", "create", "t", "--partitions", "2"])
        .ok();
    let produce = ["produce", "t", "--partition", "1"];
    broker.run_with(&produce, b"0\n1\n2\n3\n4\n").ok();
    let consume = |args: &[&str]| {
        let output = broker.run(&[&["consume", "t"], args].concat()).ok();
        output.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(consume(&[]), ["0", "1", "2", "3", "4"]);
    assert_eq!(consume(&["--from", "3"]), ["3", "4"]);
    assert_eq!(consume(&["--from", "-2", "--count", "1"]), ["3"]);
    assert_eq!(consume(&["--from", "latest"]), [""; 0]);
    assert_eq!(
        consume(&["--from", "2000-01-01T00:00:00Z", "--count", "2"]),
        ["0", "1"]
    );
    assert_eq!(consume(&["--partition", "0"]), [""; 0]);
    let wrong = broker.run(&["consume", "t", "--partition", "2"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("allowed for t: 0 to 1"),
        "{}",
        wrong.stderr
    );
    assert_eq!(
        broker
            .run(&["produce", "t", "--partition", "2", "--value", "x"])
            .code,
        Some(2)
    );
    assert_eq!(broker.run(&["consume", "nowhere"]).code, Some(1));
}

#[test]
fn consume_follows_what_is_produced_meanwhile() {
    let broker = Broker::start();
    broker.run(&["topic", "create", "t"]).ok();
    broker.run(&["produce", "t", "--value", "before"]).ok();
    let follow = ["consume", "t", "--follow", "--count", "2"];
    let mut follower = broker
        .command(&follow)
        .stdin(Stdio::null())
        .spawn()
        .expect("started");
    let mut seen = lines(follower.stdout.take().expect("piped"));
    assert_eq!(seen.next().as_deref(), Some("before"));
    broker.run(&["produce", "t", "--value", "after"]).ok();
    assert_eq!(seen.next().as_deref(), Some("after"));
    assert_eq!(seen.next(), None);
    assert!(follower.wait().expect("ended").success());
}

#[test]
fn bench_reports_what_it_produced_and_consumed() {
    let broker = Broker::start();
    let produce = [
        "bench",
        "produce",
        "b",
        "--partitions",
        "4",
        "--connections",
        "3",
        "--threads",
        "2",
        "--records",
        "5000",
        "--record-bytes",
        "100",
        "--idempotent",
        "--json",
    ];
    let report = broker.run(&produce).json();
    assert_eq!(report["records"], 5_000);
    assert!(
        report["records_per_second"].as_f64() > Some(0.0),
        "{report}"
    );
    let confirm = &report["confirm"];
    assert!(confirm["p50_ms"].as_f64() > Some(0.0), "{report}");
    assert!(
        confirm["p50_ms"].as_f64() <= confirm["max_ms"].as_f64(),
        "{report}"
    );
    let bars = report["histogram"].as_array().expect("a histogram");
    let records = bars.iter().filter_map(|bar| bar["records"].as_u64());
    assert_eq!(records.sum::<u64>(), 5_000);
    let rated = [
        "bench",
        "produce",
        "b",
        "--rate",
        "2000",
        "--records",
        "200",
        "--json",
    ];
    assert_eq!(broker.run(&rated).json()["records"], 200);
    let unanswered = [
        "bench",
        "produce",
        "b",
        "--acks",
        "0",
        "--records",
        "300",
        "--json",
    ];
    let report = broker.run(&unanswered).json();
    assert_eq!(
        (&report["records"], &report["confirm"]),
        (&300.into(), &Value::Null)
    );
    broker
        .run(&["produce", "b", "--value", "last", "--partition", "0"])
        .ok();

    let consume = [
        "bench",
        "consume",
        "b",
        "--connections",
        "2",
        "--check-crcs",
        "--json",
    ];
    let records = broker.run(&consume).json()["records"]
        .as_u64()
        .expect("a count");
    // Nobody waited for the 300 without an answer.
    assert!((5_201..=5_501).contains(&records), "{records}");
}

/// The records of a topic, as a reader finds them now.
fn record_count(broker: &Broker, topic: &str) -> u64 {
    let consume = ["bench", "consume", topic, "--json"];
    let report = broker.run(&consume).json();
    report["records"].as_u64().expect("a count")
}

#[test]
fn bench_goes_on_over_kills_of_the_broker_and_leaves_every_record_once() {
    let mut broker = Broker::start();
    let create = ["topic", "create", "b", "--partitions", "3"];
    broker.run(&create).ok();
    // Small requests, one behind the other: something is under way at any time.
    let produce = [
        "bench",
        "produce",
        "b",
        "--duration",
        "5",
        "--record-bytes",
        "100",
        "--batch-bytes",
        "300",
        "--idempotent",
        "--json",
    ];
    let mut bench = broker
        .command(&produce)
        .stdin(Stdio::null())
        .spawn()
        .expect("started");
    for _ in 0..2 {
        let before = record_count(&broker, "b");
        while record_count(&broker, "b") == before {
            // A slow machine may see one kill only.
            if bench.try_wait().expect("a child").is_some() {
                break;
            }
        }
        broker.bounce();
    }
    let output = bench.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["retries"].as_u64() > Some(0), "{report}");
    assert_eq!(report["records"], record_count(&broker, "b"));
}

#[test]
fn bench_ends_with_the_name_of_an_error_that_no_retry_heals() {
    let broker = Broker::start();
    let produce = [
        "bench",
        "produce",
        "b",
        "--config",
        "max.message.bytes=1000",
        "--records",
        "10",
    ];
    let output = broker.run(&produce);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("MESSAGE_TOO_LARGE (10)"),
        "{}",
        output.stderr
    );
}

#[test]
fn produce_stores_what_stands_before_a_bad_line_and_says_so() {
    let broker = Broker::start();
    broker.run(&["topic", "create", "t"]).ok();
    let produce = ["produce", "t", "--key-separator", ":"];
    let bad = broker.run_with(&produce, b"a:1\nb:2\nbad\nc:3\n");
    assert_eq!(bad.code, Some(1));
    assert!(bad.stderr.contains("line 3"), "{}", bad.stderr);
    let said = "2 records to t\n  partition 0: 2 records, offsets 0 to 1\n";
    assert_eq!(bad.stdout, said);
    let bad = broker.run_with(&[&produce[..], &["--json"]].concat(), b"d:4\nbad\n");
    assert_eq!(bad.code, Some(1));
    let told: Value = serde_json::from_str(&bad.stdout).expect("JSON");
    assert_eq!(told["records"], 1);
    assert_eq!(broker.run(&["consume", "t"]).ok(), "1\n2\n4\n");
}

#[test]
fn produce_says_what_was_confirmed_when_a_record_is_refused() {
    let broker = Broker::start();
    let limit = "max.message.bytes=1000";
    broker
        .run(&["topic", "create", "t", "--config", limit])
        .ok();
    let input = format!("{}\n{}\n", "a".repeat(800), "b".repeat(20_000));
    let refused = broker.run_with(&["produce", "t"], input.as_bytes());
    assert_eq!(refused.code, Some(1));
    let said = &refused.stderr;
    assert!(said.contains("MESSAGE_TOO_LARGE"), "{said}");
    assert_eq!(
        refused.stdout,
        "1 records to t\n  partition 0: 1 records, offset 0\n"
    );
}

#[test]
fn produce_makes_batches_that_the_broker_takes() {
    // Two lines that fit by themselves do not fit together, and many small ones are more than a topic
    // allows whose limit is below the default.
    let broker = Broker::start();
    broker.run(&["topic", "create", "large"]).ok();
    let input = format!("{}\n{}\n", "a".repeat(250 << 10), "b".repeat(850 << 10));
    broker
        .run_with(&["produce", "large"], input.as_bytes())
        .ok();
    assert_eq!(broker.run(&["consume", "large"]).ok(), input);

    let limit = "max.message.bytes=3000";
    broker
        .run(&["topic", "create", "small", "--config", limit])
        .ok();
    let input: String = (0..20_000).map(|i| format!("line {i}\n")).collect();
    broker
        .run_with(&["produce", "small"], input.as_bytes())
        .ok();
    // What was in flight behind a batch that was refused stands before its halves.
    let read = broker.run(&["consume", "small"]).ok();
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(sorted(&read) == sorted(&input), "other lines came back");
}

#[test]
fn topics_are_deleted_all_in_one_answer_even_if_one_fails() {
    let broker = Broker::start();
    for name in ["a", "c", "d"] {
        broker.run(&["topic", "create", name]).ok();
    }
    let deleted = broker.run(&["topic", "delete", "a", "b", "c", "--json"]);
    assert_eq!(deleted.code, Some(1));
    assert!(deleted.stderr.contains("topic b"), "{}", deleted.stderr);
    let told: Value = serde_json::from_str(&deleted.stdout).expect("one JSON value");
    assert_eq!(
        told[0],
        serde_json::json!({"topic": "a", "change": "deleted"})
    );
    assert_eq!(told[1]["change"], "failed");
    let error = told[1]["error"].as_str().expect("a text");
    assert!(error.contains("UNKNOWN_TOPIC_OR_PARTITION"), "{error}");
    assert_eq!(told[2]["change"], "deleted");
    let single = broker.run(&["topic", "delete", "d", "--json"]).json();
    assert_eq!(
        single,
        serde_json::json!({"topic": "d", "change": "deleted"})
    );
    let missing = ["topic", "delete", "x", "y", "--if-exists"];
    assert_eq!(broker.run(&missing).ok(), "x: missing\ny: missing\n");
}

#[test]
fn bench_consume_with_a_goal_waits_for_more_at_the_ends() {
    let broker = Broker::start();
    broker.run(&["topic", "create", "b"]).ok();
    let consume = ["bench", "consume", "b", "--records", "2", "--json"];
    let bench = broker.command(&consume).stdin(Stdio::null()).spawn();
    let bench = bench.expect("started");
    for _ in 0..2 {
        broker.run(&["produce", "b", "--value", "late"]).ok();
    }
    let output = bench.wait_with_output().expect("ended");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["records"], 2);
}

#[test]
fn a_key_separator_that_would_be_ignored_is_refused() {
    let refused = |args: &[&str]| {
        let mut command = Command::new(cargo_bin!("millrace"));
        let command = command.args(["produce", "t"]).args(args);
        let output = command.output().expect("ended");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    for source in [["--value", "x"], ["--file", "x"]] {
        let said = refused(&[&source[..], &["--key-separator", ":"]].concat());
        assert!(said.contains("--key-separator"), "{said}");
    }
    let said = refused(&["--key-separator", ""]);
    assert!(said.contains("must not be empty"), "{said}");
}

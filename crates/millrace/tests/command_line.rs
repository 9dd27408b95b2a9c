//! The binary as a person or a script meets it.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use assert_cmd::cargo::cargo_bin;

fn millrace(args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("millrace"));
    // Settings of whoever runs the tests must not change what they see.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MILLRACE_") {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null());
    command
}

struct Output {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(mut command: Command) -> Output {
    let output = command.output().expect("the binary runs");
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn help_and_version_succeed_and_nonsense_is_wrong_usage() {
    let help = run(millrace(&["--help"]));
    assert_eq!(help.code, Some(0));
    for command in ["serve", "config", "status"] {
        assert!(help.stdout.contains(command), "{}", help.stdout);
    }
    assert_eq!(
        run(millrace(&["--version"])).stdout,
        concat!("millrace ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert_eq!(run(millrace(&["fly"])).code, Some(2));
    assert_eq!(run(millrace(&[])).code, Some(2));
}

#[test]
fn config_prints_every_key_with_value_source_and_range() {
    let output = run(millrace(&["config", "--set", "num.partitions=7"]));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let row = output
        .stdout
        .lines()
        .find(|l| l.contains("num.partitions"))
        .expect("the key");
    let cells: Vec<_> = row.split_whitespace().take(4).collect();
    assert_eq!(cells, ["num.partitions", "7", "--set", "count"]);
    assert!(row.contains("1 to 100000"), "{row}");
}

#[test]
fn config_as_json_follows_environment_and_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("millrace.conf");
    std::io::Write::write_all(
        &mut std::fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(&file)
            .expect("a file"),
        b"num.partitions = 3\nnode.id = 4\n",
    )
    .expect("written");
    let mut command = millrace(&[
        "config",
        "--json",
        "--config",
        file.to_str().expect("UTF-8"),
    ]);
    command.env("MILLRACE_NODE__ID", "5");
    let output = run(command);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("JSON");
    let row = |key: &str| {
        rows.iter()
            .find(|r| r["key"] == key)
            .expect("the key")
            .clone()
    };
    assert_eq!(row("num.partitions")["value"], "3");
    assert_eq!(
        row("num.partitions")["source"],
        format!("{}:1", file.display())
    );
    assert_eq!(row("node.id")["value"], "5");
    assert_eq!(row("node.id")["source"], "MILLRACE_NODE__ID");
    assert_eq!(row("log.retention.ms")["value"], serde_json::Value::Null);
}

#[test]
fn a_wrong_configuration_ends_with_2_and_lists_every_fault() {
    let output = run(millrace(&[
        "serve",
        "--set",
        "num.partitions=0",
        "--set",
        "kafka.lisen=off",
    ]));
    assert_eq!(output.code, Some(2));
    assert_eq!(output.stdout, "");
    assert!(
        output
            .stderr
            .contains("num.partitions = 0 is not allowed; allowed: 1 to 100000")
    );
    assert!(
        output.stderr.contains("did you mean kafka.listen?"),
        "{}",
        output.stderr
    );
}

#[test]
fn an_unusable_data_directory_ends_with_3() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let dir = file.path().join("below-a-file");
    let output = run(millrace(&[
        "serve",
        "--data-dir",
        dir.to_str().expect("UTF-8"),
    ]));
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    assert!(
        output.stderr.contains(dir.to_str().expect("UTF-8")),
        "{}",
        output.stderr
    );
}

/// Whoever started a second node on a directory read that the lock of a file "failed: Resource
/// temporarily unavailable", and tried again: the lock's error went out as the system words it.
/// Now the directory is named, and that somebody uses it.
#[test]
fn a_data_directory_in_use_ends_with_3_and_says_so() {
    let broker = Broker::start();
    let dir = broker.dir.path().to_str().expect("UTF-8");
    let serve = ["serve", "--data-dir", dir, "--set", "kafka.listen=off"];
    let verify = ["log", "verify", "--data-dir", dir];
    for args in [&serve[..], &verify[..]] {
        let output = run(millrace(args));
        assert_eq!(output.code, Some(3), "{}", output.stderr);
        let said = format!("the data directory {dir} is in use by another node or tool");
        assert!(output.stderr.contains(&said), "{}", output.stderr);
    }
}

#[test]
fn verify_tells_a_directory_that_is_none_from_one_that_cannot_be_opened() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = tempfile::NamedTempFile::new().expect("a file");
    for (path, said) in [
        (dir.path(), "is no data directory"),
        (file.path(), "Not a directory"),
    ] {
        let path = path.to_str().expect("UTF-8");
        let output = run(millrace(&["log", "verify", "--data-dir", path]));
        assert_eq!(output.code, Some(3), "{}", output.stderr);
        let stderr = &output.stderr;
        assert!(stderr.contains(path) && stderr.contains(said), "{stderr}");
    }
}

#[test]
fn a_variable_that_is_not_utf_8_ends_with_2_and_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let mut command = millrace(&["config"]);
    command.env(
        "MILLRACE_NUM__PARTITIONS",
        std::ffi::OsStr::from_bytes(b"\xff"),
    );
    let output = run(command);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(
        output
            .stderr
            .contains("MILLRACE_NUM__PARTITIONS: is not UTF-8"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_port_in_use_ends_with_1_and_names_the_setting() {
    let dir = tempfile::tempdir().expect("a directory");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let listen = format!("kafka.listen={}", taken.local_addr().expect("an address"));
    let data_dir = dir.path().to_str().expect("UTF-8");
    let output = run(millrace(&[
        "serve",
        "--data-dir",
        data_dir,
        "--set",
        &listen,
    ]));
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("kafka.listen"), "{}", output.stderr);
}

/// A broker on free ports, killed when dropped.
struct Broker {
    child: Child,
    ready_line: String,
    dir: tempfile::TempDir,
}

impl Broker {
    fn start() -> Self {
        Self::start_by(millrace(&[]))
    }

    /// Starts what `command` begins with.
    fn start_by(mut command: Command) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        command.args(["serve", "--data-dir", dir.path().to_str().expect("UTF-8")]);
        command.args([
            "--set",
            "kafka.listen=localhost:0",
            "--set",
            "admin.listen=127.0.0.1:0",
        ]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut ready_line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout)
            .read_line(&mut ready_line)
            .expect("a line");
        Self {
            child,
            ready_line,
            dir,
        }
    }

    fn address(&self, listener: &str) -> &str {
        let words = self.ready_line.trim_end().split(' ');
        let list = words
            .filter_map(|w| w.split_once('='))
            .find(|(name, _)| *name == listener);
        list.and_then(|(_, addresses)| addresses.split(',').next())
            .expect("the listener")
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(status.success());
    }

    /// Exit code and standard error.
    fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("ended").code();
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut stderr)
            .expect("UTF-8");
        (code, stderr)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Ended already, or about to: either is well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn serve_says_that_it_is_ready_and_stops_with_0_on_sigterm_and_sigint() {
    for signal in ["TERM", "INT"] {
        let broker = Broker::start();
        assert!(
            broker.ready_line.starts_with("ready kafka=127.0.0.1:"),
            "{}",
            broker.ready_line
        );
        assert!(
            broker.ready_line.contains(" admin=127.0.0.1:"),
            "{}",
            broker.ready_line
        );
        broker.signal(signal);
        let (code, stderr) = broker.wait();
        assert_eq!(code, Some(0), "{stderr}");
        for line in stderr.lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("a JSON event");
            assert!(
                event["level"].is_string() && event["timestamp"].is_string(),
                "{line}"
            );
        }
    }
}

/// The binary, told how many files it may open.
fn with_open_files(soft: u32, hard: u32) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$@\"");
    command.args(["-c", &script, "sh"]);
    command.arg(cargo_bin!("millrace")).stdin(Stdio::null());
    command
}

#[test]
fn serve_may_open_as_many_files_as_the_hard_limit_says() {
    let broker = Broker::start_by(with_open_files(256, 4_000));
    let limits = format!("/proc/{}/limits", broker.child.id());
    let limits = std::fs::read_to_string(limits).expect("the limits");
    let open_files = limits.lines().find(|l| l.starts_with("Max open files"));
    let words = open_files.expect("the limit").split_whitespace();
    assert!(words.skip(3).take(2).eq(["4000", "4000"]), "{limits}");
}

#[test]
fn clients_leave_open_files_for_the_node_itself() {
    let broker = Broker::start_by(with_open_files(200, 200));
    let connect = |_| std::net::TcpStream::connect(broker.address("kafka")).expect("connected");
    let _connections: Vec<_> = (0..200).map(connect).collect();
    let admin = broker.address("admin");
    let connections = || {
        let status = run(millrace(&["status", "--json", "--admin", admin]));
        let status: serde_json::Value = serde_json::from_str(&status.stdout).expect("JSON");
        status["connections_count"].as_u64().expect("a count")
    };
    let reached = (0..2_000).find(|_| connections() >= 150);
    assert!(reached.is_some());
    assert_eq!(connections(), 150);
}

#[test]
fn status_shows_a_running_broker_for_people_and_for_programs() {
    let broker = Broker::start();
    let admin = broker.address("admin");
    let people = run(millrace(&["status", "--admin", admin]));
    assert_eq!(people.code, Some(0), "{}", people.stderr);
    assert!(
        people.stdout.contains(broker.address("kafka")),
        "{}",
        people.stdout
    );
    let programs = run(millrace(&["status", "--json", "--admin", admin]));
    let status: serde_json::Value = serde_json::from_str(&programs.stdout).expect("JSON");
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["node_id"], 1);
    assert_eq!(status["listeners"][0]["name"], "kafka");
    assert!(
        status["resident_bytes"].as_u64() > Some(1 << 20),
        "{status}"
    );
}

#[test]
fn status_of_nobody_fails_with_1_and_names_the_flag() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);
    let output = run(millrace(&["status", "--admin", &address]));
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("--admin"), "{}", output.stderr);
}

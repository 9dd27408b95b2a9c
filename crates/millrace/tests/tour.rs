//! The tour of the README, as a reader goes through it.
//!
//! Between `<!-- tour -->` and `<!-- /tour -->` every `sh` block is a list of commands, each with what it
//! prints after `#>`. Markers `<!-- tour: … -->` say what the reader does to the broker meanwhile.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assert_cmd::cargo::cargo_bin;

/// Stands for any text in a line, and for any lines where it is all of one.
const ANYTHING: &str = "…";

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Run {
        command: String,
        expected: Vec<String>,
    },
    KillAndStart,
    Stop,
}

#[test]
fn the_tour_of_the_readme_works_and_prints_what_it_says() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let steps = parse(&std::fs::read_to_string(readme).expect("README.md"));
    assert!(steps.contains(&Step::KillAndStart) && steps.contains(&Step::Stop));
    assert!(steps.len() >= 15, "the tour lost steps: {steps:?}");

    let dir = tempfile::tempdir().expect("a directory");
    let mut broker = Some(Broker::start(dir.path()));
    for step in steps {
        match step {
            Step::Run { command, expected } => run(&command, &expected, broker.as_ref(), &dir),
            Step::KillAndStart => {
                // Dropping it kills it.
                drop(broker.take());
                broker = Some(Broker::start(dir.path()));
            }
            Step::Stop => broker.take().expect("a broker that runs").interrupt(),
        }
    }
}

/// The steps of the tour in their order.
fn parse(readme: &str) -> Vec<Step> {
    let (_, rest) = readme.split_once("<!-- tour -->").expect("the start");
    let (tour, _) = rest.split_once("<!-- /tour -->").expect("the end");
    let mut steps = Vec::new();
    let mut in_block = false;
    for line in tour.lines() {
        match line {
            "```sh" => in_block = true,
            "```" => in_block = false,
            "<!-- tour: killed and started again -->" => steps.push(Step::KillAndStart),
            "<!-- tour: stopped -->" => steps.push(Step::Stop),
            _ if line.starts_with("<!--") => panic!("unknown marker {line}"),
            _ if !in_block || line.is_empty() => {}
            _ => add_line(line, &mut steps),
        }
    }
    steps
}

fn add_line(line: &str, steps: &mut Vec<Step>) {
    let Some(printed) = line.strip_prefix("#>") else {
        let (command, expected) = (line.to_owned(), Vec::new());
        return steps.push(Step::Run { command, expected });
    };
    match steps.last_mut() {
        Some(Step::Run { expected, .. }) => expected.push(words(printed)),
        _ => panic!("nothing prints {line}"),
    }
}

/// Columns move with what stands in them, so runs of blanks count as one.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs a command in `dir`, where the broker has its data, and holds what it prints against the
/// README.
fn run(command: &str, expected: &[String], broker: Option<&Broker>, dir: &tempfile::TempDir) {
    // The reader's broker has the default ports, this one has not.
    let script = format!(
        r#"millrace() {{
            case "$1" in
                topic | produce | consume | bench) "$BIN" "$@" --server "$KAFKA" ;;
                status) "$BIN" "$@" --admin "$ADMIN" ;;
                *) "$BIN" "$@" ;;
            esac
        }}
        {command}"#
    );
    let output = clean(Command::new("sh"))
        .args(["-c", &script])
        .env("BIN", cargo_bin!("millrace"))
        .env("KAFKA", broker.map_or("", |b| &b.kafka))
        .env("ADMIN", broker.map_or("", |b| &b.admin))
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{command}\n{stdout}{stderr}");
    let printed: Vec<_> = stdout.lines().map(words).collect();
    assert!(
        lines_match(expected, &printed),
        "{command}\nprints\n{}\ninstead of\n{}",
        printed.join("\n"),
        expected.join("\n")
    );
}

fn lines_match(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, later)| line_matches(first, line) && lines_match(rest, later)),
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let Some((before, after)) = expected.split_once(ANYTHING) else {
        return expected == printed;
    };
    printed.strip_prefix(before).is_some_and(|rest| {
        let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
        ends.any(|at| line_matches(after, &rest[at..]))
    })
}

/// Settings of whoever runs the tests must not change what they see.
fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MILLRACE_") {
            command.env_remove(name);
        }
    }
    command
}

/// A broker on free ports with its data in the default place, killed when dropped.
struct Broker {
    child: Child,
    kafka: String,
    admin: String,
}

impl Broker {
    fn start(dir: &Path) -> Self {
        let mut command = clean(Command::new(cargo_bin!("millrace")));
        command.arg("serve").current_dir(dir);
        for set in [
            "kafka.listen=127.0.0.1:0",
            "admin.listen=127.0.0.1:0",
            "log.file.bytes=16777216",
        ] {
            command.args(["--set", set]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut ready = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout)
            .read_line(&mut ready)
            .expect("a line");
        let addresses = ready.trim_end().strip_prefix("ready kafka=");
        let (kafka, admin) = addresses
            .and_then(|rest| rest.split_once(" admin="))
            .expect("the ready line");
        Self {
            kafka: kafka.to_owned(),
            admin: admin.to_owned(),
            child,
        }
    }

    /// What Ctrl-C does.
    fn interrupt(mut self) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &process]).status();
        assert!(sent.expect("kill runs").success());
        let code = self.child.wait().expect("ended").code();
        assert_eq!(code, Some(0), "a stop in order");
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
fn lines_match_only_where_they_are_told_to_differ() {
    let lines = |text: &[&str]| text.iter().map(|line| words(line)).collect::<Vec<_>>();
    let matches =
        |expected: &[&str], printed: &[&str]| lines_match(&lines(expected), &lines(printed));
    assert!(matches(&["a  b", "…", "z"], &["a b", "c", "d", "z"]));
    assert!(matches(&["in … ms, … B"], &["in 12 ms, 7 B"]));
    assert!(!matches(&["in … ms"], &["in 12 s"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&["a", "b"], &["a"]));
    assert!(!matches(&["a"], &["b"]));
}

//! `cargo xtask test`: everything once, in one small instance of each; `cargo xtask soak`: the full lines.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::command::{command, show};
use crate::interop::{self, Part};
use crate::{compare, install, paths, tidy};

const LIMIT: Duration = Duration::from_secs(3600);
/// Small instances of the tests with real clients.
const SMALL_RECORDS: u64 = 2000;

/// The tests whose figures are to be seen and not only to be below a bound: package, file and name.
const FIGURES: [(&str, &str, &str); 3] = [
    (
        "millrace-kafka",
        "memory",
        "connections_cost_no_more_than_promised",
    ),
    (
        "millrace-record",
        "bombs",
        "bombs_are_refused_and_take_little_memory",
    ),
    (
        "simulation",
        "cuts",
        "a_cut_at_any_operation_of_any_path_loses_nothing",
    ),
];

/// A named step.
pub(crate) struct Step {
    pub name: String,
    pub work: Box<dyn Fn() -> Result<()>>,
}

impl Step {
    pub(crate) fn new(name: &str, work: impl Fn() -> Result<()> + 'static) -> Self {
        Self {
            name: name.to_owned(),
            work: Box::new(work),
        }
    }
}

/// Runs every step, and closes with how many passed and failed.
pub(crate) fn test() -> Result<()> {
    let steps = steps();
    let mut failed = Vec::new();
    for step in &steps {
        println!("── {}", step.name);
        let started = Instant::now();
        let result = (step.work)();
        let seconds = started.elapsed().as_secs();
        match &result {
            Ok(()) => println!("── {} passed in {seconds} s", step.name),
            Err(error) => println!("── {} FAILED in {seconds} s: {error:#}", step.name),
        }
        failed.extend(result.is_err().then_some(&step.name));
    }
    println!(
        "{} passed, {} failed",
        steps.len() - failed.len(),
        failed.len()
    );
    ensure!(failed.is_empty(), "failed: {failed:?}");
    Ok(())
}

fn steps() -> Vec<Step> {
    let cargo = |name: &str, words: &'static [&'static str]| {
        Step::new(name, move || show(&mut cargo(words), LIMIT))
    };
    let mut steps = vec![
        Step::new("format", format),
        cargo(
            "clippy",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ],
        ),
        Step::new("documentation", documentation),
        Step::new("tidy", tidy::run),
        Step::new("tests", tests),
        Step::new("figures", figures),
        cargo(
            "mutants",
            &[
                "test",
                "--locked",
                "-p",
                "simulation",
                "--features",
                "mutants",
                "--test",
                "mutants",
            ],
        ),
        cargo(
            "release build",
            &["build", "--release", "--locked", "-p", "millrace"],
        ),
        cargo(
            "fuzz targets",
            &[
                "check",
                "--locked",
                "--manifest-path",
                "fuzz/Cargo.toml",
                "--bins",
            ],
        ),
        Step::new("install clients", || install::install().map(|_| ())),
    ];
    for part in [
        Part::Contents,
        Part::FirstProgram,
        Part::Tools,
        Part::RskafkaTests,
        Part::Bounce,
        Part::SyncFault,
    ] {
        steps.push(Step::new(&format!("interop {part:?}"), move || {
            interop::run(&interop::Options::of(part, SMALL_RECORDS, 1, 2))
        }));
    }
    steps.push(Step::new("compare", compare::small));
    steps
}

fn cargo(words: &[&str]) -> Command {
    let mut cargo = command(["cargo"]);
    cargo.args(words).current_dir(paths::root());
    cargo
}

/// All tests but those whose figures are shown by themselves.
fn tests() -> Result<()> {
    let mut all = cargo(&["test", "--workspace", "--locked", "--", "--exact"]);
    for (_, _, name) in FIGURES {
        all.args(["--skip", name]);
    }
    show(&mut all, LIMIT)
}

/// The whole files that hold them: a name that is no longer right leaves no test out.
fn figures() -> Result<()> {
    for (package, file, _) in FIGURES {
        let test = ["test", "--locked", "--quiet", "-p", package, "--test", file];
        show(cargo(&test).args(["--", "--nocapture"]), LIMIT)?;
    }
    Ok(())
}

/// The workspace, and the crates that stand outside it.
fn format() -> Result<()> {
    show(&mut cargo(&["fmt", "--all", "--check"]), LIMIT)?;
    for manifest in ["fuzz/Cargo.toml", "tests/interop/rskafka/Cargo.toml"] {
        show(
            &mut cargo(&["fmt", "--check", "--manifest-path", manifest]),
            LIMIT,
        )?;
    }
    Ok(())
}

fn documentation() -> Result<()> {
    let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    show(doc.env("RUSTDOCFLAGS", "-D warnings"), LIMIT)
}

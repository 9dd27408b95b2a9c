//! `cargo xtask soak`: the full lines of what `test` runs small. It takes hours, so it can be ended and taken up
//! again: what passed at a commit is recorded and not run again at that commit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::command::{command, run as run_command, show};
use crate::interop::{self, Part};
use crate::paths;
use crate::suite::Step;

const LIMIT: Duration = Duration::from_secs(3 * 3600);
const RESTARTS: u32 = 5;
const FUZZER: &str = "0.13.2";

/// What `cargo xtask soak` takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The steps to run, all by default
    #[arg(long, value_delimiter = ',')]
    step: Vec<String>,
    /// Seeds of the power-cut simulation
    #[arg(long, default_value_t = 10_000)]
    seeds: u32,
    /// Records per topic of the tests with real clients
    #[arg(long, default_value_t = 100_000)]
    records: u64,
    /// Kills under load
    #[arg(long, default_value_t = 20)]
    kills: u32,
    /// Seconds of fuzzing per target
    #[arg(long, default_value_t = 1800)]
    fuzz_seconds: u32,
    /// Where it is recorded what passed [default: soak.json in the target directory]
    #[arg(long)]
    record: Option<PathBuf>,
}

/// Seconds that each passed step took, by commit and step.
type Record = BTreeMap<String, BTreeMap<String, u64>>;

/// Runs the steps that have not passed at this commit; the first failure ends it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let file = options
        .record
        .clone()
        .unwrap_or_else(|| paths::target().join("soak.json"));
    let mut record: Record = match std::fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).context("the record of earlier runs")?,
        Err(_) => Record::new(),
    };
    let commit = commit()?;
    let steps = chosen(options)?;
    for step in steps {
        let passed = record.entry(commit.clone()).or_default();
        if let Some(seconds) = passed.get(&step.name) {
            println!("── {} passed before in {seconds} s", step.name);
            continue;
        }
        println!("── {}", step.name);
        let started = Instant::now();
        (step.work)().with_context(|| step.name.clone())?;
        let seconds = started.elapsed().as_secs();
        println!("── {} passed in {seconds} s", step.name);
        passed.insert(step.name, seconds);
        std::fs::write(&file, serde_json::to_vec_pretty(&record)?)?;
    }
    Ok(())
}

/// The commit, marked where the work tree differs from it.
fn commit() -> Result<String> {
    let mut git = command(["git", "describe", "--always", "--dirty", "--abbrev=40"]);
    Ok(
        run_command(git.current_dir(paths::root()), Duration::from_secs(60))?
            .trim()
            .to_owned(),
    )
}

fn chosen(options: &Options) -> Result<Vec<Step>> {
    let mut steps = steps(options)?;
    let known: Vec<_> = steps.iter().map(|step| step.name.clone()).collect();
    for name in &options.step {
        ensure!(
            known.contains(name),
            "no step {name}; there are {}",
            known.join(", ")
        );
    }
    steps.retain(|step| options.step.is_empty() || options.step.contains(&step.name));
    Ok(steps)
}

fn steps(options: &Options) -> Result<Vec<Step>> {
    let seeds = options.seeds;
    let mut steps = vec![Step::new("simulation", move || simulation(seeds))];
    for part in [Part::Contents, Part::Bounce] {
        let full = interop::Options::of(part, options.records, RESTARTS, options.kills);
        let full = interop::Options {
            all_pairs: true,
            ..full
        };
        steps.push(Step::new(
            &format!("interop-{part:?}").to_lowercase(),
            move || interop::run(&full),
        ));
    }
    for target in fuzz_targets()? {
        let seconds = options.fuzz_seconds;
        steps.push(Step::new(&format!("fuzz-{target}"), move || {
            fuzz(&target, seconds)
        }));
    }
    Ok(steps)
}

/// Power cuts at any point, by seed; `test` runs the first 300.
fn simulation(seeds: u32) -> Result<()> {
    let run = [
        "cargo",
        "run",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "simulation",
        "--bin",
        "simulate",
    ];
    let mut simulate = command(run);
    simulate
        .args(["--", "--seeds", &format!("0..{seeds}")])
        .current_dir(paths::root());
    show(&mut simulate, LIMIT)
}

fn fuzz_targets() -> Result<Vec<String>> {
    let folder = paths::root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        names.extend(
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .map(str::to_owned),
        );
    }
    names.sort();
    Ok(names)
}

/// Fuzzes one target by itself; inputs that reach new code are kept in the target directory.
fn fuzz(target: &str, seconds: u32) -> Result<()> {
    let cache = paths::cache()?;
    let fuzzer = cache.join("bin/cargo-fuzz");
    if !fuzzer.is_file() {
        let install = [
            "cargo",
            "install",
            "cargo-fuzz",
            "--locked",
            "--quiet",
            "--version",
            FUZZER,
        ];
        show(command(install).arg("--root").arg(&cache), LIMIT)?;
    }
    // Beside the corpus that is under version control, from whose inputs it starts.
    let found = paths::target().join("fuzz-corpus").join(target);
    std::fs::create_dir_all(&found)?;
    let kept = paths::root().join("fuzz/corpus").join(target);
    // Without a sanitizer the stable compiler will do; the decoders hold no unsafe code.
    let run = ["fuzz", "run", "--sanitizer", "none", target];
    let mut fuzzer = command([fuzzer]);
    fuzzer
        .args(run)
        .args([found, kept])
        .args(["--", "-timeout=20"])
        .arg(format!("-max_total_time={seconds}"))
        .current_dir(paths::root());
    show(&mut fuzzer, LIMIT)
}

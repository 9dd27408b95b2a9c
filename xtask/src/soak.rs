//! `cargo xtask soak`: the full lines of what `test` runs small. It takes hours, so it can be ended and taken up
//! again: what passed is recorded and not run again until a file changes that the step is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::command::{command, run as run_command, run_on, show};
use crate::interop::{self, Part};
use crate::paths;
use crate::suite::Step;
use crate::tidy::with_those_below;

const LIMIT: Duration = Duration::from_secs(3 * 3600);
const RESTARTS: u32 = 5;
const FUZZER: &str = "0.13.2";
/// The fuzz targets by layer, with the crate that they call; those of a layer share its time.
const LAYERS: [(&str, &str, &[&str]); 5] = [
    ("kafka", "kafka", &["kafka_request", "kafka_response"]),
    ("record", "record", &["record_batch"]),
    (
        "frame",
        "log",
        &["log_frame", "log_file_header", "log_directory"],
    ),
    ("footer", "log", &["segment_footer", "segment_swap"]),
    ("checkpoint", "broker", &["checkpoint", "metadata"]),
];

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
    /// Seconds of fuzzing per layer
    #[arg(long, default_value_t = 1800)]
    fuzz_seconds: u32,
    /// Where it is recorded what passed [default: soak.json in the target directory]
    #[arg(long)]
    record: Option<PathBuf>,
}

const NO_DOCUMENTS: [&str; 2] = [":(exclude)docs", ":(exclude)*.md"];
/// What every build is made of.
const BUILT_WITH: [&str; 3] = ["Cargo.toml", "Cargo.lock", ".cargo"];
const GIT_LIMIT: Duration = Duration::from_secs(60);

/// A step, with the state and size that its passing counts for.
struct SoakStep {
    step: Step,
    counts_for: String,
}

/// Seconds that each step took when it passed, by what that counts for.
type Record = BTreeMap<String, BTreeMap<String, u64>>;

/// Runs the steps that have not passed with these files and sizes; the first failure ends it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let file = options
        .record
        .clone()
        .unwrap_or_else(|| paths::target().join("soak.json"));
    for SoakStep { step, counts_for } in chosen(options)? {
        let name = step.name;
        let before = read_record(&file)?.remove(&name).unwrap_or_default();
        println!("── {name}: {counts_for}");
        if let Some(seconds) = before.get(&counts_for) {
            println!("── {name} passed before in {seconds} s");
            continue;
        }
        let started = Instant::now();
        (step.work)().with_context(|| name.clone())?;
        let seconds = started.elapsed().as_secs();
        println!("── {name} passed in {seconds} s");
        // Read anew: another run may have recorded other steps meanwhile.
        let mut record = read_record(&file)?;
        record.entry(name).or_default().insert(counts_for, seconds);
        std::fs::write(&file, serde_json::to_vec_pretty(&record)?)?;
    }
    Ok(())
}

/// What passed before.
fn read_record(file: &Path) -> Result<Record> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).context("the record of earlier runs"),
        Err(_) => Ok(Record::new()),
    }
}

/// A hash of the files that are no documents, marked where the work tree differs from the commit.
fn state_of(files: &[String]) -> Result<String> {
    let git = |words: &[&str]| {
        let files = files.iter().map(String::as_str).chain(NO_DOCUMENTS);
        let words = ["git"].iter().chain(words).copied().chain(files);
        run_command(command(words).current_dir(paths::root()), GIT_LIMIT)
    };
    let listed = git(&["ls-files", "--stage", "--"])?;
    let changes = git(&["status", "--porcelain", "--"])?;
    let mut hash = command(["git", "hash-object", "--stdin"]);
    let hash = run_on(&mut hash, &listed, GIT_LIMIT)?;
    let mark = if changes.trim().is_empty() {
        ""
    } else {
        "-dirty"
    };
    Ok(format!("{}{mark}", hash.trim()))
}

/// The files of a program in `folder` that calls one of our crates, and so those below it.
fn made_of(folder: &str, called: &str) -> Vec<String> {
    let crates = with_those_below(called).into_iter();
    let crates = crates.map(|name| format!("crates/{name}"));
    let rest = BUILT_WITH.into_iter().chain([folder]).map(str::to_owned);
    crates.chain(rest).collect()
}

fn chosen(options: &Options) -> Result<Vec<SoakStep>> {
    let mut steps = steps(options)?;
    let known: Vec<_> = steps.iter().map(|soak| soak.step.name.clone()).collect();
    for name in &options.step {
        ensure!(
            known.contains(name),
            "no step {name}; there are {}",
            known.join(", ")
        );
    }
    steps.retain(|soak| options.step.is_empty() || options.step.contains(&soak.step.name));
    Ok(steps)
}

fn steps(options: &Options) -> Result<Vec<SoakStep>> {
    let Options {
        seeds,
        records,
        kills,
        fuzz_seconds,
        ..
    } = *options;
    let mut steps = Vec::new();
    let mut add = |files: &[String], size: String, step: Step| -> Result<()> {
        let counts_for = format!("files {}, {size}", state_of(files)?);
        steps.push(SoakStep { step, counts_for });
        Ok(())
    };
    add(
        &made_of("tests/simulation", "broker"),
        format!("{seeds} seeds"),
        Step::new("simulation", move || simulation(seeds)),
    )?;
    for part in [Part::Contents, Part::Bounce] {
        let full = interop::Options::of(part, records, RESTARTS, kills);
        let full = interop::Options {
            all_pairs: true,
            ..full
        };
        let name = format!("interop-{part:?}").to_lowercase();
        add(
            &[".".to_owned()],
            format!("{records} records, {kills} kills"),
            Step::new(&name, move || interop::run(&full)),
        )?;
    }
    every_target_has_a_layer()?;
    for (layer, called, targets) in LAYERS {
        let seconds = fuzz_seconds / u32::try_from(targets.len())?;
        let work = move || targets.iter().try_for_each(|target| fuzz(target, seconds));
        add(
            &made_of("fuzz", called),
            format!("{fuzz_seconds} s"),
            Step::new(&format!("fuzz-{layer}"), work),
        )?;
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

fn every_target_has_a_layer() -> Result<()> {
    let folder = paths::root().join("fuzz/fuzz_targets");
    for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let has_layer = LAYERS
            .iter()
            .any(|(_, _, targets)| targets.iter().any(|target| name == Some(target)));
        ensure!(has_layer, "{} belongs to no layer", path.display());
    }
    Ok(())
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

//! Speed and cost of Millrace beside Apache Kafka, by the same tools, in turn, on one machine.

mod load;
mod machine;
mod measures;
mod report;
mod sample;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};

use crate::broker::{Kind, Setup};
use crate::install::install;
use crate::paths;
use machine::Machine;
use measures::Measure;
use report::{Measured, Report};

/// What `cargo xtask compare` takes.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Other {
    /// Compare with Apache Kafka
    Kafka(Options),
}

/// How to compare.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Length of a run
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Runs of each measure on each broker; the median counts
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// The measures to take, all by default
    #[arg(long, value_delimiter = ',')]
    measure: Vec<String>,
    /// The brokers to measure, both by default
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kafka", "millrace"])]
    broker: Vec<Kind>,
    /// One short run of a few measures, to see that everything works
    #[arg(long)]
    quick: bool,
    /// Where the JSON and the Markdown go [default: compare in the target directory]
    #[arg(long)]
    out: Option<PathBuf>,
}

const QUICK_SECONDS: f64 = 3.0;
const QUICK: [&str; 4] = [
    "produce-1k-100p",
    "synced-1k-100p",
    "catch-up",
    "bench-1k-100p",
];

/// Runs the comparison, prints it and writes it.
pub(crate) fn run(other: &Other) -> Result<()> {
    let Other::Kafka(options) = other;
    let options = if options.quick {
        quick(options)
    } else {
        options.clone()
    };
    let clients = install()?;
    Setup::new(Kind::Millrace, &clients).build()?;
    let chosen = choose(&options.measure)?;
    let machine = Machine::read()?;
    let mut measured: Vec<_> = chosen.iter().map(Measured::new).collect();
    for run in 1..=options.runs {
        for (measure, results) in chosen.iter().zip(&mut measured) {
            for kind in &options.broker {
                let sample = sample::take(*kind, measure, &options, &clients)
                    .with_context(|| format!("{} on {}", measure.name, kind.name()))?;
                let rate = sample.records_per_second;
                println!(
                    "run {run}: {} on {}: {rate:.0} records/s",
                    measure.name,
                    kind.name()
                );
                results.add(*kind, sample);
            }
        }
    }
    let report = Report {
        machine,
        seconds: options.seconds,
        runs: options.runs,
        measures: measured,
    };
    println!("\n{}", report.markdown()?);
    let folder = options
        .out
        .unwrap_or_else(|| paths::target().join("compare"));
    report.write(&folder)
}

/// One short run of each measure of `--quick`, on both brokers.
pub(crate) fn small() -> Result<()> {
    run(&Other::Kafka(Options {
        seconds: QUICK_SECONDS,
        runs: 1,
        measure: Vec::new(),
        broker: vec![Kind::Kafka, Kind::Millrace],
        quick: true,
        out: Some(paths::target().join("compare-small")),
    }))
}

fn quick(options: &Options) -> Options {
    let measure = match options.measure.as_slice() {
        [] => QUICK.map(str::to_owned).to_vec(),
        chosen => chosen.to_vec(),
    };
    Options {
        seconds: QUICK_SECONDS,
        runs: 1,
        measure,
        ..options.clone()
    }
}

fn choose(names: &[String]) -> Result<Vec<Measure>> {
    let all = measures::all();
    let known: Vec<_> = all.iter().map(|measure| measure.name).collect();
    for name in names {
        ensure!(
            known.contains(&name.as_str()),
            "no measure {name}; there are {}",
            known.join(", ")
        );
    }
    let wanted =
        |measure: &Measure| names.is_empty() || names.iter().any(|name| name == measure.name);
    Ok(all.into_iter().filter(wanted).collect())
}

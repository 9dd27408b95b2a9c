//! The figures as a table for people and as JSON for programs.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::machine::Machine;
use super::measures::{Measure, Synced};
use super::sample::{Sample, topic_settings};
use crate::broker::Kind;

const MIB: f64 = 1_048_576.0;

/// Everything that one comparison found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub machine: Machine,
    pub seconds: f64,
    pub runs: u32,
    pub measures: Vec<Measured>,
}

/// All runs of one measure.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub name: &'static str,
    pub what: String,
    pub millrace: Vec<Sample>,
    pub kafka: Vec<Sample>,
}

impl Measured {
    pub(super) fn new(measure: &Measure) -> Self {
        Self {
            name: measure.name,
            what: measure.what(),
            millrace: Vec::new(),
            kafka: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, kind: Kind, sample: Sample) {
        match kind {
            Kind::Millrace => self.millrace.push(sample),
            Kind::Kafka => self.kafka.push(sample),
        }
    }

    /// Whether the owner held everybody up for longer than it may.
    fn has_long_steps(&self) -> bool {
        most(&self.millrace, |s| Some(s.owner_steps?.busy_max_s)).is_some_and(|max_s| max_s > 1e-3)
    }

    /// The lines of the table: one per figure that either side has.
    fn rows(&self) -> Vec<String> {
        FIGURES
            .iter()
            .filter_map(|figure| self.row(figure))
            .collect()
    }

    fn row(&self, (name, digits, across, of): &Figure) -> Option<String> {
        let (ours, theirs) = (across(&self.millrace, *of), across(&self.kafka, *of));
        ours.or(theirs)?;
        let show = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let ratio = show(ours.zip(theirs).map(|(ours, theirs)| ours / theirs), 2);
        let (ours, theirs) = (show(ours, *digits), show(theirs, *digits));
        Some(format!(
            "| {} | {name} | {ours} | {theirs} | {ratio} |",
            self.what
        ))
    }
}

/// Where a sample has a figure.
type Of = fn(&Sample) -> Option<f64>;
/// What counts of several runs.
type Across = fn(&[Sample], Of) -> Option<f64>;
/// A figure: its name, the digits after its point, what counts of several runs, and where it is.
type Figure = (&'static str, usize, Across, Of);

const FIGURES: [Figure; 12] = [
    ("records/s", 0, median, |s| Some(s.records_per_second)),
    ("confirm p50 ms", 1, median, |s| {
        Some(s.load.confirm?.p50_ms)
    }),
    ("confirm p99 ms", 1, median, |s| {
        Some(s.load.confirm?.p99_ms)
    }),
    ("confirm p99.9 ms", 1, median, |s| {
        Some(s.load.confirm?.p999_ms)
    }),
    ("broker CPU s/GB", 2, median, |s| {
        Some(s.broker_cpu_s_per_gb)
    }),
    ("resident MiB", 0, median, |s| {
        Some(s.resident_bytes as f64 / MIB)
    }),
    ("client's share of the CPU left %", 0, median, |s| {
        Some(s.client_share * 100.0)
    }),
    ("client's busiest thread %", 0, median, |s| {
        Some(s.load.busiest_thread_share? * 100.0)
    }),
    ("disk flushes/s", 0, median, |s| Some(s.flushes_per_second)),
    ("disk flushing %", 0, median, |s| {
        Some(s.flushing_share * 100.0)
    }),
    ("longest owner step ms", 2, most, |s| {
        Some(s.owner_steps?.busy_max_s * 1e3)
    }),
    ("longest owner step on the clock ms", 2, most, |s| {
        Some(s.owner_steps?.max_s * 1e3)
    }),
];

fn most(samples: &[Sample], of: Of) -> Option<f64> {
    samples.iter().filter_map(of).max_by(f64::total_cmp)
}

fn median(samples: &[Sample], of: Of) -> Option<f64> {
    let mut values = samples.iter().map(of).collect::<Option<Vec<_>>>()?;
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

impl Report {
    /// The Markdown that docs/benchmarks.md takes in.
    pub(super) fn markdown(&self) -> Result<String> {
        let Machine {
            processor,
            cores,
            memory_mib,
            kernel,
            sync_median_ms,
            sync_p99_ms,
            send_cpu_s_per_gb,
            commit,
        } = &self.machine;
        let mut text = String::new();
        writeln!(
            text,
            "{processor}, {cores} cores, {memory_mib} MiB, Linux {kernel}; write and fdatasync of 4 KiB:"
        )?;
        writeln!(
            text,
            "median {sync_median_ms:.2} ms, p99 {sync_p99_ms:.2} ms; sending over loopback costs the sender"
        )?;
        writeln!(
            text,
            "{send_cpu_s_per_gb:.2} processor s/GB. Millrace at {commit}, Apache Kafka"
        )?;
        writeln!(text, "{} in a 1 GiB heap (G1).", kafka_version()?)?;
        writeln!(
            text,
            "Medians of {} runs of {} s, taken in turn.\n",
            self.runs, self.seconds
        )?;
        let synced = topic_settings(Kind::Kafka, Synced::Both);
        let synced: Vec<_> = synced
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        writeln!(
            text,
            "Settings: Millrace as shipped (synced before every confirm); Kafka as shipped for one node"
        )?;
        writeln!(
            text,
            "(confirmed before the sync), and with `{}` where it says both synced.\n",
            synced.join(", ")
        )?;
        writeln!(
            text,
            "| measure | figure | Millrace | Kafka | ratio |\n|---|---|---:|---:|---:|"
        )?;
        for row in self.measures.iter().flat_map(Measured::rows) {
            writeln!(text, "{row}")?;
        }
        for measured in self.measures.iter().filter(|m| m.has_long_steps()) {
            let what = &measured.what;
            writeln!(
                text,
                "\nA step of the owner took more than 1 ms of the processor: {what}."
            )?;
        }
        Ok(text)
    }

    /// Writes both forms into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)?;
        let put = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
        };
        put("compare-kafka.json", serde_json::to_string_pretty(self)?)?;
        put("compare-kafka.md", self.markdown()?)
    }
}

/// The version that the interop programs are built with.
fn kafka_version() -> Result<String> {
    let pom = std::fs::read_to_string(crate::paths::interop().join("java/pom.xml"))?;
    let (_, rest) = pom
        .split_once("<kafka.version>")
        .context("no version in pom.xml")?;
    Ok(rest.split('<').next().unwrap_or_default().to_owned())
}

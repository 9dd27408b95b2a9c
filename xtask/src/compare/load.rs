//! The programs that make the load, and what they say about it.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::measures::{Load, Measure};
use crate::command::{command, run_watched};
use crate::install::Clients;
use crate::paths;
use crate::process::Threads;

/// The heap of the stock start script.
const CLIENT_HEAP: &str = "-Xmx512M";
const BENCH_CONNECTIONS: &str = "4";
const LIMIT: Duration = Duration::from_secs(1800);

/// What one load did.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Done {
    pub records: u64,
    pub seconds: f64,
    pub confirm: Option<Confirm>,
    /// The part of a core that the client's busiest thread took, its start included.
    pub busiest_thread_share: Option<f64>,
}

impl Done {
    pub(super) fn rate(&self) -> f64 {
        self.records as f64 / self.seconds
    }
}

/// Milliseconds from sending a record to its confirm.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Confirm {
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

/// Where the load goes.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub clients: &'a Clients,
    pub bootstrap: &'a str,
    pub topic: &'a str,
}

impl Target<'_> {
    /// Runs the measure's load with so many records.
    pub(super) fn run(&self, measure: &Measure, records: u64) -> Result<Done> {
        match measure.load {
            Load::StockProduce => self.stock_produce(measure, records, None),
            Load::StockProduceAt(rate) => self.stock_produce(measure, records, Some(rate)),
            Load::StockConsume => self.stock_consume(records),
            Load::BenchProduce => self.bench_produce(measure, records),
            Load::BenchConsume => self.bench_consume(records),
        }
    }

    /// Fills the topic for a load that reads.
    pub(super) fn fill(&self, measure: &Measure, records: u64) -> Result<Done> {
        self.bench_produce(measure, records)
    }

    fn stock_produce(&self, measure: &Measure, records: u64, rate: Option<u64>) -> Result<Done> {
        let throughput = rate.map_or("-1".to_owned(), |rate| rate.to_string());
        let mut tool = self.java("org.apache.kafka.tools.ProducerPerformance");
        tool.args(["--bootstrap-server", self.bootstrap, "--topic", self.topic]);
        tool.args([
            "--num-records",
            &records.to_string(),
            "--throughput",
            &throughput,
        ]);
        tool.args(["--record-size", &measure.record_bytes.to_string()]);
        tool.args(["--command-property", "acks=all"]);
        watched(&mut tool, |output| {
            stock_line(output).with_context(|| format!("ProducerPerformance said {output}"))
        })
    }

    fn stock_consume(&self, records: u64) -> Result<Done> {
        let mut tool = self.java("CatchUp");
        tool.args(["--bootstrap", self.bootstrap, "--topic", self.topic]);
        tool.args(["--records", &records.to_string()]);
        watched(&mut tool, report)
    }

    fn bench_produce(&self, measure: &Measure, records: u64) -> Result<Done> {
        let mut bench = self.bench("produce", records);
        bench.args([
            "--record-bytes",
            &measure.record_bytes.to_string(),
            "--idempotent",
        ]);
        watched(&mut bench, report)
    }

    fn bench_consume(&self, records: u64) -> Result<Done> {
        watched(&mut self.bench("consume", records), report)
    }

    fn bench(&self, direction: &str, records: u64) -> Command {
        let mut bench = Command::new(paths::target().join("release/millrace"));
        bench.args([
            "bench",
            direction,
            self.topic,
            "--server",
            self.bootstrap,
            "--json",
        ]);
        bench.args([
            "--connections",
            BENCH_CONNECTIONS,
            "--records",
            &records.to_string(),
        ]);
        bench
    }

    fn java(&self, class: &str) -> Command {
        let mut java = command(["java", CLIENT_HEAP, "-cp"]);
        java.arg(&self.clients.class_path).arg(class);
        java
    }
}

/// Runs a client, and takes from its output what it did.
fn watched(client: &mut Command, read: impl FnOnce(&str) -> Result<Done>) -> Result<Done> {
    let mut threads = Threads::new();
    let output = run_watched(client, "", LIMIT, |pid| threads.look(pid))?;
    Ok(Done {
        busiest_thread_share: threads.busiest_share(),
        ..read(&output)?
    })
}

/// The last line of ProducerPerformance: `N records sent, R records/sec (M MB/sec), A ms avg latency, …`.
fn stock_line(output: &str) -> Result<Done> {
    let line = output
        .lines()
        .rfind(|line| line.contains("99.9th"))
        .context("no summary")?;
    let before = |unit: &str| -> Result<f64> {
        let (front, _) = line
            .split_once(unit)
            .with_context(|| format!("no {unit}"))?;
        let number = front.rsplit([' ', '(']).next().unwrap_or_default();
        number
            .parse()
            .with_context(|| format!("{number} before {unit}"))
    };
    let records = before(" records sent")?;
    let confirm = Confirm {
        p50_ms: before(" ms 50th")?,
        p95_ms: before(" ms 95th")?,
        p99_ms: before(" ms 99th")?,
        p999_ms: before(" ms 99.9th")?,
        max_ms: before(" ms max latency")?,
    };
    let seconds = records / before(" records/sec")?;
    Ok(Done {
        records: whole(records)?,
        seconds,
        confirm: Some(confirm),
        busiest_thread_share: None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked just before"
)]
fn whole(number: f64) -> Result<u64> {
    if !(0.0..1e15).contains(&number) {
        bail!("{number} is no count of records");
    }
    Ok(number as u64)
}

/// The JSON that our own programs print.
fn report(output: &str) -> Result<Done> {
    #[derive(Deserialize)]
    struct Report {
        records: u64,
        seconds: f64,
        confirm: Option<Confirm>,
    }
    let start = output.find('{').context("no report")?;
    let Report {
        records,
        seconds,
        confirm,
    } = serde_json::from_str(&output[start..]).with_context(|| format!("report {output}"))?;
    Ok(Done {
        records,
        seconds,
        confirm,
        busiest_thread_share: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_summary_of_the_stock_producer() {
        let line = "50000 records sent, 25000.5 records/sec (24.41 MB/sec), 12.34 ms avg latency, \
                    310.00 ms max latency, 10 ms 50th, 20 ms 95th, 30 ms 99th, 40 ms 99.9th.";
        let done = stock_line(&format!("1 records sent, so far\n{line}\n")).unwrap();
        assert_eq!(done.records, 50_000);
        assert!((done.rate() - 25_000.5).abs() < 1e-6);
        let confirm = done.confirm.unwrap();
        assert_eq!(
            (confirm.p50_ms, confirm.p999_ms, confirm.max_ms),
            (10.0, 40.0, 310.0)
        );
    }

    #[test]
    fn refuses_output_without_a_summary() {
        assert!(stock_line("java.lang.OutOfMemoryError\n").is_err());
    }
}

//! What a run is told as.

use serde::Serialize;

use super::ConsumeBench;
use super::driver::Measured;
use crate::bench::latency::{Bar, Latency, Percentiles, print_histogram};
use crate::failure::Outcome;
use crate::output;

#[derive(Serialize)]
struct Report<'a> {
    topic: &'a str,
    server: &'a [String],
    settings: Settings,
    seconds: f64,
    records: u64,
    batches: u64,
    fetches: u64,
    bytes: u64,
    records_per_second: f64,
    /// Of batches as they came, 10^6 bytes.
    megabytes_per_second: f64,
    /// From a fetch to its answer.
    fetch: Percentiles,
    /// The same latencies, in bars.
    histogram: Vec<Bar>,
    client_cpu_seconds: f64,
}

#[derive(Serialize)]
struct Settings {
    connections: u32,
    threads: u32,
    fetch_bytes: i32,
    partition_fetch_bytes: i32,
    check_crcs: bool,
    tail: bool,
}

/// Prints what all threads measured.
pub(super) fn print(args: &ConsumeBench, threads: &[Measured], client_cpu_seconds: f64) -> Outcome {
    let mut latency = Latency::new();
    threads
        .iter()
        .for_each(|thread| latency.add(&thread.latency));
    let total = |of: fn(&Measured) -> u64| threads.iter().map(of).sum::<u64>();
    let seconds = threads
        .iter()
        .map(|t| t.span)
        .max()
        .unwrap_or_default()
        .as_secs_f64();
    let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let (records, bytes) = (total(|t| t.records), total(|t| t.bytes));
    let report = Report {
        topic: &args.topic,
        server: &args.server.server,
        settings: Settings {
            connections: args.connections,
            threads: args.threads,
            fetch_bytes: args.fetch_bytes,
            partition_fetch_bytes: args.partition_fetch_bytes,
            check_crcs: args.check_crcs,
            tail: args.tail,
        },
        seconds,
        records,
        batches: total(|t| t.batches),
        fetches: total(|t| t.fetches),
        bytes,
        records_per_second: per_second(output::float(records)),
        megabytes_per_second: per_second(output::float(bytes) / 1e6),
        fetch: latency.percentiles(),
        histogram: latency.histogram(),
        client_cpu_seconds,
    };
    if args.json {
        Ok(output::json(&report)?)
    } else {
        print_table(&report)
    }
}

fn print_table(report: &Report<'_>) -> Outcome {
    let mut rows = vec![
        (
            "records",
            format!("{} in {:.2} s", report.records, report.seconds),
        ),
        ("records/s", format!("{:.0}", report.records_per_second)),
        ("MB/s", format!("{:.2}", report.megabytes_per_second)),
        ("fetches", report.fetches.to_string()),
    ];
    rows.extend(report.fetch.rows());
    rows.push(("client CPU", format!("{:.2} s", report.client_cpu_seconds)));
    let cells = rows
        .into_iter()
        .map(|(name, value)| [name.to_owned(), value]);
    output::table(&["CONSUMED", report.topic], cells)?;
    Ok(print_histogram(&report.histogram)?)
}

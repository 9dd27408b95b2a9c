//! What a run is told as.

use serde::Serialize;

use super::ProduceBench;
use super::driver::Measured;
use crate::bench::latency::{Bar, Latency, Percentiles, print_histogram};
use crate::failure::Outcome;
use crate::output;

#[derive(Serialize)]
struct Report<'a> {
    topic: &'a str,
    server: &'a [String],
    settings: Settings<'a>,
    seconds: f64,
    records: u64,
    batches: u64,
    requests: u64,
    /// Batches that were sent again after an error or a lost connection.
    retries: u64,
    bytes: u64,
    records_per_second: f64,
    /// Of records' values, 10^6 bytes.
    megabytes_per_second: f64,
    records_per_batch: f64,
    /// From the creation of a batch's oldest record to its confirm.
    confirm: Option<Percentiles>,
    /// The same latencies, in bars; of records.
    histogram: Vec<Bar>,
    client_cpu_seconds: f64,
}

#[derive(Serialize)]
struct Settings<'a> {
    record_bytes: u32,
    rate: Option<u64>,
    connections: u32,
    threads: u32,
    batch_bytes: u32,
    request_bytes: u32,
    linger_ms: u64,
    in_flight: u32,
    acks: i16,
    idempotent: bool,
    codec: &'a str,
    warmup_seconds: u64,
}

/// Prints what all threads measured.
pub(super) fn print(args: &ProduceBench, threads: &[Measured], client_cpu_seconds: f64) -> Outcome {
    let mut latency = Latency::new();
    threads
        .iter()
        .for_each(|thread| latency.add(&thread.latency));
    let total = |of: fn(&Measured) -> u64| threads.iter().map(of).sum::<u64>();
    let span = threads
        .iter()
        .map(|thread| thread.span)
        .max()
        .unwrap_or_default();
    let seconds = span.as_secs_f64();
    let (records, batches) = (total(|t| t.records), total(|t| t.batches));
    let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let report = Report {
        topic: &args.topic,
        server: &args.server.server,
        settings: settings(args),
        seconds,
        records,
        batches,
        requests: total(|t| t.requests),
        retries: total(|t| t.retries),
        bytes: total(|t| t.bytes),
        records_per_second: per_second(output::float(records)),
        megabytes_per_second: per_second(
            output::float(records) * f64::from(args.record_bytes) / 1e6,
        ),
        records_per_batch: if batches > 0 {
            output::float(records) / output::float(batches)
        } else {
            0.0
        },
        confirm: (args.acks.number() != 0).then(|| latency.percentiles()),
        histogram: match args.acks.number() {
            0 => Vec::new(),
            _ => latency.histogram(),
        },
        client_cpu_seconds,
    };
    if args.json {
        Ok(output::json(&report)?)
    } else {
        print_table(&report)
    }
}

fn settings(args: &ProduceBench) -> Settings<'_> {
    Settings {
        record_bytes: args.record_bytes,
        rate: args.rate,
        connections: args.connections,
        threads: args.threads,
        batch_bytes: args.batch_bytes,
        request_bytes: args.request_bytes,
        linger_ms: args.linger_ms,
        in_flight: args.in_flight,
        acks: args.acks.number(),
        idempotent: args.idempotent,
        codec: record::Codec::from(args.codec).name(),
        warmup_seconds: args.warmup,
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
        (
            "records per batch",
            format!("{:.1}", report.records_per_batch),
        ),
        ("requests", report.requests.to_string()),
        ("retries", report.retries.to_string()),
    ];
    if let Some(confirm) = report.confirm {
        rows.extend(confirm.rows());
    }
    rows.push(("client CPU", format!("{:.2} s", report.client_cpu_seconds)));
    let cells = rows
        .into_iter()
        .map(|(name, value)| [name.to_owned(), value]);
    output::table(&["PRODUCED", report.topic], cells)?;
    if report.confirm.is_some() {
        print_histogram(&report.histogram)?;
    }
    Ok(())
}

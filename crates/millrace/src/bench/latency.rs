//! Latencies in microseconds.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::output;

/// Ten minutes; longer ones count as that.
const MAX_US: u64 = 600_000_000;
/// Upper bound of the histogram's first bar; each further one is twice that of the one before.
const FIRST_BAR_US: u64 = 125;
/// Length of the longest bar, in characters.
const BAR_CHARS: u64 = 40;

/// Latencies of records, to three digits.
#[derive(Clone, Debug)]
pub(crate) struct Latency(Histogram<u64>);

/// What is printed of them, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
}

/// Records whose latency was at most this, and more than that of the bar before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Bar {
    up_to_ms: f64,
    records: u64,
}

impl Latency {
    #[expect(clippy::expect_used, reason = "constants that the library accepts")]
    pub(crate) fn new() -> Self {
        Self(Histogram::new_with_bounds(1, MAX_US, 3).expect("valid bounds"))
    }

    /// Counts `records` records whose latency was `time`.
    pub(crate) fn record(&mut self, time: Duration, records: u64) {
        let time_us = u64::try_from(time.as_micros()).unwrap_or(MAX_US);
        self.0
            .saturating_record_n(time_us.clamp(1, MAX_US), records);
    }

    /// Adds what another thread counted.
    pub(crate) fn add(&mut self, other: &Self) {
        let added = self.0.add(&other.0);
        debug_assert!(added.is_ok(), "both have the same bounds");
    }

    /// How latencies are spread: the bars from the first to the last that holds a record.
    pub(crate) fn histogram(&self) -> Vec<Bar> {
        let mut bars = Vec::new();
        let (mut up_to_us, mut below) = (FIRST_BAR_US, 0);
        let total = self.0.len();
        while below < total {
            let records = self.0.count_between(0, up_to_us).min(total) - below;
            below += records;
            if records > 0 || !bars.is_empty() {
                let up_to_ms = to_ms(up_to_us);
                bars.push(Bar { up_to_ms, records });
            }
            up_to_us *= 2;
        }
        bars
    }

    pub(crate) fn percentiles(&self) -> Percentiles {
        let at = |quantile: f64| to_ms(self.0.value_at_quantile(quantile));
        Percentiles {
            mean_ms: self.0.mean() / 1_000.0,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: to_ms(self.0.max()),
        }
    }
}

impl Percentiles {
    /// Rows of a table for people.
    pub(crate) fn rows(self) -> Vec<(&'static str, String)> {
        let ms = |value: f64| format!("{value:.3} ms");
        vec![
            ("latency mean", ms(self.mean_ms)),
            ("latency p50", ms(self.p50_ms)),
            ("latency p95", ms(self.p95_ms)),
            ("latency p99", ms(self.p99_ms)),
            ("latency p99.9", ms(self.p999_ms)),
            ("latency max", ms(self.max_ms)),
        ]
    }
}

/// Prints a histogram for people.
pub(crate) fn print_histogram(bars: &[Bar]) -> std::io::Result<()> {
    let total: u64 = bars.iter().map(|bar| bar.records).sum();
    let most = bars.iter().map(|bar| bar.records).max().unwrap_or(0).max(1);
    let rows = bars.iter().map(|bar| {
        let chars = bar.records.saturating_mul(BAR_CHARS).div_ceil(most);
        [
            format!("up to {} ms", bar.up_to_ms),
            bar.records.to_string(),
            format!("{:.2} %", share(bar.records, total)),
            "#".repeat(usize::try_from(chars).unwrap_or(0)),
        ]
    });
    output::line("")?;
    output::table(&["LATENCY", "RECORDS", "SHARE", ""], rows)
}

/// Per cent.
fn share(records: u64, total: u64) -> f64 {
    100.0 * output::float(records) / output::float(total.max(1))
}

/// Exact: latencies are far below 2^53 microseconds.
fn to_ms(time_us: u64) -> f64 {
    Duration::from_micros(time_us).as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_weighted_by_records() {
        let mut latency = Latency::new();
        latency.record(Duration::from_millis(1), 98);
        let mut other = Latency::new();
        other.record(Duration::from_millis(100), 1);
        other.record(Duration::from_secs(3_600), 1);
        latency.add(&other);
        let found = latency.percentiles();
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.002;
        assert!(
            near(found.p50_ms, 1.0) && near(found.p95_ms, 1.0),
            "{found:?}"
        );
        assert!(near(found.p99_ms, 100.0), "{found:?}");
        assert!(near(found.max_ms, 600_000.0), "{found:?}");
    }

    #[test]
    fn every_record_stands_in_one_bar_of_the_histogram() {
        let mut latency = Latency::new();
        assert_eq!(latency.histogram(), []);
        latency.record(Duration::from_micros(300), 7);
        latency.record(Duration::from_micros(1_900), 2);
        latency.record(Duration::from_secs(3_600), 1);
        let bars = latency.histogram();
        let bar = |up_to_ms, records| Bar { up_to_ms, records };
        assert_eq!(bars[..3], [bar(0.5, 7), bar(1.0, 0), bar(2.0, 2)]);
        assert!(bars[3..bars.len() - 1].iter().all(|bar| bar.records == 0));
        assert_eq!(bars.last().map(|bar| bar.records), Some(1));
    }
}

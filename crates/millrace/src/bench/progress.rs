//! What is shown while a run goes on, and how threads report to it.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use types::Clock;

use crate::output;

const TICK: Duration = Duration::from_millis(200);

/// Counters that all threads share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) records: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// One thread failed, or the person asked: the others end.
    pub(super) stop: AtomicBool,
}

impl Counters {
    pub(super) fn add(&self, records: u64, bytes: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// How far a run goes: whichever comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) records: Option<u64>,
    pub(super) time: Option<Duration>,
}

/// Waits for `threads` results, showing progress on a terminal meanwhile. The first error is kept
/// and ends the others.
pub(super) fn watch<T>(
    results: &Receiver<anyhow::Result<T>>,
    threads: usize,
    counters: &Counters,
    goal: Goal,
    clock: &dyn Clock,
) -> anyhow::Result<Vec<T>> {
    let bar = bar(goal);
    let start = clock.monotonic();
    let mut last = (start, 0, 0);
    let mut finished = Vec::new();
    let mut first_error = None;
    let mut ended = 0;
    while ended < threads {
        match results.recv_timeout(TICK) {
            Ok(Ok(result)) => finished.push(result),
            Ok(Err(error)) => {
                counters.stop.store(true, Ordering::Relaxed);
                first_error.get_or_insert(error);
            }
            Err(RecvTimeoutError::Timeout) => {
                last = show(&bar, counters, goal, clock.monotonic() - start, last);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("a thread ended without a result"),
        }
        ended += 1;
    }
    bar.finish_and_clear();
    first_error.map_or(Ok(finished), Err)
}

fn bar(goal: Goal) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = goal.records.or(goal
        .time
        .map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX)));
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {msg}");
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

fn show(
    bar: &ProgressBar,
    counters: &Counters,
    goal: Goal,
    elapsed: Duration,
    (before, records_before, bytes_before): (Duration, u64, u64),
) -> (Duration, u64, u64) {
    let records = counters.records.load(Ordering::Relaxed);
    let bytes = counters.bytes.load(Ordering::Relaxed);
    let position = match goal.records {
        Some(_) => records,
        None => u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    };
    bar.set_position(position);
    let span_ms = u64::try_from(elapsed.saturating_sub(before).as_millis())
        .unwrap_or(1)
        .max(1);
    let rate = |now: u64, then: u64| now.saturating_sub(then).saturating_mul(1_000) / span_ms;
    let bytes_rate = output::bytes(rate(bytes, bytes_before));
    bar.set_message(format!(
        "{} records/s  {bytes_rate}/s",
        rate(records, records_before)
    ));
    (elapsed, records, bytes)
}

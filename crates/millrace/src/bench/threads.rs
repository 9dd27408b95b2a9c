//! The threads of a load generator.

use std::sync::mpsc;

use anyhow::Context;
use types::Clock;

use super::progress::{Counters, Goal, watch};

/// Runs each driver on a thread of its own and gives what all of them measured; the first error
/// of one ends the others.
#[expect(clippy::disallowed_methods, reason = "the shell of the load generator")]
pub(super) fn run_all<T: Send + 'static>(
    drivers: Vec<impl FnOnce() -> anyhow::Result<T> + Send + 'static>,
    counters: &Counters,
    goal: Goal,
    clock: &dyn Clock,
) -> anyhow::Result<Vec<T>> {
    let threads = drivers.len();
    let (sender, results) = mpsc::sync_channel(threads);
    for (number, driver) in drivers.into_iter().enumerate() {
        let sender = sender.clone();
        std::thread::Builder::new()
            .name(format!("bench-{number}"))
            // Whoever watches has ended with an error of its own if nobody listens.
            .spawn(move || drop(sender.send(driver())))
            .context("cannot start a thread")?;
    }
    drop(sender);
    watch(&results, threads, counters, goal, clock)
}

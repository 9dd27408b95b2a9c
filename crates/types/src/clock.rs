//! Time as a trait, so that simulations own it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Wall clock and monotonic clock of a node.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Milliseconds since 1970-01-01 UTC. May jump either way.
    fn now_ms(&self) -> i64;

    /// Time since some fixed point of this process. Never goes back.
    fn monotonic(&self) -> Duration;

    /// Processor time that the calling thread has had: how long its own work took, whoever else
    /// wanted the processor meanwhile.
    fn thread_busy(&self) -> Duration {
        self.monotonic()
    }
}

/// The clocks of the operating system.
#[derive(Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    pub fn new() -> Self {
        Self {
            start: std::time::Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that moves only when it is told to: for tests and simulations.
#[derive(Debug)]
pub struct ManualClock {
    wall_ms: AtomicI64,
    monotonic_us: AtomicU64,
}

impl ManualClock {
    /// A clock standing at `now_ms`.
    #[must_use]
    pub const fn new(now_ms: i64) -> Self {
        Self {
            wall_ms: AtomicI64::new(now_ms),
            monotonic_us: AtomicU64::new(0),
        }
    }

    /// Moves both clocks forward.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        let before = self.monotonic_us.fetch_add(micros, Ordering::SeqCst);
        let passed_ms = (before + micros) / 1000 - before / 1000;
        self.wall_ms.fetch_add(
            i64::try_from(passed_ms).unwrap_or(i64::MAX),
            Ordering::SeqCst,
        );
    }

    /// Sets the wall clock alone, as an operator or a time service would.
    pub fn set_wall_ms(&self, now_ms: i64) {
        self.wall_ms.store(now_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.wall_ms.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.monotonic_us.load(Ordering::SeqCst))
    }
}

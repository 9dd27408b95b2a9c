//! The thread that drives some connections.

mod batch_sent;
mod lane;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use types::{Clock, SystemClock};

use super::ProduceBench;
use super::plan::Plan;
use crate::bench::latency::Latency;
use crate::bench::progress::Counters;
use crate::bench::socket::wait;
use lane::Lane;

/// Longest wait, so that the end of the run and the failure of others are noticed.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long things may take.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    /// An answer, as in Kafka's producer.
    answer: Duration,
    /// The last answers, after the end of the run.
    drain: Duration,
    /// The last answers, once the person asked for the end.
    interrupt: Duration,
}

const TIMEOUTS: Timeouts = Timeouts {
    answer: Duration::from_secs(30),
    drain: Duration::from_secs(60),
    interrupt: Duration::from_secs(5),
};

/// What one thread measured after the warm-up.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) latency: Latency,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) batches: u64,
    pub(super) requests: u64,
    /// Batches that were sent again, of the warm-up as well.
    pub(super) retries: u64,
    /// From the end of the warm-up to the last confirm.
    pub(super) span: Duration,
}

impl Measured {
    fn new() -> Self {
        Self {
            latency: Latency::new(),
            records: 0,
            bytes: 0,
            batches: 0,
            requests: 0,
            retries: 0,
            span: Duration::ZERO,
        }
    }
}

/// Times of a run, from its start on.
#[derive(Clone, Copy, Debug)]
struct Phases {
    warmup_end: Duration,
    end: Duration,
}

/// Drives the connections of one thread.
#[derive(Debug)]
pub(super) struct Driver {
    lanes: Vec<Lane>,
    phases: Phases,
    timeouts: Timeouts,
    clock: Arc<SystemClock>,
    counters: Arc<Counters>,
}

impl Driver {
    /// Connects everything that the plans name.
    pub(super) fn new(
        args: &ProduceBench,
        plans: Vec<Plan>,
        clock: Arc<SystemClock>,
        counters: Arc<Counters>,
    ) -> anyhow::Result<Self> {
        let lanes = plans
            .into_iter()
            .map(|plan| Lane::new(args, plan))
            .collect::<Result<_, _>>()?;
        let warmup_end = Duration::from_secs(args.warmup);
        let end = args.goal().time.unwrap_or(Duration::MAX);
        Ok(Self {
            lanes,
            phases: Phases { warmup_end, end },
            timeouts: TIMEOUTS,
            clock,
            counters,
        })
    }

    /// Sends until the goal is reached and waits for the last answers.
    pub(super) fn run(mut self) -> anyhow::Result<Measured> {
        let start = self.clock.monotonic();
        let start_ms = self.clock.now_ms();
        let mut measured = Measured::new();
        let mut stopped_at = None;
        let mut readable = vec![false; self.lanes.len()];
        loop {
            let mut now = self.clock.monotonic() - start;
            let ending = now >= self.phases.end || self.counters.is_stopped();
            if self.counters.is_stopped() {
                let since = *stopped_at.get_or_insert(now);
                if now - since >= self.timeouts.interrupt {
                    return Ok(measured);
                }
            } else if now > self.phases.end.saturating_add(self.timeouts.drain) {
                let drain = self.timeouts.drain;
                bail!("the last requests were not answered within {drain:?}");
            }
            for (lane, readable) in self.lanes.iter_mut().zip(&readable) {
                if *readable {
                    lane.receive(now, self.phases.warmup_end, &mut measured, &self.counters)?;
                }
                lane.time_out(now, self.timeouts.answer)?;
                lane.send(now, start_ms, ending, &mut measured, &self.counters)?;
                now = self.clock.monotonic() - start;
                lane.flushed(now, self.phases.warmup_end, &mut measured, &self.counters);
            }
            let stopped = self.counters.is_stopped();
            let is_done = |lane: &Lane| lane.is_done(ending) || (stopped && lane.is_in_trouble());
            if self.lanes.iter().all(is_done) {
                return Ok(measured);
            }
            let next = self.lanes.iter().filter_map(Lane::next_time).min();
            let until = next
                .map_or(WAIT_MAX, |at| at.saturating_sub(now))
                .min(WAIT_MAX);
            let sockets = self.lanes.iter().filter_map(Lane::socket);
            let mut found = wait(sockets, until)?.into_iter();
            let has_socket = |lane: &Lane| lane.socket().is_some();
            let is_readable = |lane| has_socket(lane) && found.next().unwrap_or(false);
            readable = self.lanes.iter().map(is_readable).collect();
        }
    }
}

#[cfg(test)]
mod tests;

//! Batches on their way.

use std::time::Duration;

use super::Measured;
use super::retry::Failures;
use crate::bench::produce::batch::Contents;
use crate::bench::progress::Counters;

/// A request on its way.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) correlation_id: i32,
    /// When it was sent.
    pub(super) time: Duration,
    pub(super) batches: Vec<Batch>,
}

/// One batch: what is needed to write it again. Values are not kept, they are random anyway; it is the
/// sequence by which a broker knows a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Index of the partition in the topic.
    pub(super) partition: i32,
    pub(super) contents: Contents,
    /// When its oldest record was made.
    pub(super) created: Duration,
    /// Its part of the request.
    pub(super) bytes: u64,
    pub(super) failures: Failures,
}

impl Batch {
    pub(super) fn records(&self) -> u64 {
        u64::try_from(self.contents.records).unwrap_or(0)
    }

    /// Counts it as confirmed.
    pub(super) fn count(
        &self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) {
        let records = self.records();
        counters.add(records, self.bytes);
        if now < warmup_end {
            return;
        }
        measured.records += records;
        measured.bytes += self.bytes;
        measured.batches += 1;
        measured.span = now - warmup_end;
        if self.created >= warmup_end {
            let latency = now.saturating_sub(self.created);
            measured.latency.record(latency, records);
        }
    }
}

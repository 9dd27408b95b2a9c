//! The side of a partition that readers see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use log::index::PartitionIndex;
use log::read::{Plan, Want};
use log::segment::Hole;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use types::{LeaderEpoch, Offset, PartitionId, TopicId};

use crate::error::FetchError;
use crate::holes::Holes;
use crate::leader_epoch::EpochHistory;

/// Applied state of a partition. The owner alone changes it; readers take what they find.
///
/// Always: log start ≤ end ≤ decided end. On one node the end is at once high watermark, last
/// stable offset and synced offset: nothing is applied before its sync.
#[derive(Debug)]
pub struct Partition {
    /// Its number in the node.
    pub id: PartitionId,
    /// The topic it belongs to.
    pub topic: TopicId,
    /// Its number in the topic.
    pub number: i32,
    pub(crate) index: RwLock<PartitionIndex>,
    pub(crate) epochs: RwLock<EpochHistory>,
    log_start: AtomicI64,
    end: AtomicI64,
    decided_end: AtomicI64,
    deleted: AtomicBool,
    holes: Holes,
    waiters: Mutex<Vec<Arc<Waiting>>>,
}

impl Partition {
    pub(crate) fn new(id: PartitionId, topic: TopicId, number: i32) -> Self {
        Self {
            id,
            topic,
            number,
            index: RwLock::default(),
            epochs: RwLock::default(),
            log_start: AtomicI64::new(0),
            end: AtomicI64::new(0),
            decided_end: AtomicI64::new(0),
            deleted: AtomicBool::new(false),
            holes: Holes::default(),
            waiters: Mutex::default(),
        }
    }

    /// The first offset that can be read.
    #[must_use]
    pub fn log_start(&self) -> Offset {
        Offset(self.log_start.load(Ordering::Acquire))
    }

    /// The offset after the last one that can be read: the high watermark.
    #[must_use]
    pub fn end(&self) -> Offset {
        Offset(self.end.load(Ordering::Acquire))
    }

    /// Whether something is decided that readers cannot see yet.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.decided_end() > self.end()
    }

    /// The offset after the last one that was given to a record.
    fn decided_end(&self) -> Offset {
        Offset(self.decided_end.load(Ordering::Acquire))
    }

    /// Whether its topic is gone.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }

    /// Whether confirmed records of it are lost: what is around them can be read, nothing can be
    /// appended until the log start is past them.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        !self.holes.is_empty()
    }

    /// What is lost, in offset order.
    #[must_use]
    pub fn holes(&self) -> Vec<Hole> {
        self.holes.all()
    }

    /// Stored bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.index.read().bytes()
    }

    /// The largest leader epoch not above `requested` and the offset where its records end, while
    /// `current` is the leader's. `None` for an epoch that the leader has not reached.
    #[must_use]
    pub fn epoch_end(
        &self,
        requested: LeaderEpoch,
        current: LeaderEpoch,
    ) -> Option<(LeaderEpoch, Offset)> {
        self.epochs
            .read()
            .end_offset_for(requested, current, self.end())
    }

    /// The leader epoch under which the record at `offset` was appended.
    #[must_use]
    pub fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        self.epochs.read().epoch_at(offset)
    }

    /// Whether `from` can be read or waited for.
    ///
    /// # Errors
    /// The partition is gone, or `from` lies before its log start or after what was appended.
    pub fn check_readable(&self, from: Offset) -> Result<(), FetchError> {
        if self.is_deleted() {
            return Err(FetchError::UnknownPartition);
        }
        let (log_start, end) = (self.log_start(), self.end());
        // What is decided may be named by an answer before readers see it.
        if from < log_start || from > end.max(self.decided_end()) {
            let (offset, log_start, end) = (from.0, log_start.0, end.0);
            return Err(FetchError::OffsetOutOfRange {
                offset,
                log_start,
                end,
            });
        }
        Ok(())
    }

    /// How far a read from `from` on may go: to the end, or to where records are lost.
    ///
    /// # Errors
    /// The record at `from` itself is lost.
    pub(crate) fn readable_until(&self, from: Offset) -> Result<Offset, log::Error> {
        Ok(self.holes.readable_until(from, self.end())?)
    }

    /// The plan of a read of whole batches from `from` on: at most `max_bytes`, or one larger batch
    /// if `at_least_one`. `None` at the end. What a reader gets by it counts only if `from` can
    /// still be read afterwards: what is trimmed may be punched out.
    ///
    /// # Errors
    /// As [`check_readable`](Self::check_readable); the record at `from` is lost.
    pub fn plan(
        &self,
        from: Offset,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Option<Plan>, FetchError> {
        self.check_readable(from)?;
        let until = self.readable_until(from)?;
        if from >= until {
            return Ok(None);
        }
        let want = Want {
            partition: self.id,
            from,
            until,
            max_bytes,
            at_least_one,
        };
        Ok(Some(Plan::new(&self.index, want)))
    }

    pub(crate) fn set_log_start(&self, offset: Offset) {
        self.log_start.store(offset.0, Ordering::Release);
        self.holes.trim(offset);
    }

    pub(crate) fn set_decided_end(&self, offset: Offset) {
        self.decided_end.store(offset.0, Ordering::Release);
    }

    /// Takes what is lost, if anybody can still ask for it.
    pub(crate) fn add_hole(&self, hole: Hole) {
        if hole.end_offset > self.log_start() {
            self.holes.add(hole);
        }
    }

    /// Moves the end and wakes readers that waited for `bytes` more.
    pub(crate) fn set_end(&self, offset: Offset, bytes: u64) {
        self.end.store(offset.0, Ordering::Release);
        self.wake(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub(crate) fn set_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
        self.wake(i64::MAX);
    }

    /// Whether a reader waits at the end.
    pub(crate) fn has_waiters(&self) -> bool {
        self.waiters.lock().iter().any(|waiting| !waiting.is_done())
    }

    fn wake(&self, bytes: i64) {
        let mut waiters = self.waiters.lock();
        waiters.retain(|waiting| !waiting.is_done() && !waiting.arrived(bytes));
    }

    /// Takes out one entry of `waiting`, if it was not taken out when it was woken.
    fn forget(&self, waiting: &Arc<Waiting>) {
        let mut waiters = self.waiters.lock();
        // From the back: who asks for a partition many times stands there many times, side by side.
        let at = waiters.iter().rposition(|one| Arc::ptr_eq(one, waiting));
        if let Some(at) = at {
            waiters.swap_remove(at);
        }
    }
}

/// A reader that waits until enough bytes have arrived in any of its partitions. Dropped, it stands
/// in none of them any more: who reads may leave at any time.
#[derive(Debug)]
pub struct Waiter {
    waiting: Arc<Waiting>,
    partitions: Vec<Arc<Partition>>,
}

impl Waiter {
    /// A reader that still wants `missing` bytes.
    #[must_use]
    pub fn new(missing: i64) -> Self {
        let waiting = Waiting {
            missing: AtomicI64::new(missing.max(1)),
            done: AtomicBool::new(false),
            notify: Notify::new(),
        };
        Self {
            waiting: Arc::new(waiting),
            partitions: Vec::new(),
        }
    }

    /// What arrives in `partition` from now on counts.
    pub fn wait_at(&mut self, partition: &Arc<Partition>) {
        partition.waiters.lock().push(Arc::clone(&self.waiting));
        self.partitions.push(Arc::clone(partition));
    }

    /// Waits until enough has arrived.
    pub async fn wait(&self) {
        self.waiting.notify.notified().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.waiting.done.store(true, Ordering::Release);
        for partition in &self.partitions {
            partition.forget(&self.waiting);
        }
    }
}

/// What a partition knows of a reader that waits.
#[derive(Debug)]
struct Waiting {
    missing: AtomicI64,
    done: AtomicBool,
    notify: Notify,
}

impl Waiting {
    /// Counts bytes that arrived; true when they were enough, and the reader is woken.
    fn arrived(&self, bytes: i64) -> bool {
        let before = self.missing.fetch_sub(bytes, Ordering::AcqRel);
        let enough = before.saturating_sub(bytes) <= 0;
        if enough {
            self.done.store(true, Ordering::Release);
            self.notify.notify_one();
        }
        enough
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions(count: i32) -> Vec<Arc<Partition>> {
        let new = |number| Partition::new(PartitionId(7), TopicId::ZERO, number);
        (0..count).map(|number| Arc::new(new(number))).collect()
    }

    fn waiter_at(partitions: &[Arc<Partition>], missing: i64) -> Waiter {
        let mut waiter = Waiter::new(missing);
        for partition in partitions {
            waiter.wait_at(partition);
        }
        waiter
    }

    // Where nobody else waits and no record comes, nothing else would take it out, and the owner
    // would sync for it.
    #[test]
    fn a_reader_that_leaves_while_it_waits_stands_nowhere_any_more() {
        let partitions = partitions(3);
        let stays = waiter_at(&partitions[..1], 1);
        let leaves = waiter_at(&partitions, 1);
        assert!(partitions.iter().all(|partition| partition.has_waiters()));
        drop(leaves);
        let counts: Vec<_> = partitions
            .iter()
            .map(|of| of.waiters.lock().len())
            .collect();
        assert_eq!(counts, [1, 0, 0]);
        assert!(partitions[0].has_waiters());
        assert!(!partitions[1].has_waiters());
        drop(stays);
        assert!(!partitions[0].has_waiters());
    }

    #[tokio::test]
    async fn a_reader_is_woken_by_what_arrives_in_all_its_partitions_together() {
        let partitions = partitions(2);
        let waiter = waiter_at(&partitions, 10);
        partitions[0].set_end(Offset(1), 6);
        assert!(partitions[0].has_waiters(), "it wants more");
        partitions[1].set_end(Offset(1), 4);
        waiter.wait().await;
        assert!(!partitions[0].has_waiters());
        drop(waiter);
        assert!(partitions.iter().all(|of| of.waiters.lock().is_empty()));
    }

    #[test]
    fn a_partition_that_is_waited_for_many_times_forgets_all_of_them() {
        let partition = partitions(1).remove(0);
        let many = vec![Arc::clone(&partition); 100_000];
        let first = waiter_at(&many[..10], 1);
        drop(waiter_at(&many, 1));
        assert_eq!(partition.waiters.lock().len(), 10);
        drop(first);
        assert!(partition.waiters.lock().is_empty());
    }
}

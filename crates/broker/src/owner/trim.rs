//! Moving log starts: on request, and by retention. And what else the owner does by the clock.

use std::ops::Bound;
use std::time::Duration;

use log::Kind;
use types::limits::{JOB_RETRY_MS, RETENTION_PARTITIONS_MAX, UPKEEP_MS};
use types::{FileSequence, LogIndex, Offset, PartitionId};

use super::flight::{Effect, Then, send};
use super::proposal::Reply;
use super::state::SHARED_SHARD;
use super::{Draft, Owner};
use crate::error::{Stopped, TrimError};
use crate::retention;

/// What the owner does by the clock, and when next.
#[derive(Debug)]
pub(crate) struct Upkeep {
    next: Duration,
    next_retention: Duration,
    /// The partition that retention judged last, while a round is under way.
    cursor: Option<Option<PartitionId>>,
    failed_seal: Option<FileSequence>,
    failed_checkpoint: bool,
    retry: Duration,
}

impl Upkeep {
    pub(crate) const fn new(now: Duration) -> Self {
        Self {
            next: now,
            next_retention: now,
            cursor: None,
            failed_seal: None,
            failed_checkpoint: false,
            retry: now,
        }
    }

    pub(crate) fn next_wake(&self, now: Duration) -> Duration {
        let next = if self.cursor.is_some() {
            now
        } else {
            self.next
        };
        next.saturating_sub(now)
    }

    pub(crate) const fn seal_failed(&mut self, file: FileSequence) {
        self.failed_seal = Some(file);
    }

    pub(crate) const fn retry_checkpoint(&mut self) {
        self.failed_checkpoint = true;
    }
}

impl Owner {
    /// Does what is due by the clock: a bounded part of it.
    pub(super) fn upkeep(&mut self) {
        let now = self.clock.monotonic();
        self.advance_retention();
        if now < self.upkeep.next {
            return;
        }
        self.upkeep.next = now + Duration::from_millis(UPKEEP_MS);
        if now >= self.upkeep.next_retention && self.upkeep.cursor.is_none() {
            self.upkeep.next_retention = now + self.config.retention_check;
            self.upkeep.cursor = Some(None);
        }
        // Clients ask again; on a full device those who asked before must not pile up.
        self.waiting.retain(|proposal| !proposal.is_given_up());
        self.end_file_of_many_batches();
        self.drop_dead_segments();
        self.release_more();
        self.report();
        if now >= self.upkeep.retry {
            self.upkeep.retry = now + 10 * Duration::from_millis(JOB_RETRY_MS);
            if let Some(file) = self.upkeep.failed_seal.take() {
                self.retry_seal(file);
            }
            if std::mem::take(&mut self.upkeep.failed_checkpoint) {
                self.want_checkpoint();
            }
        }
    }

    /// Judges the retention of the next partitions of a round.
    fn advance_retention(&mut self) {
        let Some(after) = self.upkeep.cursor else {
            return;
        };
        let stamp = self.stamp();
        if self.stamp.expiry_paused() {
            tracing::warn!("the wall clock jumped ahead by more than an hour, expiry waits");
            self.upkeep.cursor = None;
            return;
        }
        let range = (
            after.map_or(Bound::Unbounded, Bound::Excluded),
            Bound::Unbounded,
        );
        let mut due = Vec::new();
        let mut last = None;
        let silent_since = stamp.saturating_sub(self.config.producer_expiration_ms);
        let files = &self.applied.storage.files;
        let present = files.last_key_value().map(|(sequence, _)| *sequence);
        let mut ends = None;
        let partitions = self.applied.partitions.range_mut(range);
        for (id, state) in partitions.take(RETENTION_PARTITIONS_MAX) {
            last = Some(*id);
            state.producers.expire(silent_since);
            if state.deleting {
                continue;
            }
            let index = state.shared.index.read();
            let start = state.next_log_start;
            let bytes = index.bytes();
            let new = retention::new_log_start(index.runs(), bytes, &state.settings, stamp, start);
            due.extend(new.map(|new| (*id, new)));
            let oldest = present.and_then(|file| index.oldest_in(file));
            if oldest.is_some_and(|at| retention::ends_file(&state.settings, stamp - at)) {
                ends = present;
            }
        }
        if let Some(file) = ends {
            self.end_file(file);
        }
        self.upkeep.cursor = last.map(Some);
        for (id, new) in due {
            self.trim_to(id, new, stamp);
        }
    }

    pub(super) fn decide_trim(
        &mut self,
        id: PartitionId,
        to: Option<Offset>,
        reply: Reply<Result<Offset, TrimError>>,
    ) {
        let state = self.applied.partitions.get(&id).filter(|s| !s.deleting);
        let Some(state) = state else {
            return send(reply, Err(TrimError::UnknownPartition));
        };
        let end = state.shared.end();
        let to = to.unwrap_or(end);
        if to > end || to < Offset::ZERO {
            let error = TrimError::OffsetOutOfRange {
                offset: to.0,
                end: end.0,
            };
            return send(reply, Err(error));
        }
        let start = state.next_log_start;
        let index = if to > start {
            let stamp = self.stamp();
            self.trim_to(id, to, stamp)
        } else {
            // Nothing to do, but what made it so may still be under way.
            LogIndex(self.next_index[1].0 - 1)
        };
        let start = start.max(to);
        let tell = move |done: Result<(), Stopped>| {
            send(reply, done.map(|()| start).map_err(TrimError::from));
        };
        self.on_synced.push(index, Then::Tell(Box::new(tell)));
    }

    fn trim_to(&mut self, id: PartitionId, to: Offset, stamp: i64) -> LogIndex {
        if let Some(state) = self.applied.partitions.get_mut(&id) {
            state.next_log_start = to;
        }
        let draft = Draft {
            partition: id,
            base_offset: to,
            ..Draft::new(SHARED_SHARD, Kind::Trim, stamp, bytes::Bytes::new())
        };
        self.propose(draft, Effect::Trim)
    }
}

//! Deciding appends: offset, duplicate, time.

use log::Payload;
use log::mutant::{self, Mutant};
use record::{BatchHeader, TimestampType};
use types::limits::{OWNER_DECIDE_MAX, REQUEST_ENTRIES_MAX, SPARES_FOR_RECOVERY, SPARES_RESERVED};
use types::{LogIndex, Offset};

use super::flight::{Effect, Then, send};
use super::proposal::{AppendPart, AppendProposal, AppendResults, Appended};
use super::state::{PartitionState, SHARED_SHARD};
use super::{Draft, Owner, space};
use crate::error::{AppendError, Stopped};
use crate::producer::Verdict;
use crate::topic_config::Durability;

impl PartitionState {
    /// What is answered for a batch that stands at `base_offset`.
    fn appended(&self, base_offset: Offset, append_time_ms: i64) -> Appended {
        let stamps_records = self.settings.timestamp_type == TimestampType::LogAppendTime;
        Appended {
            base_offset,
            log_append_time_ms: stamps_records.then_some(append_time_ms),
            log_start: self.shared.log_start(),
        }
    }

    /// Notes that a batch takes the next `count` offsets.
    fn decided(&mut self, header: &BatchHeader, count: u32, stamp: i64, index: LogIndex) {
        let base_offset = self.next_offset;
        self.next_offset = base_offset.plus(i64::from(count));
        self.shared.set_decided_end(self.next_offset);
        self.producers.decided(header, base_offset, stamp, index);
    }
}

/// What a decided part waits for.
struct Decided {
    result: Appended,
    index: LogIndex,
    synced: bool,
}

impl Owner {
    pub(super) fn decide_append(&mut self, append: AppendProposal) {
        self.deferred.push_back(append);
        self.retry_deferred();
    }

    /// Decides what waits for log space, in order, as far as there is some now. What waits only
    /// for the next spare file, or for its turn, stays; on a full device it is refused.
    pub(super) fn retry_deferred(&mut self) {
        while self.outbox.len() < OWNER_DECIDE_MAX
            && let Some(append) = self.deferred.pop_front()
        {
            let needed = space_of(&append);
            let most = REQUEST_ENTRIES_MAX * self.config.entry_bytes_max as u64;
            if needed > most {
                // It would wait for ever, and everybody behind it.
                append.fail(&too_large(needed, most));
            } else if needed <= self.room_bytes && self.pace.admits() {
                self.pace.take(needed);
                self.append_now(append);
            } else if needed > self.room_bytes && self.log.is_full() {
                append.fail(&AppendError::Full);
            } else {
                self.deferred.push_front(append);
                break;
            }
        }
    }

    /// Log space is counted once a step: what other threads do meanwhile only adds to it.
    pub(super) fn measure_room(&mut self) {
        let free = self
            .log
            .room_bytes(SPARES_RESERVED)
            .saturating_sub(self.reserved_bytes);
        let bound = self.unsealed_bytes_max();
        let unsealed = self
            .unsealed_bytes()
            .max(self.unsealed_batches_as_bytes(bound));
        self.pace.advance(
            self.clock.monotonic(),
            unsealed + self.reserved_bytes,
            bound,
        );
        let too_much = unsealed > bound;
        self.room_bytes = if too_much { 0 } else { free };
        let all = self.log.room_bytes(SPARES_FOR_RECOVERY);
        self.metadata_room_bytes = all.saturating_sub(self.reserved_bytes);
    }

    fn append_now(&mut self, append: AppendProposal) {
        let stamp = self.stamp();
        let mut results = AppendResults::with_capacity(append.parts.len());
        let (mut written, mut synced) = (None, None);
        for part in append.parts {
            let decided = self.decide_part(part, stamp);
            if let Ok(decided) = &decided {
                let wait = if decided.synced {
                    &mut synced
                } else {
                    &mut written
                };
                *wait = (*wait).max(Some(decided.index));
            }
            results.push(decided.map(|d| d.result));
        }
        let then = Then::Append {
            results,
            reply: append.reply,
            permit: append.permit,
        };
        match (synced, written) {
            (Some(index), also) => self.on_synced.push(index.max(also.unwrap_or(index)), then),
            (None, Some(index)) => self.on_written.push(index, then),
            (None, None) => then.done(),
        }
    }

    fn decide_part(&mut self, part: AppendPart, stamp: i64) -> Result<Decided, AppendError> {
        match self.judge(&part, stamp)? {
            Verdict::Append => Ok(self.append_batch(part, stamp)),
            Verdict::Duplicate {
                base_offset,
                append_time_ms,
                index,
            } => {
                // Never before the original: what is applied is synced.
                let index = match index {
                    Some(index) if !mutant::is(Mutant::EarlyDuplicate) => index,
                    _ => self.applied.index[1],
                };
                let state = &self.applied.partitions[&part.partition];
                Ok(Decided {
                    result: state.appended(base_offset, append_time_ms),
                    index,
                    synced: true,
                })
            }
        }
    }

    /// Whether the batch may be appended, or is here already.
    fn judge(&self, part: &AppendPart, stamp: i64) -> Result<Verdict, AppendError> {
        let state = self.applied.partitions.get(&part.partition);
        let state = state
            .filter(|s| !s.deleting)
            .ok_or(AppendError::UnknownPartition)?;
        if state.shared.is_damaged() {
            return Err(AppendError::Damaged);
        }
        let (bytes, bytes_max) = (part.batch.total_bytes(), self.config.entry_bytes_max);
        if bytes > bytes_max {
            return Err(AppendError::TooLarge { bytes, bytes_max });
        }
        let expiration_ms = self.config.producer_expiration_ms;
        Ok(state
            .producers
            .check(&part.batch.header, stamp, expiration_ms)?)
    }

    /// Gives a batch its offset and proposes it. It was judged in this step.
    fn append_batch(&mut self, part: AppendPart, stamp: i64) -> Decided {
        let AppendPart {
            partition,
            batch,
            origin,
        } = part;
        let next_index = self.next_index[1];
        let leader_epoch = self.applied.metadata.leader_epoch();
        let Some(state) = self.applied.partitions.get_mut(&partition) else {
            // PANIC: judging found it, and nothing is applied in between.
            panic!("partition {partition} is gone within a step");
        };
        let base_offset = state.next_offset;
        let result = state.appended(base_offset, stamp);
        let synced = state.settings.durability == Durability::Sync;
        let head = batch.seal(base_offset, leader_epoch, result.log_append_time_ms);
        let count = u32::try_from(batch.header.count).unwrap_or(0);
        state.decided(&batch.header, count, stamp, next_index);
        let header = BatchHeader {
            base_offset,
            leader_epoch,
            ..batch.header
        };
        let draft = Draft {
            shard: SHARED_SHARD,
            kind: log::Kind::Records,
            origin,
            partition,
            base_offset,
            count,
            append_time_ms: stamp,
            max_timestamp_ms: result.log_append_time_ms.unwrap_or(header.max_timestamp_ms),
            sync_within: state.sync_within(count),
            payload: Payload::from_parts(&head, batch.body, batch.body_crc),
        };
        let index = self.propose(draft, Effect::Records(header));
        debug_assert_eq!(index, next_index);
        Decided {
            result,
            index,
            synced,
        }
    }
}

/// Log space that a request may take.
fn space_of(append: &AppendProposal) -> u64 {
    append
        .parts
        .iter()
        .map(|part| space::reservation(part.batch.total_bytes()))
        .sum()
}

fn too_large(bytes: u64, bytes_max: u64) -> AppendError {
    let number = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
    AppendError::TooLarge {
        bytes: number(bytes),
        bytes_max: number(bytes_max),
    }
}

impl AppendProposal {
    /// Answers every part with the same error.
    pub(super) fn fail(self, error: &AppendError) {
        let results = self.parts.iter().map(|_| Err(error.clone())).collect();
        send(self.reply, results);
    }

    /// Answers that the node takes no more changes.
    pub(super) fn refuse(self) {
        self.fail(&AppendError::Stopped(Stopped));
    }
}

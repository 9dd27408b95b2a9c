//! Deciding appends: offset, duplicate, time.

use log::Payload;
use log::mutant::{self, Mutant};
use record::TimestampType;
use types::LogIndex;
use types::limits::{OWNER_DECIDE_MAX, REQUEST_ENTRIES_MAX, SPARES_FOR_RECOVERY, SPARES_RESERVED};

use super::flight::{Effect, Then, send};
use super::proposal::{AppendPart, AppendProposal, AppendResults, Appended};
use super::state::SHARED_SHARD;
use super::{Draft, Owner, space};
use crate::error::{AppendError, Stopped};
use crate::producer::Verdict;
use crate::topic_config::Durability;

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
    /// for the next spare file stays; on a full device it is refused.
    pub(super) fn retry_deferred(&mut self) {
        while self.outbox.len() < OWNER_DECIDE_MAX
            && let Some(append) = self.deferred.pop_front()
        {
            let needed = space_of(&append);
            let most = REQUEST_ENTRIES_MAX * self.config.entry_bytes_max as u64;
            if needed > most {
                // It would wait for ever, and everybody behind it.
                append.fail(&too_large(needed, most));
            } else if needed <= self.room_bytes {
                self.append_now(append);
            } else if self.log.is_full() {
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
        let too_much = self.unsealed_bytes() > self.config.unsealed_bytes_max;
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
        let AppendPart {
            partition: id,
            batch,
            origin,
        } = part;
        let applied_index = self.applied.index[1];
        let next_index = self.next_index[1];
        let state = self.applied.partitions.get_mut(&id);
        let state = state
            .filter(|s| !s.deleting)
            .ok_or(AppendError::UnknownPartition)?;
        if state.shared.is_damaged() {
            return Err(AppendError::Damaged);
        }
        if batch.total_bytes() > self.config.entry_bytes_max {
            let (bytes, bytes_max) = (batch.total_bytes(), self.config.entry_bytes_max);
            return Err(AppendError::TooLarge { bytes, bytes_max });
        }
        let log_start = state.shared.log_start();
        let settings = &state.settings;
        let synced = settings.durability == Durability::Sync;
        let stamps_records = settings.timestamp_type == TimestampType::LogAppendTime;
        let expiration_ms = self.config.producer_expiration_ms;
        let verdict = state.producers.check(&batch.header, stamp, expiration_ms)?;
        if let Verdict::Duplicate {
            base_offset,
            append_time_ms,
            index,
        } = verdict
        {
            let log_append_time_ms = stamps_records.then_some(append_time_ms);
            let result = Appended {
                base_offset,
                log_append_time_ms,
                log_start,
            };
            // Never before the original: what is applied is synced.
            let index = match index {
                Some(index) if !mutant::is(Mutant::EarlyDuplicate) => index,
                _ => applied_index,
            };
            return Ok(Decided {
                result,
                index,
                synced: true,
            });
        }
        let base_offset = state.next_offset;
        let log_append_time_ms = stamps_records.then_some(stamp);
        let epoch = self.applied.metadata.leader_epoch();
        let head = batch.seal(base_offset, epoch, log_append_time_ms);
        let count = u32::try_from(batch.header.count).unwrap_or(0);
        state.next_offset = base_offset.plus(i64::from(count));
        state.shared.set_decided_end(state.next_offset);
        state
            .producers
            .decided(&batch.header, base_offset, stamp, next_index);
        let sync_within = state.sync_within(count);
        let mut header = batch.header;
        header.base_offset = base_offset;
        header.leader_epoch = epoch;
        let max_timestamp_ms = log_append_time_ms.unwrap_or(header.max_timestamp_ms);
        let draft = Draft {
            shard: SHARED_SHARD,
            kind: log::Kind::Records,
            origin,
            partition: id,
            base_offset,
            count,
            append_time_ms: stamp,
            max_timestamp_ms,
            payload: Payload::from_parts(&head, batch.body, batch.body_crc),
            sync_within,
        };
        let index = self.propose(draft, Effect::Records(header));
        debug_assert_eq!(index, next_index);
        Ok(Decided {
            result: Appended {
                base_offset,
                log_append_time_ms,
                log_start,
            },
            index,
            synced,
        })
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

//! The idempotent producers of one partition.

use std::collections::BTreeMap;

use log::EntryHeader;
use record::BatchHeader;
use serde::{Deserialize, Serialize};
use types::limits::PRODUCERS_PER_PARTITION_MAX;
use types::{LogIndex, Offset, ProducerEpoch, ProducerId, Sequence};

use super::ProducerError;
use super::batches::{Batches, KeptBatch};
use super::pending::Pending;
use crate::stored;

/// Version of the encoding, its first byte.
const VERSION: u8 = 1;

/// What is to be done with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is new.
    Append,
    /// It is here already: answer as the first time, and not earlier.
    Duplicate {
        /// Offset of the original's first record.
        base_offset: Offset,
        /// When the original was decided: the log append time where the topic has that.
        append_time_ms: i64,
        /// Where the original stands in the log, as long as it is not applied: it must be synced
        /// before the copy is answered.
        index: Option<LogIndex>,
    },
}

/// The idempotent producers of one partition. Two empty maps for a partition that has none.
///
/// What is known of a producer outlives its records: were it forgotten when they are trimmed, a
/// batch behind a refused one would be taken, and the refused one never again (KIP-360).
#[derive(Clone, Debug, Default)]
pub struct ProducerStates {
    applied: BTreeMap<ProducerId, Batches>,
    pending: BTreeMap<ProducerId, Pending>,
}

impl ProducerStates {
    /// Judges a batch by what is decided. A producer that sent nothing for longer than
    /// `expiration_ms` before `now_ms` counts as unknown, and of an unknown one any sequence
    /// number is taken. Batches without a producer id are always new.
    ///
    /// # Errors
    ///
    /// The epoch is old, or the sequence number is not the next one.
    pub fn check(
        &self,
        header: &BatchHeader,
        now_ms: i64,
        expiration_ms: i64,
    ) -> Result<Verdict, ProducerError> {
        let pending = self.pending.get(&header.producer_id);
        let expired =
            |batches: &&Batches| now_ms.saturating_sub(batches.last_append_ms()) > expiration_ms;
        let applied = || {
            self.applied
                .get(&header.producer_id)
                .filter(|b| !expired(b))
        };
        let Some(batches) = pending.map(|p| &p.batches).or_else(applied) else {
            return Ok(Verdict::Append);
        };
        if let Some(original) = batches.original(header, expiration_ms) {
            return Ok(Verdict::Duplicate {
                base_offset: original.base_offset,
                append_time_ms: original.append_time_ms,
                index: pending.and_then(|p| p.index_of(original.base_offset)),
            });
        }
        batches.check_next(header).map(|()| Verdict::Append)
    }

    /// Notes a batch that was decided: its offset, time and place in the log.
    pub fn decided(
        &mut self,
        header: &BatchHeader,
        base_offset: Offset,
        append_time_ms: i64,
        index: LogIndex,
    ) {
        let id = header.producer_id;
        if id < ProducerId(0) {
            return;
        }
        let epoch = header.producer_epoch;
        let batch = KeptBatch::new(header, base_offset, append_time_ms);
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.push(epoch, batch, index);
            return;
        }
        let pending = match self.applied.get(&id) {
            Some(batches) => {
                let mut pending = Pending::new(batches.clone());
                pending.push(epoch, batch, index);
                pending
            }
            None => {
                let mut pending = Pending::new(Batches::new(epoch, batch));
                pending.enqueue(base_offset, index);
                pending
            }
        };
        self.pending.insert(id, pending);
    }

    /// Carries out the entry of a batch.
    pub fn apply(&mut self, header: &BatchHeader, entry: &EntryHeader) {
        let id = header.producer_id;
        if id < ProducerId(0) {
            return;
        }
        let batch = KeptBatch::new(header, entry.base_offset, entry.append_time_ms);
        self.push(id, header.producer_epoch, batch);
        if self
            .pending
            .get_mut(&id)
            .is_some_and(|p| p.applied(entry.base_offset))
        {
            self.pending.remove(&id);
        }
    }

    fn push(&mut self, id: ProducerId, epoch: ProducerEpoch, batch: KeptBatch) {
        if let Some(batches) = self.applied.get_mut(&id) {
            batches.push(epoch, batch);
            return;
        }
        if self.applied.len() >= PRODUCERS_PER_PARTITION_MAX {
            self.evict();
        }
        self.applied.insert(id, Batches::new(epoch, batch));
    }

    /// Makes room for new producers by forgetting the eighth that was silent longest.
    fn evict(&mut self) {
        let mut silent: Vec<_> = self
            .applied
            .iter()
            .map(|(id, batches)| (batches.last_append_ms(), *id))
            .collect();
        let count = silent.len().div_ceil(8).min(silent.len());
        if count < silent.len() {
            silent.select_nth_unstable(count);
        }
        for (_, id) in silent.into_iter().take(count) {
            self.applied.remove(&id);
        }
    }

    /// Drops what is decided and will never be applied.
    pub fn drop_pending(&mut self) {
        self.pending = BTreeMap::new();
    }

    /// Forgets producers that appended nothing since `before_ms` and have nothing under way, to give
    /// their memory back. As long as `before_ms` is the expiration before a stamp it changes no
    /// answer: [`check`](Self::check) does not count what is forgotten, whether or not it is kept.
    pub fn expire(&mut self, before_ms: i64) {
        let pending = &self.pending;
        self.applied.retain(|id, batches| {
            batches.last_append_ms() >= before_ms || pending.contains_key(id)
        });
    }

    /// How many producers are known by what is applied.
    #[must_use]
    pub fn len(&self) -> usize {
        self.applied.len()
    }

    /// Whether no producer is known by what is applied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.applied.is_empty()
    }

    /// The bytes of what is applied.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let rows: Vec<_> = self
            .applied
            .iter()
            .map(|(id, b)| ProducerRow::of(*id, b))
            .collect();
        stored::encode(VERSION, &rows)
    }

    /// `None` when the bytes are not producers.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let rows: Vec<ProducerRow> = stored::decode(VERSION, bytes)?;
        let pairs = rows.into_iter().map(ProducerRow::batches);
        let applied = pairs.collect::<Option<BTreeMap<_, _>>>()?;
        Some(Self {
            applied,
            pending: BTreeMap::new(),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct ProducerRow {
    id: i64,
    epoch: i16,
    batches: Vec<BatchRow>,
}

#[derive(Serialize, Deserialize)]
struct BatchRow {
    first: i32,
    last: i32,
    base_offset: i64,
    append_time_ms: i64,
}

impl ProducerRow {
    fn of(id: ProducerId, batches: &Batches) -> Self {
        let row = |batch: &KeptBatch| BatchRow {
            first: batch.first.0,
            last: batch.last.0,
            base_offset: batch.base_offset.0,
            append_time_ms: batch.append_time_ms,
        };
        let kept = batches.kept().iter().map(row).collect();
        Self {
            id: id.0,
            epoch: batches.epoch.0,
            batches: kept,
        }
    }

    fn batches(self) -> Option<(ProducerId, Batches)> {
        let kept = self.batches.into_iter().map(|row| KeptBatch {
            first: Sequence(row.first),
            last: Sequence(row.last),
            base_offset: Offset(row.base_offset),
            append_time_ms: row.append_time_ms,
        });
        let batches = Batches::from_kept(ProducerEpoch(self.epoch), kept)?;
        Some((ProducerId(self.id), batches))
    }
}

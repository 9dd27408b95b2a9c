//! The epochs of one partition.

use types::{LeaderEpoch, Offset};

use crate::stored;

/// Version of the encoding, its first byte.
const VERSION: u8 = 1;

/// The leader epochs of a partition's records and where each begins. Epochs and offsets both grow
/// strictly from entry to entry. Nothing is allocated for a partition that has no records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochHistory {
    entries: Vec<Start>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    epoch: LeaderEpoch,
    offset: Offset,
}

impl EpochHistory {
    /// Notes that records from `base_offset` on were appended under `epoch`. What is known already
    /// changes nothing.
    pub fn append(&mut self, epoch: LeaderEpoch, base_offset: Offset) {
        if self.entries.last().is_some_and(|last| last.epoch >= epoch) {
            return;
        }
        // An epoch that begins where the one before began leaves it without records.
        while self
            .entries
            .pop_if(|last| last.offset >= base_offset)
            .is_some()
        {}
        self.entries.push(Start {
            epoch,
            offset: base_offset,
        });
    }

    /// The largest epoch not above `requested`, and the offset where its records end
    /// (`OffsetForLeaderEpoch`). `current` is the leader's epoch, which ends at `log_end` and counts
    /// even before its first record. An epoch that is older than all records ends where they begin.
    /// `None` for an epoch that the leader has not reached.
    #[must_use]
    pub fn end_offset_for(
        &self,
        requested: LeaderEpoch,
        current: LeaderEpoch,
        log_end: Offset,
    ) -> Option<(LeaderEpoch, Offset)> {
        if requested < LeaderEpoch(0) || requested > current {
            return None;
        }
        if requested == current {
            return Some((current, log_end));
        }
        let later = self
            .entries
            .partition_point(|start| start.epoch <= requested);
        let end = self
            .entries
            .get(later)
            .map_or(log_end, |start| start.offset);
        let epoch = self
            .entries
            .get(..later)
            .and_then(<[Start]>::last)
            .map(|start| start.epoch);
        Some((epoch.unwrap_or(requested), end))
    }

    /// The epoch under which the record at `offset` was appended.
    #[must_use]
    pub fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        let later = self.entries.partition_point(|start| start.offset <= offset);
        self.entries.get(..later)?.last().map(|start| start.epoch)
    }

    /// Forgets epochs whose records all lie below the new log start. The last one is kept.
    pub fn trim(&mut self, log_start: Offset) {
        let later = self
            .entries
            .partition_point(|start| start.offset <= log_start);
        self.entries.drain(..later.saturating_sub(1));
        if let Some(first) = self.entries.first_mut() {
            first.offset = first.offset.max(log_start);
        }
    }

    /// The history's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let entries: Vec<_> = self
            .entries
            .iter()
            .map(|s| (s.epoch.0, s.offset.0))
            .collect();
        stored::encode(VERSION, &entries)
    }

    /// `None` when the bytes are not a history.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let entries: Vec<(i32, i64)> = stored::decode(VERSION, bytes)?;
        let starts = entries.into_iter();
        let entries: Vec<_> = starts
            .map(|(epoch, offset)| Start {
                epoch: LeaderEpoch(epoch),
                offset: Offset(offset),
            })
            .collect();
        let grows = |a: &Start, b: &Start| a.epoch < b.epoch && a.offset < b.offset;
        entries.is_sorted_by(grows).then_some(Self { entries })
    }
}

//! The index of one partition.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;
use types::{FileSequence, Offset, SegmentId};

use super::part::{BatchRef, LogPart, Run, SegmentPart};
use crate::file::LogFile;

/// What left an index, for those who count what is alive in files and segments.
#[derive(Debug, Default)]
pub struct Dropped {
    /// Batches by log file.
    pub batches: SmallVec<[(FileSequence, u64); 2]>,
    /// Segments that hold nothing of the partition any more.
    pub segments: SmallVec<[SegmentId; 2]>,
}

/// All that is stored of a partition, in offset order: sealed segments first, then log files.
///
/// Only what is applied is here, so whatever a reader finds is synced.
#[derive(Debug, Default)]
pub struct PartitionIndex {
    sealed: VecDeque<SegmentPart>,
    unsealed: VecDeque<LogPart>,
    bytes: u64,
}

impl PartitionIndex {
    /// Adds a batch that was written after all others.
    pub fn push(&mut self, file: &Arc<LogFile>, batch: BatchRef) {
        debug_assert!(self.end_offset().is_none_or(|end| end <= batch.base_offset));
        self.bytes += u64::from(batch.bytes);
        match self.unsealed.back_mut() {
            Some(part) if part.file.sequence == file.sequence => part.batches.push_back(batch),
            _ => self.unsealed.push_back(LogPart {
                file: Arc::clone(file),
                batches: VecDeque::from([batch]),
            }),
        }
    }

    /// Adds a segment whose log file is not in the index (from a checkpoint row).
    ///
    /// It is the last one, but in a replay: the checkpoint may know of a later one while it knows no
    /// more of this one, which was dropped meanwhile.
    pub fn push_segment(&mut self, part: SegmentPart) {
        self.bytes += part.run.bytes;
        let first = part.run.first_offset;
        let at = self
            .sealed
            .partition_point(|other| other.run.first_offset < first);
        self.sealed.insert(at, part);
    }

    /// Puts a segment in the place of the log file that it was made of, and gives what that file
    /// had here. What lies below `log_start` is left out: false when that is all of it.
    pub fn seal(
        &mut self,
        file: FileSequence,
        part: SegmentPart,
        log_start: Offset,
    ) -> (bool, Option<LogPart>) {
        let old = self.unsealed.pop_front_if(|p| p.file.sequence == file);
        self.bytes -= old.as_ref().map_or(0, LogPart::bytes);
        let live = part.run.end_offset > log_start;
        if live {
            self.push_segment(part);
        }
        (live, old)
    }

    /// Drops the parts that lie wholly below `log_start`.
    pub fn trim(&mut self, log_start: Offset) -> Dropped {
        let mut dropped = Dropped::default();
        while let Some(part) = self.sealed.pop_front_if(|p| p.run.end_offset <= log_start) {
            self.bytes -= part.run.bytes;
            dropped.segments.push(part.segment.id());
        }
        while let Some(part) = self.unsealed.front_mut() {
            let (mut batches, mut bytes) = (0, 0);
            while let Some(batch) = part.batches.pop_front_if(|b| b.end_offset() <= log_start) {
                batches += 1;
                bytes += u64::from(batch.bytes);
            }
            self.bytes -= bytes;
            if batches > 0 {
                dropped.batches.push((part.file.sequence, batches));
            }
            if !part.batches.is_empty() {
                break;
            }
            self.unsealed.pop_front();
        }
        dropped
    }

    /// Drops everything.
    pub fn clear(&mut self) -> Dropped {
        self.trim(Offset(i64::MAX))
    }

    /// Forgets a segment (its data was dropped or lies elsewhere now).
    pub fn remove_segment(&mut self, segment: SegmentId) {
        let bytes = &mut self.bytes;
        self.sealed.retain(|part| {
            let keep = part.segment.id() != segment;
            if !keep {
                *bytes -= part.run.bytes;
            }
            keep
        });
    }

    /// Stored bytes, dead ones in the first segment included.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The offset after the last batch.
    #[must_use]
    pub fn end_offset(&self) -> Option<Offset> {
        let unsealed = self.unsealed.back().and_then(|p| p.batches.back());
        match unsealed {
            Some(batch) => Some(batch.end_offset()),
            None => self.sealed.back().map(|p| p.run.end_offset),
        }
    }

    /// The segment that holds `offset`, or the first one after it; `None` when that is not sealed.
    #[must_use]
    pub fn segment_at(&self, offset: Offset) -> Option<&SegmentPart> {
        let at = self.sealed.partition_point(|p| p.run.end_offset <= offset);
        self.sealed.get(at)
    }

    /// The batches in log files that hold `offset` or come after it, with their files.
    pub fn batches_from(
        &self,
        offset: Offset,
    ) -> impl Iterator<Item = (&Arc<LogFile>, &BatchRef)> + '_ {
        let is_before = |p: &LogPart| p.batches.back().is_none_or(|b| b.end_offset() <= offset);
        let first = self.unsealed.partition_point(is_before);
        self.unsealed.iter().skip(first).flat_map(move |part| {
            let from = part.batches.partition_point(|b| b.end_offset() <= offset);
            part.batches
                .range(from..)
                .map(move |batch| (&part.file, batch))
        })
    }

    /// Segments in offset order.
    pub fn segments(&self) -> impl Iterator<Item = &SegmentPart> {
        self.sealed.iter()
    }

    /// Stretches in offset order: one per segment, one per unsealed batch.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let sealed = self.sealed.iter().map(|part| part.run);
        sealed.chain(
            self.unsealed
                .iter()
                .flat_map(|p| p.batches.iter().map(Run::from)),
        )
    }

    /// When the oldest batch in a log file was decided, if that file is the last one here.
    #[must_use]
    pub fn oldest_in(&self, file: FileSequence) -> Option<i64> {
        let last = self.unsealed.back()?;
        let oldest = last.batches.front()?;
        (last.file.sequence == file).then_some(oldest.append_time_ms)
    }
}

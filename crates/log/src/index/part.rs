//! The pieces that a partition is made of.

use std::collections::VecDeque;
use std::sync::Arc;

use types::Offset;

use crate::file::LogFile;
use crate::segment::Segment;

/// A batch in a log file. 40 bytes, one for each batch that is not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRef {
    /// Its first offset.
    pub base_offset: Offset,
    /// Byte of the file where it starts.
    pub position: u64,
    /// Its length.
    pub bytes: u32,
    /// Offsets that it takes.
    pub count: u32,
    /// When the broker decided it.
    pub append_time_ms: i64,
    /// Largest record timestamp.
    pub max_timestamp_ms: i64,
}

impl BatchRef {
    /// The offset after the batch.
    #[must_use]
    pub fn end_offset(&self) -> Offset {
        self.base_offset.plus(i64::from(self.count))
    }
}

/// The batches of a partition in one log file, in offset order.
#[derive(Debug)]
pub struct LogPart {
    /// The file; holding it keeps it from being reused.
    pub file: Arc<LogFile>,
    /// The batches.
    pub batches: VecDeque<BatchRef>,
}

impl LogPart {
    /// Bytes of the batches.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.batches
            .iter()
            .map(|batch| u64::from(batch.bytes))
            .sum()
    }
}

/// The batches of a partition in one segment; where each one is stands in the segment's footer.
#[derive(Clone, Debug)]
pub struct SegmentPart {
    /// The segment.
    pub segment: Arc<Segment>,
    /// What of the partition it holds.
    pub run: Run,
}

/// A stretch of a partition, as retention sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First offset.
    pub first_offset: Offset,
    /// The offset after the last.
    pub end_offset: Offset,
    /// Bytes of its batches.
    pub bytes: u64,
    /// When the broker decided the last batch.
    pub last_append_time_ms: i64,
    /// Largest record timestamp.
    pub max_timestamp_ms: i64,
}

impl From<&BatchRef> for Run {
    fn from(batch: &BatchRef) -> Self {
        Self {
            first_offset: batch.base_offset,
            end_offset: batch.end_offset(),
            bytes: u64::from(batch.bytes),
            last_append_time_ms: batch.append_time_ms,
            max_timestamp_ms: batch.max_timestamp_ms,
        }
    }
}

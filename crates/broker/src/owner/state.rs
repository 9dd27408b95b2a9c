//! What the owner keeps for each partition, file and segment.

use std::collections::BTreeMap;
use std::sync::Arc;

use log::file::LogFile;
use log::segment::Segment;
use types::{FileSequence, LogIndex, Offset, PartitionId, SegmentId, ShardId};

use crate::partition::Partition;
use crate::producer::ProducerStates;
use crate::topic_config::TopicSettings;

/// The shard of the node itself: swaps, clean stops.
pub(crate) const NODE_SHARD: ShardId = ShardId(0);
/// The shard of everything shared.
pub(crate) const SHARED_SHARD: ShardId = ShardId(1);

/// The owner's side of a partition.
#[derive(Debug)]
pub(crate) struct PartitionState {
    /// The readers' side, which apply changes.
    pub(crate) shared: Arc<Partition>,
    /// The offset of the next record to be decided.
    pub(crate) next_offset: Offset,
    /// The log start once everything decided is applied.
    pub(crate) next_log_start: Offset,
    /// Idempotent producers.
    pub(crate) producers: ProducerStates,
    /// Settings of its topic.
    pub(crate) settings: Arc<TopicSettings>,
    /// Its topic's deletion is decided.
    pub(crate) deleting: bool,
    /// The log index that its checkpoint row stood at; older entries are in it already.
    pub(crate) row_index: LogIndex,
}

impl PartitionState {
    pub(crate) fn new(shared: Arc<Partition>, settings: Arc<TopicSettings>) -> Self {
        Self {
            shared,
            next_offset: Offset::ZERO,
            next_log_start: Offset::ZERO,
            producers: ProducerStates::default(),
            settings,
            deleting: false,
            row_index: LogIndex(0),
        }
    }
}

/// A log file that is not sealed.
#[derive(Debug)]
pub(crate) struct FileState {
    pub(crate) file: Arc<LogFile>,
    /// Where its frames end, once they do.
    pub(crate) end: Option<u64>,
    /// Batches in it that somebody may read.
    pub(crate) live_batches: u64,
    /// A job is making a segment of it.
    pub(crate) sealing: bool,
}

/// A segment of the node.
#[derive(Debug)]
pub(crate) struct SegmentState {
    pub(crate) segment: Arc<Segment>,
    /// Partitions that have live records in it.
    pub(crate) live_rows: usize,
    /// Its removal is decided.
    pub(crate) dropping: bool,
}

/// Applied state that is not a partition's own.
#[derive(Debug, Default)]
pub(crate) struct Storage {
    /// Unsealed files, oldest first.
    pub(crate) files: BTreeMap<FileSequence, FileState>,
    /// Segments by number.
    pub(crate) segments: BTreeMap<SegmentId, SegmentState>,
    /// The next segment number.
    pub(crate) next_segment: SegmentId,
}

/// The partitions by number.
pub(crate) type Partitions = BTreeMap<PartitionId, PartitionState>;

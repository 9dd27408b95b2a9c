//! What the owner keeps for each partition, file and segment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use log::file::LogFile;
use log::segment::{FooterDraft, Segment};
use types::limits::UNSYNCED_MS_MAX;
use types::{FileSequence, LogIndex, Offset, PartitionId, SegmentId, ShardId};

use crate::partition::Partition;
use crate::producer::ProducerStates;
use crate::topic_config::{Durability, TopicSettings};

/// The shard of the node itself: swaps.
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
    /// Records of an async topic since one was to be synced at once (`flush.messages`).
    pub(crate) unflushed_count: i64,
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
            unflushed_count: 0,
            deleting: false,
            row_index: LogIndex(0),
        }
    }
}

impl PartitionState {
    /// How long a batch of `count` records may stay unsynced.
    pub(crate) fn sync_within(&mut self, count: u32) -> Duration {
        self.unflushed_count += i64::from(count);
        let at_once = self.settings.durability == Durability::Sync
            || self.unflushed_count >= self.settings.flush_messages
            || self.shared.has_waiters();
        if at_once {
            self.unflushed_count = 0;
            return Duration::ZERO;
        }
        let flush_ms = u64::try_from(self.settings.flush_ms).unwrap_or(0);
        Duration::from_millis(flush_ms.min(UNSYNCED_MS_MAX))
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
    /// It cannot be sealed: it goes once nothing in it lives.
    pub(crate) unsealable: bool,
    /// What a footer of it needs, if all of it was written in this life and it ended.
    pub(crate) draft: Option<Box<FooterDraft>>,
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
    /// Segments by the log files that they were made of.
    pub(crate) by_file: BTreeMap<FileSequence, SegmentId>,
    /// The next segment number.
    pub(crate) next_segment: SegmentId,
}

/// The partitions by number.
pub(crate) type Partitions = BTreeMap<PartitionId, PartitionState>;

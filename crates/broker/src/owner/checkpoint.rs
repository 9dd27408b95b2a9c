//! Checkpoints: the owner hands its state over in slices while it goes on.

use std::ops::Bound;
use std::time::Duration;

use log::background::Job;
use log::checkpoint::{CheckpointHeader, ReplayPosition, Row, RowKey, ShardStart, kind};
use log::mutant::{self, Mutant};
use types::limits::{
    CHECKPOINT_PAUSE_MS, CHECKPOINT_ROWS_BYTES_MAX, CHECKPOINT_ROWS_MAX,
    CHECKPOINT_SLICES_WAITING_MAX, CHECKPOINTS_KEPT,
};
use types::{FileSequence, FrameNumber, LogIndex, PartitionId, SegmentId, ShardId, TopicId};

use super::state::{NODE_SHARD, PartitionState, SHARED_SHARD};
use super::{Applied, Owner, TERM};
use crate::metadata::{NodeRow, TopicRow};
use crate::partition_row::PartitionRow;

/// Between checkpoints that are only to set something free.
const PAUSE: Duration = Duration::from_millis(CHECKPOINT_PAUSE_MS);

/// What a kept checkpoint still needs.
#[derive(Clone, Debug)]
pub(crate) struct KeptCheckpoint {
    pub(crate) number: u64,
    pub(crate) first_file: FileSequence,
    pub(crate) applied: [LogIndex; 2],
}

/// The last two checkpoints, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Vec<KeptCheckpoint>);

impl KeptCheckpoint {
    /// What a checkpoint with this header needs.
    pub(crate) fn of(header: &CheckpointHeader) -> Self {
        let mut applied = [LogIndex(0); 2];
        for shard in &header.shards {
            if let Some(index) = applied.get_mut(usize::from(shard.shard.0)) {
                *index = shard.applied;
            }
        }
        Self {
            number: header.number,
            first_file: header.replay.sequence,
            applied,
        }
    }
}

impl Kept {
    pub(crate) fn new(kept: Vec<KeptCheckpoint>) -> Self {
        Self(kept)
    }

    fn push(&mut self, checkpoint: KeptCheckpoint) {
        self.0.push(checkpoint);
        if self.0.len() > CHECKPOINTS_KEPT {
            self.0.remove(0);
        }
    }

    fn newest(&self) -> Option<u64> {
        self.0.last().map(|kept| kept.number)
    }

    /// Whether neither checkpoint would replay a file of this sequence.
    pub(crate) fn is_past_file(&self, file: FileSequence) -> bool {
        self.0.iter().all(|kept| kept.first_file > file)
    }

    /// Whether both checkpoints were written after the one with this number.
    pub(crate) fn is_past_checkpoint(&self, number: u64) -> bool {
        self.0.iter().all(|kept| kept.number > number)
    }

    /// Whether both checkpoints hold what this entry did.
    pub(crate) fn is_past(&self, shard: ShardId, index: LogIndex) -> bool {
        self.0
            .iter()
            .all(|kept| kept.applied[usize::from(shard.0)] >= index)
    }
}

/// How far the checkpoint under way has come.
#[derive(Debug)]
enum Cursor {
    Topics(Option<TopicId>),
    Partitions(Option<PartitionId>),
    Segments(Option<SegmentId>),
    Finishing,
}

/// The checkpoint under way, and when the next one is due.
#[derive(Debug)]
pub(crate) struct CheckpointRun {
    kept: Kept,
    next_number: u64,
    running: Option<(KeptCheckpoint, Cursor)>,
    /// So many come without a pause, until this time: what the last life left dead goes even if lives are
    /// short.
    hurried: usize,
    hurried_until: Duration,
    last_end: Duration,
    uncovered_bytes: u64,
    wanted: bool,
}

impl CheckpointRun {
    /// Whether one is being written.
    pub(super) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether there are more slices to hand over.
    pub(super) const fn has_slices(&self) -> bool {
        matches!(&self.running, Some((_, cursor)) if !matches!(cursor, Cursor::Finishing))
    }

    pub(crate) fn new(kept: Kept, next_number: u64, now: Duration) -> Self {
        Self {
            kept,
            next_number,
            running: None,
            hurried: CHECKPOINTS_KEPT,
            hurried_until: now + PAUSE,
            last_end: now,
            uncovered_bytes: 0,
            wanted: false,
        }
    }

    pub(crate) const fn kept(&self) -> &Kept {
        &self.kept
    }
}

impl Owner {
    /// Asks for a checkpoint as soon as one can be begun.
    pub fn want_checkpoint(&mut self) {
        self.checkpoint.wanted = true;
    }

    /// Whether no checkpoint is under way or asked for.
    pub(super) const fn is_checkpoint_idle(&self) -> bool {
        self.checkpoint.running.is_none() && !self.checkpoint.wanted
    }

    pub(super) fn log_bytes_written(&mut self, bytes: u64) {
        self.checkpoint.uncovered_bytes += bytes;
    }

    /// Begins a checkpoint when one is due, or hands over the next slice: true then.
    pub(super) fn advance_checkpoint(&mut self) -> bool {
        if self.jobs.slices() > CHECKPOINT_SLICES_WAITING_MAX {
            return false;
        }
        match self.checkpoint.running.take() {
            None if self.checkpoint_due() => self.begin_checkpoint(),
            None => false,
            Some((kept, cursor)) => {
                let has_slices = !matches!(cursor, Cursor::Finishing);
                let cursor = self.hand_over(cursor);
                self.checkpoint.running = Some((kept, cursor));
                has_slices
            }
        }
    }

    fn checkpoint_due(&self) -> bool {
        let run = &self.checkpoint;
        let now = self.clock.monotonic();
        let hurries = run.hurried > 0 && now < run.hurried_until;
        let may_free = hurries || now >= run.last_end + PAUSE;
        run.wanted
            || run.uncovered_bytes >= self.config.checkpoint_bytes
            || (may_free && self.applied.freed.is_waiting(run.kept()))
    }

    fn begin_checkpoint(&mut self) -> bool {
        // The oldest unsealed file; there is always one that is being written.
        let Some(first) = self.applied.storage.files.values().next() else {
            return false;
        };
        let run = &mut self.checkpoint;
        run.wanted = false;
        run.uncovered_bytes = 0;
        let applied = self.applied.index;
        let kept = KeptCheckpoint {
            number: run.next_number,
            first_file: first.file.sequence,
            applied,
        };
        run.next_number += 1;
        let header = CheckpointHeader {
            number: kept.number,
            directory: self.applied.directory,
            created_ms: self.applied.stamp_ms,
            replay: ReplayPosition {
                sequence: first.file.sequence,
                epoch: first.file.epoch,
                position: 0,
                frame: FrameNumber(0),
            },
            proven: self.synced,
            shards: [NODE_SHARD, SHARED_SHARD]
                .map(|shard| ShardStart {
                    shard,
                    applied: applied[usize::from(shard.0)],
                    term: TERM,
                })
                .to_vec(),
        };
        let previous = run.kept.newest();
        run.running = Some((kept, Cursor::Topics(None)));
        self.jobs.push(Job::CheckpointBegin { header, previous });
        let row = self.applied.node_row();
        self.jobs.push(Job::CheckpointRows(vec![row]));
        true
    }

    fn hand_over(&mut self, cursor: Cursor) -> Cursor {
        let state = &self.applied;
        let (rows, next) = match cursor {
            Cursor::Topics(after) => state.topic_rows(after),
            Cursor::Partitions(after) => state.partition_rows(after),
            Cursor::Segments(after) => state.segment_rows(after),
            Cursor::Finishing => return cursor,
        };
        if !rows.is_empty() {
            self.jobs.push(Job::CheckpointRows(rows));
        }
        if matches!(next, Cursor::Finishing) {
            self.jobs.push(Job::CheckpointEnd);
        }
        next
    }

    pub(super) fn checkpoint_done(&mut self, number: u64) {
        self.checkpoint.last_end = self.clock.monotonic();
        self.checkpoint.hurried = self.checkpoint.hurried.saturating_sub(1);
        if let Some((kept, _)) = self.checkpoint.running.take() {
            assert_eq!(
                kept.number, number,
                "checkpoints end in the order that they began"
            );
            self.checkpoint.kept.push(kept);
        }
    }

    /// Nothing is freed; the next try comes after the usual pause.
    pub(super) fn checkpoint_failed(&mut self) {
        let failed = self.checkpoint.running.take();
        if let Some((kept, _)) = failed.filter(|_| mutant::is(Mutant::FreeAfterFailure)) {
            self.checkpoint.kept.push(kept);
            self.release();
        }
        self.checkpoint.last_end = self.clock.monotonic();
        self.checkpoint.hurried = 0;
        self.upkeep.retry_checkpoint();
    }
}

impl Applied {
    pub(crate) fn node_row(&self) -> Row {
        let value = NodeRow::of(&self.metadata, self.storage.next_segment.0, self.stamp_ms);
        self.row(kind::NODE, RowKey::Number(0), value.encode())
    }

    fn row(&self, kind: u8, key: RowKey, value: Vec<u8>) -> Row {
        Row {
            kind,
            key,
            index: self.index[usize::from(SHARED_SHARD.0)],
            value,
        }
    }

    fn topic_rows(&self, after: Option<TopicId>) -> (Vec<Row>, Cursor) {
        let mut last = None;
        let topics = self.metadata.topics_after(after).take(CHECKPOINT_ROWS_MAX);
        let rows: Vec<_> = topics
            .map(|topic| {
                last = Some(topic.id);
                let key = RowKey::Bytes(topic.id.0.to_vec());
                self.row(kind::TOPIC, key, TopicRow::of(topic).encode())
            })
            .collect();
        let next = last.map_or(Cursor::Partitions(None), |id| Cursor::Topics(Some(id)));
        (rows, next)
    }

    fn partition_rows(&self, after: Option<PartitionId>) -> (Vec<Row>, Cursor) {
        let mut last = None;
        let partitions = self
            .partitions
            .range(lower(after))
            .take(CHECKPOINT_ROWS_MAX);
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for (id, state) in partitions {
            last = Some(*id);
            let key = RowKey::Number(u64::from(id.0));
            let row = self.row(kind::PARTITION, key, partition_row(state).encode());
            bytes += row.value.len();
            rows.push(row);
            // A partition may know thousands of producers.
            if bytes > CHECKPOINT_ROWS_BYTES_MAX {
                break;
            }
        }
        let next = last.map_or(Cursor::Segments(None), |id| Cursor::Partitions(Some(id)));
        (rows, next)
    }

    fn segment_rows(&self, after: Option<SegmentId>) -> (Vec<Row>, Cursor) {
        let Some((id, state)) = self.storage.segments.range(lower(after)).next() else {
            return (Vec::new(), Cursor::Finishing);
        };
        let row = Row {
            kind: kind::SEGMENT,
            key: RowKey::Number(id.0),
            index: self.index[usize::from(NODE_SHARD.0)],
            value: state.segment.info().encode(),
        };
        (vec![row], Cursor::Segments(Some(*id)))
    }
}

fn partition_row(state: &PartitionState) -> PartitionRow {
    let shared = &state.shared;
    PartitionRow {
        topic: shared.topic,
        number: shared.number,
        log_start: shared.log_start(),
        end: match mutant::is(Mutant::CheckpointAhead) {
            true => state.next_offset,
            false => shared.end(),
        },
        damaged: shared.is_damaged(),
        epochs: shared.epochs.read().encode(),
        producers: state.producers.encode(),
    }
}

fn lower<T>(after: Option<T>) -> (Bound<T>, Bound<T>) {
    (
        after.map_or(Bound::Unbounded, Bound::Excluded),
        Bound::Unbounded,
    )
}

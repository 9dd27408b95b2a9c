//! Carrying out entries. The only code that changes applied state; it looks at nothing but state
//! and entry, so that a replay ends where the first run did.

use std::sync::Arc;

use log::file::LogFile;
use log::index::{BatchRef, Dropped, Run, SegmentPart};
use log::segment::{DirectoryRow, Hole, Segment, SegmentInfo, SwapEntry};
use log::{Corruption, EntryHeader, Error};
use record::BatchHeader;
use types::{FileSequence, LogIndex, Offset, PartitionId, SegmentId};

use super::flight::Effect;
use super::space::Freed;
use super::state::{FileState, PartitionState, Partitions, SegmentState, Storage};
use super::{Applied, Gone};
use crate::metadata::{Metadata, MetadataEntry};
use crate::partition::Partition;
use crate::shared::Shared;
use crate::topic::Topic;
use crate::topic_config::{BrokerDefaults, TopicSettings};

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a Arc<LogFile>,
    pub(crate) position: u64,
    pub(crate) bytes: u32,
}

impl Applied {
    /// The state of a node that has nothing.
    pub(crate) fn empty(dir: &log::DataDir, defaults: BrokerDefaults) -> Self {
        Self {
            disk: Arc::clone(&dir.disk),
            root: dir.root.clone(),
            defaults,
            shared: Arc::default(),
            metadata: Metadata::default(),
            partitions: Partitions::default(),
            storage: Storage::default(),
            freed: Freed::default(),
            gone: Gone::default(),
            directory: dir.id,
            index: [LogIndex(0); 2],
            stamp_ms: 0,
        }
    }

    /// The readers' view.
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Carries out an entry.
    ///
    /// # Errors
    /// Only a swap can fail: when the process has no handle left for the segment that it names.
    pub(crate) fn apply(
        &mut self,
        entry: &EntryHeader,
        place: Place<'_>,
        effect: Effect,
    ) -> Result<(), Error> {
        match effect {
            Effect::Records(header) => self.apply_records(entry, place, &header),
            Effect::Trim => self.apply_trim(entry),
            Effect::Metadata(change) => self.apply_metadata(entry, &change),
            Effect::Swap(SwapEntry::Sealed(info)) => self.apply_sealed(info)?,
            Effect::Swap(SwapEntry::Dropped(ids)) => {
                for id in ids {
                    if let Some(state) = self.storage.remove_segment(id) {
                        self.freed.add_segment(state.segment, entry.index);
                    }
                }
            }
            Effect::CleanStop | Effect::Clock => {}
        }
        Ok(())
    }

    fn apply_records(&mut self, entry: &EntryHeader, place: Place<'_>, header: &BatchHeader) {
        let Some(partition) = self.partitions.get_mut(&entry.partition) else {
            return;
        };
        partition.producers.apply(header, entry);
        let end = entry.end_offset();
        partition
            .shared
            .epochs
            .write()
            .append(header.leader_epoch, entry.base_offset);
        partition.next_offset = partition.next_offset.max(end);
        self.index_batch(entry, place);
        let Some(partition) = self.partitions.get_mut(&entry.partition) else {
            return;
        };
        partition.shared.set_decided_end(partition.next_offset);
        partition.shared.set_end(end, u64::from(place.bytes));
    }

    /// Carries out the entry of a batch whose bytes are damaged. It keeps its offsets and its
    /// place: what was confirmed is never cut off.
    pub(crate) fn apply_damaged(&mut self, entry: &EntryHeader, place: Place<'_>, why: Corruption) {
        self.index_batch(entry, place);
        let Some(partition) = self.partitions.get_mut(&entry.partition) else {
            return;
        };
        let end = entry.end_offset().max(partition.shared.end());
        partition.next_offset = partition.next_offset.max(end);
        partition.shared.set_decided_end(partition.next_offset);
        partition.shared.set_end(end, 0);
        partition.shared.add_hole(Hole {
            first_offset: entry.base_offset,
            end_offset: entry.end_offset(),
            is_marked: false,
            corruption: why,
        });
    }

    fn apply_trim(&mut self, entry: &EntryHeader) {
        let log_start = entry.base_offset;
        let Some(partition) = self.partitions.get_mut(&entry.partition) else {
            return;
        };
        if log_start <= partition.shared.log_start() {
            return;
        }
        partition.shared.set_log_start(log_start);
        partition.next_log_start = partition.next_log_start.max(log_start);
        partition.shared.epochs.write().trim(log_start);
        let mut index = partition.shared.index.write();
        let dropped = index.trim(log_start);
        let partly = index.segments().next().map(|part| part.segment.id());
        drop(index);
        for id in dropped.segments.iter().copied().chain(partly) {
            self.freed.add_punchable(id, entry.index);
        }
        self.storage.forget(&dropped);
    }

    fn apply_metadata(&mut self, entry: &EntryHeader, change: &MetadataEntry) {
        match change {
            MetadataEntry::DeleteTopic { id } => self.remove_topic(entry, *id),
            _ => self.metadata.apply(change),
        }
        match change {
            MetadataEntry::CreateTopic { id, .. }
            | MetadataEntry::AddPartitions { id, .. }
            | MetadataEntry::SetTopicConfigs { id, .. } => self.project_topic(*id),
            MetadataEntry::DeleteTopic { .. }
            | MetadataEntry::ProducerIds { .. }
            | MetadataEntry::LeaderEpochBase { .. } => {}
        }
        self.shared.set_leader_epoch(self.metadata.leader_epoch());
    }

    /// Brings the readers' view of a topic, and its partitions, in line with the metadata.
    pub(crate) fn project_topic(&mut self, id: types::TopicId) {
        let Some(topic) = self.metadata.topic(id) else {
            return;
        };
        let settings = Arc::new(TopicSettings::resolve(&topic.configs, &self.defaults));
        let mut views = Vec::with_capacity(topic.partitions.len());
        for (number, partition) in (0..).zip(&topic.partitions) {
            let state = self.partitions.entry(*partition).or_insert_with(|| {
                let shared = Arc::new(Partition::new(*partition, id, number));
                PartitionState::new(shared, Arc::clone(&settings))
            });
            state.settings = Arc::clone(&settings);
            views.push(Arc::clone(&state.shared));
        }
        let view = Topic::new(id, &topic.name, views, settings, topic.configs.clone());
        // Only a replay meets a topic whose name another one has by now.
        let named = self
            .metadata
            .topic_by_name(&view.name)
            .is_some_and(|holder| holder.id == id);
        self.shared.put_topic(Arc::new(view), named);
    }

    fn remove_topic(&mut self, entry: &EntryHeader, id: types::TopicId) {
        let Some(topic) = self.metadata.topic(id) else {
            return;
        };
        let partitions = topic.partitions.clone();
        self.metadata.apply(&MetadataEntry::DeleteTopic { id });
        self.shared.remove_topic(id);
        for id in partitions {
            let Some(partition) = self.partitions.remove(&id) else {
                continue;
            };
            let dropped = partition.shared.index.write().clear();
            partition.shared.set_deleted();
            for segment in &dropped.segments {
                self.freed.add_punchable(*segment, entry.index);
            }
            self.storage.forget(&dropped);
        }
    }

    fn apply_sealed(&mut self, info: SegmentInfo) -> Result<(), Error> {
        if self.storage.segments.contains_key(&info.id) {
            return Ok(());
        }
        let id = info.id;
        let file = self.storage.files.get(&info.data.sequence);
        match file.filter(|state| state.sealing) {
            // This life sealed it, so the file is open and whole.
            Some(state) => {
                let disk = Arc::clone(&self.disk);
                let segment = Segment::of_log_file(disk, &self.root, info, &state.file);
                self.add_segment(Arc::new(segment));
            }
            None => self.open_segment(info)?,
        }
        // What was trimmed or deleted before is in it all the same.
        self.punch_dead_runs(id);
        Ok(())
    }

    /// Opens a segment and puts it into the indexes. What is missing of it is said and keeps
    /// nobody from going on.
    pub(crate) fn open_segment(&mut self, info: SegmentInfo) -> Result<(), Error> {
        let segment = Segment::open_damaged(Arc::clone(&self.disk), &self.root, info)?;
        if let Some(fault) = segment.fault() {
            tracing::error!(
                segment = segment.id().0,
                error = %fault,
                partitions = segment.info().rows.len(),
                "a segment is damaged: its partitions serve what is around it and take no records"
            );
        }
        self.add_segment(Arc::new(segment));
        Ok(())
    }

    /// Puts a segment into the indexes of its partitions, in the place of its log file.
    pub(crate) fn add_segment(&mut self, segment: Arc<Segment>) {
        let file = segment.info().data.sequence;
        let rows = segment.info().rows.iter();
        let live_rows = rows.filter(|row| self.seal_part(&segment, row)).count();
        self.storage.add_segment(segment, file, live_rows);
    }

    /// All that is not sealed is lost.
    pub(crate) fn lose_unsealed(&mut self, why: &Corruption) {
        for state in self.partitions.values() {
            let shared = &state.shared;
            let sealed_end = shared.index.read().end_offset().unwrap_or(Offset::ZERO);
            if sealed_end < shared.end() {
                shared.add_hole(Hole {
                    first_offset: sealed_end.max(shared.log_start()),
                    end_offset: shared.end(),
                    is_marked: false,
                    corruption: why.clone(),
                });
            }
        }
    }

    /// Puts a partition's part of a segment into its index; false when nobody can read it.
    fn seal_part(&mut self, segment: &Arc<Segment>, row: &DirectoryRow) -> bool {
        let Some(partition) = self.partitions.get(&row.partition) else {
            return false;
        };
        let run = Run {
            first_offset: row.first_offset,
            end_offset: row.end_offset,
            bytes: row.stored_bytes,
            last_append_time_ms: row.last_append_time_ms,
            max_timestamp_ms: row.max_timestamp_ms,
        };
        let part = SegmentPart {
            segment: Arc::clone(segment),
            run,
        };
        let log_start = partition.shared.log_start();
        let file = segment.info().data.sequence;
        let (is_live, old) = partition.shared.index.write().seal(file, part, log_start);
        self.gone.parts.extend(old);
        if is_live && let Some(hole) = segment.hole(row.partition) {
            // Of a lost file one event says it: it may have held very many partitions.
            if hole.is_marked {
                tracing::error!(
                    error = %hole.corruption,
                    partition = row.partition.0,
                    first_offset = hole.first_offset.0,
                    end_offset = hole.end_offset.0,
                    "confirmed records are damaged: the partition serves what is around them"
                );
            }
            partition.shared.add_hole(hole);
        }
        is_live
    }

    /// A replay met a batch of a partition that was made after the checkpoint began, in a file that
    /// was sealed before the checkpoint ended: the segment is known, and does not count it yet.
    fn seal_part_late(&mut self, id: SegmentId, partition: PartitionId) {
        let Some(state) = self.storage.segments.get(&id) else {
            return;
        };
        let segment = Arc::clone(&state.segment);
        let is_live = segment
            .row(partition)
            .is_some_and(|row| self.seal_part(&segment, row));
        if let Some(state) = self.storage.segments.get_mut(&id) {
            state.live_rows += usize::from(is_live);
        }
    }
}

impl Applied {
    /// Says where a batch is, if somebody may read it.
    pub(crate) fn index_batch(&mut self, entry: &EntryHeader, place: Place<'_>) {
        let Some(partition) = self.partitions.get_mut(&entry.partition) else {
            return;
        };
        if entry.end_offset() <= partition.shared.log_start() {
            return;
        }
        let mut index = partition.shared.index.write();
        // In a replay, a segment that the checkpoint knows of may hold it already.
        if index
            .end_offset()
            .is_some_and(|end| end > entry.base_offset)
        {
            return;
        }
        if let Some(id) = self.storage.by_file.get(&place.file.sequence).copied() {
            drop(index);
            return self.seal_part_late(id, entry.partition);
        }
        let batch = BatchRef {
            base_offset: entry.base_offset,
            position: place.position,
            bytes: place.bytes,
            count: entry.count,
            append_time_ms: entry.append_time_ms,
            max_timestamp_ms: entry.max_timestamp_ms,
        };
        index.push(place.file, batch);
        drop(index);
        self.storage.file(place.file).live_batches += 1;
    }
}

impl Storage {
    /// The state of a log file; it is new when nothing was said of it before.
    pub(crate) fn file(&mut self, file: &Arc<LogFile>) -> &mut FileState {
        self.files
            .entry(file.sequence)
            .or_insert_with(|| FileState {
                file: Arc::clone(file),
                end: None,
                live_batches: 0,
                unsealable: false,
                sealing: false,
                draft: None,
            })
    }

    /// Like [`file`](Self::file), unless a segment took the file's place.
    pub(crate) fn file_unless_sealed(&mut self, file: &Arc<LogFile>) {
        if !self.by_file.contains_key(&file.sequence) {
            self.file(file);
        }
    }

    /// Whether there is such a segment.
    pub(crate) fn knows(&self, id: SegmentId) -> bool {
        self.segments.contains_key(&id)
    }

    fn add_segment(&mut self, segment: Arc<Segment>, file: FileSequence, live_rows: usize) {
        self.files.remove(&file);
        let id = segment.id();
        self.next_segment = self.next_segment.max(SegmentId(id.0 + 1));
        self.by_file.insert(file, id);
        self.segments.insert(
            id,
            SegmentState {
                segment,
                live_rows,
                dropping: false,
            },
        );
    }

    fn remove_segment(&mut self, id: SegmentId) -> Option<SegmentState> {
        let state = self.segments.remove(&id)?;
        self.by_file.remove(&state.segment.info().data.sequence);
        Some(state)
    }

    /// Counts what left an index.
    fn forget(&mut self, dropped: &Dropped) {
        for (file, batches) in &dropped.batches {
            if let Some(state) = self.files.get_mut(file) {
                state.live_batches = state.live_batches.saturating_sub(*batches);
            }
        }
        for id in &dropped.segments {
            if let Some(state) = self.segments.get_mut(id) {
                state.live_rows = state.live_rows.saturating_sub(1);
            }
        }
    }
}

//! Files and segments: which are sealed, dropped and freed, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use log::Kind;
use log::background::{Done, Job};
use log::file::LogFile;
use log::recovery::{ChainedFile, FoundFiles};
use log::segment::{DirectoryRow, FooterDraft, FooterFile, Segment, SegmentInfo, SwapEntry};
use log::{DataDir, Error};
use types::limits::{
    BLOCK_BYTES, FILE_BATCHES_SHARE, PUNCHES_MAX, REQUEST_ENTRIES_MAX, SPARES_RESERVED,
};
use types::{FileSequence, LogIndex, Offset, PartitionId, SegmentId};

use super::checkpoint::Kept;
use super::flight::Effect;
use super::state::{NODE_SHARD, SHARED_SHARD};
use super::{Applied, Draft, Owner};
use crate::shared::StorageStats;

/// Log space that an entry may take: its own frame, padded.
pub(super) const fn reservation(payload_bytes: usize) -> u64 {
    (payload_bytes as u64).next_multiple_of(BLOCK_BYTES) + 2 * BLOCK_BYTES
}

/// What is dead and waits until no kept checkpoint needs it (I5 of the log).
#[derive(Debug, Default)]
pub(crate) struct Freed {
    /// Log files whose entries are all dead.
    files: Vec<Arc<LogFile>>,
    /// Segments that were dropped, with the entry that said so.
    segments: Vec<(Arc<Segment>, LogIndex)>,
    /// Segments with dead runs to punch out, with the last entry that made one.
    punchable: BTreeMap<SegmentId, LogIndex>,
    /// The last of those entries.
    punchable_index: LogIndex,
    /// What the last life left behind, with the newest checkpoint of then.
    orphans: Vec<Orphan>,
    orphaned_at: u64,
}

/// Something on the disk that the state does not know.
#[derive(Debug)]
enum Orphan {
    File(Arc<LogFile>),
    Footer(SegmentId),
}

impl Freed {
    /// Whether a checkpoint would set something free.
    pub(super) fn is_waiting(&self, kept: &Kept) -> bool {
        let punches_wait = !self.punchable.is_empty() && !self.all_punches_are_ready(kept);
        let is_empty = self.files.is_empty() && self.segments.is_empty() && self.orphans.is_empty();
        punches_wait || !is_empty
    }

    fn all_punches_are_ready(&self, kept: &Kept) -> bool {
        kept.is_past(SHARED_SHARD, self.punchable_index)
    }

    fn any_punch_is_ready(&self, kept: &Kept) -> bool {
        let mut made = self.punchable.values();
        made.any(|index| kept.is_past(SHARED_SHARD, *index))
    }

    fn knows(&self, id: SegmentId) -> bool {
        self.segments.iter().any(|(segment, _)| segment.id() == id)
    }

    pub(super) fn add_file(&mut self, file: Arc<LogFile>) {
        self.files.push(file);
    }

    pub(super) fn add_segment(&mut self, segment: Arc<Segment>, index: LogIndex) {
        self.punchable.remove(&segment.id());
        self.segments.push((segment, index));
    }

    pub(super) fn add_punchable(&mut self, segment: SegmentId, index: LogIndex) {
        self.punchable.insert(segment, index);
        self.punchable_index = self.punchable_index.max(index);
    }

    /// Takes what no kept checkpoint needs: jobs, and segments to punch, not all at once of these.
    fn release(&mut self, kept: &Kept) -> (Vec<Job>, Vec<SegmentId>) {
        let files = self
            .files
            .extract_if(.., |file| kept.is_past_file(file.sequence));
        let mut jobs: Vec<_> = files.map(Job::Recycle).collect();
        let segments = self
            .segments
            .extract_if(.., |(_, index)| kept.is_past(NODE_SHARD, *index));
        jobs.extend(segments.map(|(segment, _)| Job::Remove(segment)));
        if kept.is_past_checkpoint(self.orphaned_at) {
            jobs.extend(self.orphans.drain(..).map(|orphan| match orphan {
                Orphan::File(file) => Job::Discard(file),
                Orphan::Footer(id) => Job::RemoveFooter(id),
            }));
        }
        let ready = |_: &SegmentId, index: &mut LogIndex| kept.is_past(SHARED_SHARD, *index);
        let punch = self
            .punchable
            .extract_if(.., ready)
            .take(PUNCHES_MAX)
            .map(|(id, _)| id)
            .collect();
        (jobs, punch)
    }
}

impl Owner {
    /// Log that is not sealed, the room of the present file not counted.
    pub(super) fn unsealed_bytes(&self) -> u64 {
        let files = self.applied.storage.files.values();
        let taken: u64 = files
            .map(|state| state.end.unwrap_or(state.file.file_bytes))
            .sum();
        taken.saturating_sub(self.log.room_bytes(usize::MAX))
    }

    /// How much of it there may be: two files at least, of whatever size an earlier setting gave
    /// them. A file is sealed only when it is full, so what is written to it must not stop before.
    pub(super) fn unsealed_bytes_max(&self) -> u64 {
        let files = self.applied.storage.files.values();
        let largest = files.map(|state| state.file.file_bytes).max();
        let least = largest.unwrap_or(0).saturating_mul(2);
        self.config.unsealed_bytes_max.max(least)
    }

    /// Batches that are not sealed, as if `bound` bytes were as many as there may be.
    pub(super) fn unsealed_batches_as_bytes(&self, bound: u64) -> u64 {
        let files = self.applied.storage.files.values();
        let batches: u64 = files.map(|state| state.live_batches).sum();
        let bytes = u128::from(bound) * u128::from(batches)
            / u128::from(self.config.unsealed_batches_max.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Has the present file end if it holds so many batches that too few others could be sealed
    /// instead of it.
    pub(super) fn end_file_of_many_batches(&self) {
        let files = &self.applied.storage.files;
        let most = self.config.unsealed_batches_max / FILE_BATCHES_SHARE;
        if let Some((sequence, state)) = files.last_key_value()
            && state.live_batches > most
        {
            self.end_file(*sequence);
        }
    }

    /// Has the present file end before it is full, unless what is decided may need its room.
    pub(super) fn end_file(&self, sequence: FileSequence) {
        if self.reserved_bytes <= self.log.spare_room_bytes(SPARES_RESERVED) {
            self.log.end_file(sequence);
        }
    }

    /// Says how files and segments stand, for those who ask.
    pub(super) fn report(&self) {
        let storage = &self.applied.storage;
        let segments = storage.segments.values().map(|s| s.segment.info().data.end);
        self.applied.shared.set_storage_stats(StorageStats {
            unsealed_bytes: self.unsealed_bytes(),
            files_count: storage.files.len() as u64,
            spares_count: self.log.spare_count() as u64,
            segments_count: storage.segments.len() as u64,
            segment_bytes: segments.sum(),
            tail_bytes: self.tail.bytes(),
            owner_step_max_us: self.step_max_us,
            owner_step_busy_max_us: self.step_busy_max_us,
        });
    }

    /// A file takes no more frames, `next` takes them. It is sealed once they are all applied.
    pub(super) fn file_ended(
        &mut self,
        file: Arc<LogFile>,
        end: u64,
        next: &Arc<LogFile>,
        draft: Option<Box<FooterDraft>>,
    ) {
        self.log_bytes_written(end);
        if let Some(state) = self.applied.storage.files.get_mut(&file.sequence) {
            state.draft = draft;
        }
        self.ended.push_back((file, end));
        // A checkpoint needs a file to begin its replay at, be it empty.
        self.applied.storage.file(next);
    }

    /// Notes which files ended and are applied, and begins to seal the oldest one.
    pub(super) fn seal_ended(&mut self) {
        let applying = self.frames.front().map(|written| written.file.sequence);
        let is_applied =
            |ended: &mut (Arc<LogFile>, u64)| applying.is_none_or(|file| file > ended.0.sequence);
        while let Some((file, end)) = self.ended.pop_front_if(is_applied) {
            // A file that a segment took the place of, in the last life, is not counted any more.
            if let Some(state) = self.applied.storage.files.get_mut(&file.sequence) {
                state.end = Some(end);
            }
        }
        self.seal_next();
    }

    /// Files are sealed one after the other, so that sealed and unsealed parts of a partition
    /// never mix and replay starts at the oldest unsealed file.
    fn seal_next(&mut self) {
        while let Some((sequence, state)) = self.applied.storage.files.first_key_value() {
            let (sequence, Some(end)) = (*sequence, state.end) else {
                return;
            };
            if state.sealing {
                return;
            }
            if state.live_batches > 0 && state.unsealable {
                return;
            }
            if state.live_batches > 0 {
                let file = Arc::clone(&state.file);
                return self.begin_seal(sequence, file, end);
            }
            if let Some(state) = self.applied.storage.files.remove(&sequence) {
                self.applied.freed.add_file(state.file);
            }
        }
    }

    fn begin_seal(&mut self, sequence: FileSequence, file: Arc<LogFile>, end: u64) {
        let created_ms = self.stamp();
        let state = self.applied.storage.files.get_mut(&sequence);
        let draft = state.and_then(|state| {
            state.sealing = true;
            state.draft.take()
        });
        let id = self.applied.storage.next_segment;
        self.applied.storage.next_segment = SegmentId(id.0 + 1);
        self.jobs.push(Job::Seal {
            id,
            file,
            end,
            created_ms,
            draft,
        });
    }

    pub(super) fn job_done(&mut self, done: Done) {
        match done {
            Done::Sealed(info) => self.decide_sealed(info),
            Done::SealFailed(file) => self.upkeep.seal_failed(file),
            Done::Checkpointed(number) => {
                self.checkpoint_done(number);
                self.release();
            }
            Done::CheckpointFailed => self.checkpoint_failed(),
        }
    }

    /// Lets a file whose sealing failed be tried again.
    pub(super) fn retry_seal(&mut self, file: FileSequence) {
        if let Some(state) = self.applied.storage.files.get_mut(&file) {
            state.sealing = false;
        }
        self.seal_next();
    }

    /// Puts a segment in the place of its file. Its entry has a row for each partition: a file of an
    /// earlier, much larger `log.file.bytes` may have more than a file of today takes.
    fn decide_sealed(&mut self, info: SegmentInfo) {
        let file = info.data.sequence;
        let swap = SwapEntry::Sealed(info);
        let payload = swap.encode();
        if payload.len() as u64 > REQUEST_ENTRIES_MAX * self.config.entry_bytes_max as u64 {
            let why = "a log file stays unsealed: its partitions are too many for log.file.bytes";
            tracing::error!(file = file.0, entry_bytes = payload.len(), why);
            if let Some(state) = self.applied.storage.files.get_mut(&file) {
                (state.sealing, state.unsealable) = (false, true);
            }
            return;
        }
        self.propose_swap(swap, payload);
    }

    fn decide_swap(&mut self, swap: SwapEntry) {
        let payload = swap.encode();
        self.propose_swap(swap, payload);
    }

    fn propose_swap(&mut self, swap: SwapEntry, payload: Vec<u8>) {
        let stamp = self.stamp();
        let draft = Draft::new(NODE_SHARD, Kind::Swap, stamp, payload.into());
        self.propose(draft, Effect::Swap(swap));
    }

    /// Decides that segments without live records are dropped.
    pub(super) fn drop_dead_segments(&mut self) {
        let mut dead = Vec::new();
        for (id, state) in &mut self.applied.storage.segments {
            if state.live_rows == 0 && !state.dropping {
                state.dropping = true;
                dead.push(*id);
            }
        }
        if !dead.is_empty() {
            self.decide_swap(SwapEntry::Dropped(dead));
        }
    }

    /// Frees what no kept checkpoint needs.
    pub(super) fn release(&mut self) {
        let (jobs, punch) = self.applied.freed.release(self.checkpoint.kept());
        jobs.into_iter().for_each(|job| self.jobs.push(job));
        for id in punch {
            let Some(state) = self.applied.storage.segments.get(&id) else {
                continue;
            };
            let segment = Arc::clone(&state.segment);
            let log_starts = self.log_starts(&segment);
            self.jobs.push(Job::Punch {
                segment,
                log_starts,
            });
        }
    }

    /// Punches the next segments, once those before are done.
    pub(super) fn release_more(&mut self) {
        let freed = &self.applied.freed;
        if self.jobs.is_empty() && freed.any_punch_is_ready(self.checkpoint.kept()) {
            self.release();
        }
    }

    /// The log start of each partition of a segment that has dead records there.
    fn log_starts(&self, segment: &Segment) -> Vec<(PartitionId, Offset)> {
        let rows = segment.info().rows.iter();
        rows.filter_map(|row| self.applied.dead_up_to(row).map(|to| (row.partition, to)))
            .collect()
    }
}

impl Applied {
    /// Counts the files of the log that no segment covers.
    pub(crate) fn adopt_files(&mut self, files: &[ChainedFile], current: &Arc<LogFile>) {
        // Also those whose segment was dropped again: it goes with the segment.
        let dropped = self.freed.segments.iter().map(|(segment, _)| segment);
        let segments = self
            .storage
            .segments
            .values()
            .map(|state| &state.segment)
            .chain(dropped);
        let sealed: BTreeSet<_> = segments.map(|s| s.info().data.sequence).collect();
        let chained = files.iter().map(|chained| &chained.file).chain([current]);
        for file in chained.filter(|file| !sealed.contains(&file.sequence)) {
            self.storage.file(file);
        }
    }

    /// Segments that are known, those included that are dropped and not removed yet.
    pub(crate) fn known_segments(&self) -> impl Iterator<Item = &SegmentInfo> {
        let kept = self.storage.segments.values().map(|state| &state.segment);
        let dropped = self.freed.segments.iter().map(|(segment, _)| segment);
        kept.chain(dropped).map(|segment| segment.info())
    }

    /// Has what is dead in a segment punched out, once both kept checkpoints know it.
    pub(crate) fn punch_dead_runs(&mut self, id: SegmentId) {
        let Some(state) = self.storage.segments.get(&id) else {
            return;
        };
        let mut rows = state.segment.info().rows.iter();
        if rows.any(|row| self.dead_up_to(row).is_some()) {
            let index = self.index[usize::from(SHARED_SHARD.0)];
            self.freed.add_punchable(id, index);
        }
    }

    /// The log start of a row's partition, if the row has dead records; a partition that is gone
    /// has none of it left.
    fn dead_up_to(&self, row: &DirectoryRow) -> Option<Offset> {
        let state = self.partitions.get(&row.partition);
        let log_start = state.map_or(Offset(i64::MAX), |state| state.shared.log_start());
        (log_start > row.first_offset).then_some(log_start)
    }

    /// The same for every segment: what the last life had punched is written down nowhere, and to
    /// punch once more what is punched costs little.
    pub(crate) fn punch_all_dead_runs(&mut self) {
        let ids: Vec<_> = self.storage.segments.keys().copied().collect();
        for id in ids {
            self.punch_dead_runs(id);
        }
    }

    /// Whether all that segments stand on is there.
    pub(crate) fn is_whole(&self) -> bool {
        let mut segments = self.storage.segments.values();
        segments.all(|state| state.segment.fault().is_none())
    }

    /// Finds what the last life left behind: files that are neither in the log nor of a segment,
    /// and footers of no segment. Until two more checkpoints are written an older one may still
    /// want them. Where anything is damaged nothing is swept.
    pub(crate) fn adopt_orphans(
        &mut self,
        found: &FoundFiles,
        files: &[ChainedFile],
        dir: &DataDir,
        checkpoint: u64,
    ) -> Result<(), Error> {
        let mut needed: BTreeSet<_> = files
            .iter()
            .map(|chained| (chained.file.sequence, chained.file.epoch))
            .collect();
        let known = self.known_segments().map(|info| &info.data);
        needed.extend(known.map(|data| (data.sequence, data.epoch)));
        self.freed.orphaned_at = checkpoint;
        let mut orphans: Vec<_> = found
            .unneeded(&needed)
            .into_iter()
            .map(Orphan::File)
            .collect();
        let mut missing: BTreeSet<_> = self.storage.segments.keys().copied().collect();
        for name in dir.disk.list(&dir.segments())? {
            if let Some(FooterFile::Whole(id)) = FooterFile::from_name(&name) {
                missing.remove(&id);
            }
            match FooterFile::from_name(&name) {
                Some(FooterFile::Whole(id)) if !self.storage.knows(id) && !self.freed.knows(id) => {
                    // Its number is taken: it will be removed by that name.
                    self.storage.next_segment = self.storage.next_segment.max(SegmentId(id.0 + 1));
                    orphans.push(Orphan::Footer(id));
                }
                Some(FooterFile::Unfinished(_)) => {
                    if let Err(error) = dir.disk.remove(&dir.segments().join(name)) {
                        tracing::warn!(error = %error, "an unfinished footer stays behind");
                    }
                }
                _ => {}
            }
        }
        for id in missing {
            let why = "the footer of a segment is missing, its index is made anew when it is read";
            tracing::error!(segment = id.0, why);
        }
        if self.is_whole() {
            self.freed.orphans = orphans;
        }
        Ok(())
    }
}

//! The background: makes spares, seals files, writes checkpoints, frees what is dead. One machine,
//! one small thing per step, so that the log's own syncs never queue behind it for long.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use disk::Disk;
use parking_lot::{Condvar, Mutex};
use types::limits::{
    JOB_RETRY_MS, JOB_STEP_BYTES, PUNCH_STEP_RANGES, SPARES_FOR_RECOVERY, SPARES_WANTED,
};
use types::{Clock, ErrorKind, FileSequence, Offset, PartitionId, SegmentId};

use crate::checkpoint::{CheckpointHeader, CheckpointWriter, Row};
use crate::commit_log::{CommitLog, Progress, error_chain};
use crate::error::Error;
use crate::file::{LogFile, Provisioner, Spare};
use crate::fill::Filler;
use crate::mutant::{self, Mutant};
use crate::segment::{self, FooterDraft, SealStep, Sealer, Segment, SegmentInfo, dead_ranges};

/// Something to do.
#[derive(Debug)]
pub enum Job {
    /// Make a segment of a log file that ended.
    Seal {
        /// Number of the new segment.
        id: SegmentId,
        /// The file.
        file: Arc<LogFile>,
        /// Where its frames end.
        end: u64,
        /// The time to write into the footer.
        created_ms: i64,
        /// What was gathered while the file was written in this life.
        draft: Option<Box<FooterDraft>>,
    },
    /// Begin a checkpoint; rows and an end follow.
    CheckpointBegin {
        /// Its header.
        header: CheckpointHeader,
        /// The checkpoint that is kept beside it.
        previous: Option<u64>,
    },
    /// Rows of the checkpoint under way.
    CheckpointRows(Vec<Row>),
    /// The checkpoint under way is complete.
    CheckpointEnd,
    /// Remove a segment that neither checkpoint knows.
    Remove(Arc<Segment>),
    /// Make a spare of a log file that neither checkpoint needs, or remove it.
    Recycle(Arc<LogFile>),
    /// Remove a log file that the last life left behind. It is no spare: blocks of it may have been
    /// given back.
    Discard(Arc<LogFile>),
    /// Give the blocks of dead runs back.
    Punch {
        /// The segment.
        segment: Arc<Segment>,
        /// Log start of each of its partitions, as both kept checkpoints have it.
        log_starts: Vec<(PartitionId, Offset)>,
    },
    /// Remove the footer of a segment that neither checkpoint knows.
    RemoveFooter(SegmentId),
}

/// What became of a job.
#[derive(Debug)]
pub enum Done {
    /// A footer is written and synced.
    Sealed(SegmentInfo),
    /// A file could not be sealed; it stays as it is.
    SealFailed(FileSequence),
    /// A checkpoint counts.
    Checkpointed(u64),
    /// A checkpoint was not written; the kept ones still count.
    CheckpointFailed,
}

impl Job {
    /// Whether it is a part of a checkpoint.
    const fn is_slice(&self) -> bool {
        matches!(
            self,
            Self::CheckpointBegin { .. } | Self::CheckpointRows(_) | Self::CheckpointEnd
        )
    }
}

/// What the owner hands to the background. A checkpoint goes before everything else: a stop waits
/// for it.
#[derive(Debug, Default)]
pub struct JobQueue {
    jobs: Mutex<Jobs>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct Jobs {
    /// Parts of checkpoints.
    slices: VecDeque<Job>,
    others: VecDeque<Job>,
}

impl JobQueue {
    /// Adds a job.
    pub fn push(&self, job: Job) {
        let mut jobs = self.jobs.lock();
        if job.is_slice() {
            jobs.slices.push_back(job);
        } else {
            jobs.others.push_back(job);
        }
        drop(jobs);
        self.work.notify_one();
    }

    /// Parts of a checkpoint that wait.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.jobs.lock().slices.len()
    }

    /// Whether no job waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.lock().is_empty()
    }

    /// Wakes the thread that drives the background.
    pub fn wake(&self) {
        let _jobs = self.jobs.lock();
        self.work.notify_all();
    }

    /// Waits for a job, at most `timeout`. For the thread that drives the background.
    pub fn wait(&self, timeout: Duration) {
        let mut jobs = self.jobs.lock();
        if jobs.is_empty() {
            self.work.wait_for(&mut jobs, timeout);
        }
    }
}

impl Jobs {
    fn is_empty(&self) -> bool {
        self.slices.is_empty() && self.others.is_empty()
    }
}

/// The background machine.
#[derive(Debug)]
pub struct Background {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    log: Arc<CommitLog>,
    clock: Arc<dyn Clock>,
    provisioner: Arc<Provisioner>,
    queue: Arc<JobQueue>,
    sealer: Option<Sealer>,
    sealing: FileSequence,
    checkpoint: Option<CheckpointWriter>,
    punching: Option<Punching>,
    /// Jobs that wait for readers to leave.
    held: VecDeque<Job>,
    retry_spare: Duration,
    retry_held: Duration,
    /// A spare was given up for the next checkpoint: until that is written no other is made.
    making_room: bool,
    filler: Filler,
    done: Vec<Done>,
}

const RETRY: Duration = Duration::from_millis(JOB_RETRY_MS);

impl Background {
    /// The background of a log.
    #[must_use]
    pub fn new(
        disk: Arc<dyn Disk>,
        root: PathBuf,
        log: Arc<CommitLog>,
        clock: Arc<dyn Clock>,
        provisioner: Arc<Provisioner>,
        queue: Arc<JobQueue>,
    ) -> Self {
        let filler = Filler::new(provisioner.file_bytes());
        Self {
            disk,
            root,
            log,
            clock,
            provisioner,
            queue,
            sealer: None,
            sealing: FileSequence(0),
            checkpoint: None,
            punching: None,
            held: VecDeque::new(),
            retry_spare: Duration::ZERO,
            retry_held: Duration::ZERO,
            making_room: false,
            filler,
            done: Vec::new(),
        }
    }

    /// Takes what ended since the last call.
    pub fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }

    /// What the next step is about, for those who count.
    #[must_use]
    pub fn phase(&self) -> &'static str {
        let now = self.clock.monotonic();
        if self.wants_spare(now) {
            return "spare";
        }
        let jobs = self.queue.jobs.lock();
        if self.checkpoint_is_due() || !jobs.slices.is_empty() {
            return "checkpoint";
        }
        if self.sealer.is_some() {
            return "seal";
        }
        if self.punching.is_some() {
            return "punch";
        }
        let held = self.held.front().filter(|_| now >= self.retry_held);
        match held.or_else(|| jobs.others.front()) {
            Some(Job::Seal { .. }) => "seal",
            Some(Job::Remove(_) | Job::RemoveFooter(_) | Job::Discard(_)) => "remove",
            Some(Job::Recycle(_)) => "recycle",
            Some(Job::Punch { .. }) => "punch",
            Some(Job::CheckpointBegin { .. } | Job::CheckpointRows(_) | Job::CheckpointEnd) => {
                "checkpoint"
            }
            None if self.filler.has_spare() || self.log.has_unfilled_spare() => "fill",
            None => "idle",
        }
    }

    /// Whether so much of a checkpoint waits that it is to be written.
    fn checkpoint_is_due(&self) -> bool {
        self.checkpoint
            .as_ref()
            .is_some_and(|writer| writer.waiting_bytes() >= JOB_STEP_BYTES)
    }

    /// Does one thing.
    pub fn step(&mut self) -> Progress {
        let now = self.clock.monotonic();
        if self.wants_spare(now) {
            self.make_spare(now);
            return Progress::Worked;
        }
        if self.checkpoint_is_due() {
            self.write_checkpoint();
            return Progress::Worked;
        }
        if let Some(slice) = self.next_job(|jobs| &mut jobs.slices) {
            self.begin(slice, now);
            return Progress::Worked;
        }
        if let Some(sealer) = self.sealer.take() {
            self.seal(sealer);
            return Progress::Worked;
        }
        if let Some(punching) = self.punching.take() {
            self.punch(punching);
            return Progress::Worked;
        }
        if now >= self.retry_held
            && let Some(job) = self.held.pop_front()
        {
            self.begin(job, now);
            return Progress::Worked;
        }
        match self.next_job(|jobs| &mut jobs.others) {
            Some(job) => {
                self.begin(job, now);
                Progress::Worked
            }
            None if self.give_up_small_spare() => Progress::Worked,
            None => self.fill_spare(now),
        }
    }

    /// Spares of an earlier, smaller `log.file.bytes` go once there are enough of today's.
    fn give_up_small_spare(&self) -> bool {
        let file_bytes = self.provisioner.file_bytes();
        if self.log.spare_count_of(file_bytes) < SPARES_WANTED {
            return false;
        }
        let Some(spare) = self.log.take_spare_below(file_bytes) else {
            return false;
        };
        self.remove_spare(&spare);
        true
    }

    fn remove_spare(&self, spare: &Spare) {
        if let Err(error) = self.provisioner.remove(&spare.path) {
            let error = error_chain(&error);
            tracing::warn!(error, "a spare log file stays on the disk");
        }
    }

    fn next_job(&self, of: fn(&mut Jobs) -> &mut VecDeque<Job>) -> Option<Job> {
        of(&mut self.queue.jobs.lock()).pop_front()
    }

    /// What is done when nothing else is to do.
    fn fill_spare(&mut self, now: Duration) -> Progress {
        // On a full device the log may need it as it is.
        if self.log.is_full() && self.filler.give_back(&self.log) {
            return Progress::Worked;
        }
        if self.log.poisoned().is_some() || !self.filler.is_due(&self.log, now) {
            return Progress::Idle(Some(now + RETRY));
        }
        if let Err(failed) = self.filler.step(&self.log) {
            let (error, spare) = *failed;
            let error = error_chain(&error);
            tracing::warn!(error, "a spare log file cannot be written and is given up");
            self.remove_spare(&spare);
        }
        Progress::Worked
    }

    fn wants_spare(&self, now: Duration) -> bool {
        // Those of an earlier, smaller `log.file.bytes` are not counted on.
        let ready = self.log.spare_count_of(self.provisioner.file_bytes());
        ready + usize::from(self.filler.has_spare()) < SPARES_WANTED
            && now >= self.retry_spare
            && !self.making_room
            && self.log.poisoned().is_none()
    }

    fn make_spare(&mut self, now: Duration) {
        match self.provisioner.make() {
            Ok(spare) => {
                self.log.add_spare(spare);
            }
            Err(error) => {
                tracing::warn!(
                    error = error_chain(&error),
                    "no spare log file could be made"
                );
                self.log.set_full(true);
                self.retry_spare = now + RETRY;
            }
        }
    }

    fn begin(&mut self, job: Job, now: Duration) {
        match job {
            Job::Seal {
                id,
                file,
                end,
                created_ms,
                draft,
            } => {
                self.sealing = file.sequence;
                let (disk, root) = (Arc::clone(&self.disk), &self.root);
                let directory = self.provisioner.directory();
                match Sealer::new(disk, root, id, file, end, directory, created_ms) {
                    Ok(sealer) => {
                        self.sealer = Some(match draft {
                            Some(draft) => sealer.with_draft(*draft),
                            None => sealer,
                        });
                    }
                    Err(error) => self.seal_failed(&error),
                }
            }
            Job::CheckpointBegin { header, previous } => {
                let disk = Arc::clone(&self.disk);
                let begun = CheckpointWriter::begin(disk, &self.root, &header, previous);
                self.checkpoint = self.checkpoint_ok(begun);
            }
            Job::CheckpointRows(rows) => {
                if let Some(writer) = &mut self.checkpoint {
                    rows.iter().for_each(|row| writer.add(row));
                }
            }
            Job::CheckpointEnd => self.finish_checkpoint(),
            Job::Remove(segment) => self.remove(segment, now),
            Job::Recycle(file) => self.recycle(file, now),
            Job::Discard(file) => self.discard(&file.path),
            Job::Punch {
                segment,
                log_starts,
            } => {
                let ranges = dead_ranges_of(&segment, &log_starts);
                self.punching = punched(ranges.map(|ranges| Punching { segment, ranges }));
            }
            Job::RemoveFooter(id) => {
                let path = self.root.join(segment::footer_name(id));
                if let Err(error) = self.disk.remove(&path) {
                    tracing::warn!(error = %error, "a footer without a segment stays on the disk");
                }
            }
        }
    }

    fn punch(&mut self, mut punching: Punching) {
        let stepped = punching.step();
        self.punching = punched(stepped.map(|()| punching)).filter(|left| !left.ranges.is_empty());
    }

    fn seal(&mut self, mut sealer: Sealer) {
        match sealer.step() {
            Ok(SealStep::More) => self.sealer = Some(sealer),
            Ok(SealStep::Done(info)) => {
                self.give_back_end(&info);
                self.done.push(Done::Sealed(info));
            }
            Err(error) => {
                sealer.clean_up();
                self.seal_failed(&error);
            }
        }
    }

    /// Gives back the blocks behind the last frame: a file that ended early, as at every stop, was
    /// allocated whole. Its successor's header says where it ends, so nobody looks there.
    fn give_back_end(&self, info: &SegmentInfo) {
        let path = info.data_path(&self.root);
        let given = self.disk.open(&path).and_then(|file| {
            let len = file.len()?;
            file.punch(info.data.end, len.saturating_sub(info.data.end))
        });
        if let Err(error) = given {
            tracing::warn!(
                error = error_chain(&error),
                "unused blocks stay on the disk"
            );
        }
    }

    fn seal_failed(&mut self, error: &Error) {
        tracing::error!(
            error = error_chain(error),
            file = self.sealing.0,
            "a log file stays unsealed"
        );
        self.done.push(Done::SealFailed(self.sealing));
    }

    fn write_checkpoint(&mut self) {
        let Some(mut writer) = self.checkpoint.take() else {
            return;
        };
        let stepped = writer.step().map(|_| writer);
        self.checkpoint = self.checkpoint_ok(stepped);
    }

    fn finish_checkpoint(&mut self) {
        let Some(writer) = self.checkpoint.take() else {
            return;
        };
        let finished = writer.finish();
        if let Some(finished) = self.checkpoint_ok(finished) {
            self.making_room = false;
            self.done.push(Done::Checkpointed(finished.number));
            self.prepare_checkpoint(finished.file_bytes);
        }
    }

    /// The next checkpoint may be a bit larger than this one.
    fn prepare_checkpoint(&self, file_bytes: u64) {
        let bytes = file_bytes + file_bytes / 4;
        if let Err(error) = CheckpointWriter::prepare_next(self.disk.as_ref(), &self.root, bytes) {
            tracing::warn!(
                error = error_chain(&error),
                "no space is set aside for the next checkpoint"
            );
        }
    }

    fn checkpoint_ok<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::error!(error = error_chain(&error), "a checkpoint was not written");
                self.done.push(Done::CheckpointFailed);
                self.making_room = error.kind() == ErrorKind::Full && self.give_up_spare();
                None
            }
        }
    }

    /// On a full device nothing is freed before a checkpoint is written: a spare makes room for it,
    /// but for the one that a recovery needs.
    fn give_up_spare(&self) -> bool {
        let Some(spare) = self.log.take_spare(SPARES_FOR_RECOVERY) else {
            return false;
        };
        tracing::warn!(path = %spare.path.display(), "a spare log file makes room for a checkpoint");
        self.remove_spare(&spare);
        true
    }

    fn remove(&mut self, segment: Arc<Segment>, now: Duration) {
        match Arc::try_unwrap(segment) {
            Ok(segment) => {
                if let Err(error) = segment.remove(self.disk.as_ref(), &self.root) {
                    tracing::warn!(
                        error = error_chain(&error),
                        "a dead segment stays on the disk"
                    );
                }
            }
            Err(shared) => self.hold(Job::Remove(shared), now),
        }
    }

    fn recycle(&mut self, file: Arc<LogFile>, now: Duration) {
        match unread(file) {
            Ok(file) if self.is_wanted(&file) => {
                let path = file.path.clone();
                match self.provisioner.recycle(file) {
                    Ok(spare) => self.log.add_spare(spare),
                    Err(error) => {
                        let error = error_chain(&error);
                        tracing::warn!(error, "a dead log file makes no spare");
                        self.discard(&path);
                    }
                }
            }
            Ok(file) => self.discard(&file.path),
            Err(shared) => self.hold(Job::Recycle(shared), now),
        }
    }

    /// Whether a file makes a spare that is needed; not one that is smaller than new ones are.
    fn is_wanted(&self, file: &LogFile) -> bool {
        let is_small = file.file_bytes < self.provisioner.file_bytes();
        !is_small && self.log.spare_count() < SPARES_WANTED + 1
    }

    fn discard(&self, path: &Path) {
        if let Err(error) = self.provisioner.remove(path) {
            let error = error_chain(&error);
            tracing::warn!(error, "a dead log file stays on the disk");
        }
    }

    fn hold(&mut self, job: Job, now: Duration) {
        self.held.push_back(job);
        self.retry_held = now + RETRY;
    }
}

/// The file, if nobody reads it any more (I5).
fn unread(file: Arc<LogFile>) -> Result<LogFile, Arc<LogFile>> {
    if mutant::is(Mutant::ReuseUnderReader) {
        return Ok(file.another());
    }
    Arc::try_unwrap(file)
}

/// Blocks of a segment that are given back, some at a time.
#[derive(Debug)]
struct Punching {
    segment: Arc<Segment>,
    /// Positions and lengths.
    ranges: VecDeque<(u64, u64)>,
}

impl Punching {
    fn step(&mut self) -> Result<(), Error> {
        for _ in 0..PUNCH_STEP_RANGES {
            let Some((position, len)) = self.ranges.pop_front() else {
                break;
            };
            self.segment.punch(position, len)?;
        }
        Ok(())
    }
}

fn punched<T>(result: Result<T, Error>) -> Option<T> {
    result
        .inspect_err(|error| {
            tracing::warn!(error = error_chain(error), "dead bytes stay on the disk");
        })
        .ok()
}

/// Where the blocks of a segment are that hold nothing but records below their log start.
fn dead_ranges_of(
    segment: &Segment,
    log_starts: &[(PartitionId, Offset)],
) -> Result<VecDeque<(u64, u64)>, Error> {
    let mut runs = Vec::with_capacity(log_starts.len());
    for (partition, log_start) in log_starts {
        runs.push((segment.stored_extents(*partition)?, *log_start));
    }
    let dead = dead_ranges(
        runs.iter()
            .map(|(extents, start)| (extents.as_ref(), *start)),
    );
    Ok(dead.into())
}

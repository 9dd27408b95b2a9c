//! The commit log: what owner, writer, syncer and background share, and three step machines.

mod assembler;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub use assembler::AssemblerMachine;
use assembler::{Assembled, Assembler, Task};
use parking_lot::{Condvar, Mutex};
use types::limits::{
    IDLE_PROOF_MS, QUICK_SYNC_MS_MAX, SPARES_FOR_RECOVERY, SPARES_RESERVED, WRITER_SYNC_BYTES_MAX,
};
use types::{Clock, FileSequence, FrameNumber};

use crate::entry::Entry;
use crate::error::Error;
use crate::file::{HEADER_BYTES, LogFile, Spare, Writer, WriterStep};
use crate::frame::Frame;
use crate::mutant::{self, Mutant};
use crate::segment::FooterDraft;

const IDLE_PROOF: Duration = Duration::from_millis(IDLE_PROOF_MS);
const QUICK_SYNC_MAX: Duration = Duration::from_millis(QUICK_SYNC_MS_MAX);

/// An entry with the time that it may stay unsynced.
#[derive(Clone, Debug)]
pub struct Queued {
    /// What to write.
    pub entry: Entry,
    /// Zero where somebody waits for the sync.
    pub sync_within: Duration,
}

/// What the owner must hear of, in this order.
#[derive(Debug)]
pub enum LogEvent {
    /// A frame is with the operating system.
    Written {
        /// The frame.
        frame: Frame,
        /// The file that it is in.
        file: Arc<LogFile>,
    },
    /// A file takes no more frames; all of them are synced.
    Ended {
        /// The file.
        file: Arc<LogFile>,
        /// Where its frames end.
        end: u64,
        /// The file that takes them now.
        next: Arc<LogFile>,
        /// What its footer needs, if this life wrote all of it.
        draft: Option<Box<FooterDraft>>,
    },
}

/// Who syncs a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The thread that wrote it.
    Writer,
    /// The syncer's thread.
    Syncer,
}

/// Who writes what is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhoWrites {
    /// Nobody: nothing is.
    Nobody,
    /// Any thread: it is little, and the device is quick to sync it.
    Anybody,
    /// The writer's thread.
    Writer,
}

/// What a step machine wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something was done: step again.
    Worked,
    /// Nothing to do until woken, or until this monotonic time.
    Idle(Option<Duration>),
    /// A frame waits for a spare file.
    NoFile,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Entry>,
    /// Bytes of what is queued.
    queue_bytes: u64,
    /// Something was taken out of the queue that the writer does not write yet.
    left: bool,
    /// Bytes of that which stand in no frame.
    left_bytes: u64,
    /// A frame is made ahead.
    made: bool,
    /// A frame waits for a file.
    waiting: bool,
    /// The writer writes.
    writing: bool,
    /// Until when the writer's thread sleeps; `None` also where it may sleep for ever.
    writer_sleeps: Option<Duration>,
    /// The soonest time by which what is queued must be synced.
    queue_due: Option<Duration>,
    file: Arc<LogFile>,
    /// Bytes that the present file still takes.
    room: u64,
    spares: VecDeque<Spare>,
    written: FrameNumber,
    /// Bytes of frames written in this life.
    written_bytes: u64,
    synced: FrameNumber,
    /// When each written frame must be synced.
    dues: VecDeque<(FrameNumber, Duration)>,
    /// The last frame written carries entries that no later frame proves.
    needs_proof: bool,
    /// When that frame, synced by now, is to be proven by an empty one.
    proof_due: Option<Duration>,
    events: Vec<LogEvent>,
    poisoned: Option<Arc<str>>,
    /// The last try to make a spare failed.
    full: bool,
    /// A file that is to end before it is full.
    ending: Option<FileSequence>,
    /// A reader waits for what is under way.
    hurry: bool,
    /// A sync is under way.
    syncing: bool,
    /// How long the last sync took.
    sync_took: Duration,
    /// The last frame was small enough to be synced by the thread that wrote it.
    small: bool,
    /// There is an event that the owner should not wait for a sync to hear of.
    news: bool,
    closing: bool,
}

/// The shared side of the log. Owner, writer, syncer and background hold it; nobody waits in it
/// but the shells that drive the machines.
#[derive(Debug)]
pub struct CommitLog {
    state: Mutex<State>,
    writer_work: Condvar,
    assembler_work: Condvar,
    syncer_work: Condvar,
    clock: Arc<dyn Clock>,
}

impl CommitLog {
    /// The log behind `writer`, with all frames up to `last` synced. `needs_proof` where nothing in
    /// the log proves the last of them yet.
    #[must_use]
    pub fn new(
        writer: &Writer,
        last: FrameNumber,
        needs_proof: bool,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let state = State {
            queue: VecDeque::new(),
            queue_bytes: 0,
            left: false,
            left_bytes: 0,
            made: false,
            waiting: false,
            writing: false,
            writer_sleeps: None,
            queue_due: None,
            file: Arc::clone(writer.file()),
            room: writer.room(),
            spares: VecDeque::new(),
            written: last,
            written_bytes: 0,
            synced: last,
            dues: VecDeque::new(),
            needs_proof,
            proof_due: needs_proof.then(|| clock.monotonic()),
            events: Vec::new(),
            poisoned: None,
            full: false,
            ending: None,
            hurry: false,
            syncing: false,
            sync_took: Duration::ZERO,
            small: false,
            news: false,
            closing: false,
        };
        Self {
            state: Mutex::new(state),
            writer_work: Condvar::new(),
            assembler_work: Condvar::new(),
            syncer_work: Condvar::new(),
            clock,
        }
    }

    /// Queues entries for the writer, in order. Who writes them is up to the caller
    /// ([`who_writes`](Self::who_writes)). After [`close`](Self::close) they are dropped: the threads
    /// that would write and sync them may have ended.
    pub fn append(&self, entries: impl IntoIterator<Item = Queued>) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        if state.closing {
            return;
        }
        for queued in entries {
            let due = now + queued.sync_within;
            state.queue_due = Some(state.queue_due.map_or(due, |d| d.min(due)));
            state.queue_bytes += queued.entry.payload.len() as u64;
            state.queue.push_back(queued.entry);
        }
        self.wake_assembler(&state);
    }

    /// Who is to write what waits.
    #[must_use]
    pub fn who_writes(&self) -> WhoWrites {
        self.state.lock().who_writes()
    }

    /// Wakes the writer's thread.
    pub fn wake_writer(&self) {
        self.writer_work.notify_one();
    }

    fn wake_assembler(&self, state: &State) {
        if state.wants_frame() {
            self.assembler_work.notify_one();
        }
    }

    /// Asks for a sync of what is written, and of the next frame: a reader waits for what is under
    /// way.
    pub fn request_sync(&self) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        // The writer may hold entries that stand in no queue here.
        state.hurry = true;
        for (_, due) in &mut state.dues {
            *due = now;
        }
        if !state.dues.is_empty() {
            self.syncer_work.notify_one();
        }
    }

    /// Has the file of this number end, though it is not full: the next frame goes to another one,
    /// and an empty one does if there is none. Where spares are few it goes on; ask again.
    pub fn end_file(&self, sequence: FileSequence) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        if state.closing || !state.may_end(sequence) {
            return;
        }
        state.ending = Some(sequence);
        // Nobody counts on it any more.
        state.room = 0;
        state.proof_due = Some(now);
        self.writer_work.notify_one();
    }

    /// Takes what happened since the last call, and the last synced frame.
    pub fn take_events(&self) -> (Vec<LogEvent>, FrameNumber) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.events), state.synced)
    }

    /// Why the log takes nothing any more, if so.
    #[must_use]
    pub fn poisoned(&self) -> Option<Arc<str>> {
        self.state.lock().poisoned.clone()
    }

    /// Stops the log for good (I4).
    pub fn poison(&self, reason: &str) {
        let mut state = self.state.lock();
        if state.poisoned.is_none() {
            tracing::error!(reason, "the log is stopped until the next start");
            state.poisoned = Some(Arc::from(reason));
        }
        self.writer_work.notify_all();
        self.assembler_work.notify_all();
        self.syncer_work.notify_all();
    }

    /// Bytes that entries may still take; `reserved` spares are left alone.
    #[must_use]
    pub fn room_bytes(&self, reserved: usize) -> u64 {
        let state = self.state.lock();
        state.room + state.spare_room_bytes(reserved)
    }

    /// The part of [`room_bytes`](Self::room_bytes) that is in spares.
    #[must_use]
    pub fn spare_room_bytes(&self, reserved: usize) -> u64 {
        self.state.lock().spare_room_bytes(reserved)
    }

    /// How many spares are ready.
    #[must_use]
    pub fn spare_count(&self) -> usize {
        self.state.lock().spares.len()
    }

    /// How many spares of at least this size are ready.
    pub(crate) fn spare_count_of(&self, file_bytes: u64) -> usize {
        let state = self.state.lock();
        let spares = state.spares.iter();
        spares.filter(|s| s.file_bytes >= file_bytes).count()
    }

    /// Takes a spare that is smaller than this.
    pub(crate) fn take_spare_below(&self, file_bytes: u64) -> Option<Spare> {
        let mut state = self.state.lock();
        let spares = &mut state.spares;
        let at = spares.iter().position(|s| s.file_bytes < file_bytes)?;
        spares.remove(at)
    }

    /// Adds a spare; a filled one is taken before others.
    pub fn add_spare(&self, spare: Spare) {
        let mut state = self.state.lock();
        if spare.filled {
            state.spares.push_front(spare);
        } else {
            state.spares.push_back(spare);
        }
        state.full = false;
        drop(state);
        self.writer_work.notify_one();
    }

    /// Takes the newest spare back, if more than `kept` are ready.
    pub(crate) fn take_spare(&self, kept: usize) -> Option<Spare> {
        let mut state = self.state.lock();
        if state.spares.len() > kept {
            state.spares.pop_back()
        } else {
            None
        }
    }

    /// Whether the device had no room for another log file when it was last asked.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state.lock().full
    }

    pub(crate) fn set_full(&self, full: bool) {
        self.state.lock().full = full;
    }

    /// Last written and last synced frame.
    #[must_use]
    pub fn progress(&self) -> (FrameNumber, FrameNumber) {
        let state = self.state.lock();
        (state.written, state.synced)
    }

    /// Bytes of frames written in this life.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.state.lock().written_bytes
    }

    pub(crate) fn has_unfilled_spare(&self) -> bool {
        self.state.lock().spares.iter().any(|spare| !spare.filled)
    }

    /// Takes the newest spare that is not filled.
    pub(crate) fn take_unfilled_spare(&self) -> Option<Spare> {
        let mut state = self.state.lock();
        let at = state.spares.iter().rposition(|spare| !spare.filled)?;
        state.spares.remove(at)
    }

    /// Waits until the writer may have work. For the thread that drives it.
    pub fn wait_for_writer_work(&self) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        if state.closing || state.who_writes() != WhoWrites::Nobody {
            return;
        }
        let due = if state.poisoned.is_some() {
            None
        } else {
            state.proof_due
        };
        state.writer_sleeps = due;
        wait(&self.writer_work, &mut state, due, now);
        state.writer_sleeps = None;
    }

    /// Waits until a frame may be made ahead; false once nothing more will be appended. For the
    /// thread that drives the assembler.
    #[must_use]
    pub fn wait_for_assembler_work(&self) -> bool {
        let mut state = self.state.lock();
        while !state.closing && !state.wants_frame() {
            self.assembler_work.wait(&mut state);
        }
        !state.closing
    }

    /// Whether there is something to write and no file to go on in, all before it synced.
    #[must_use]
    pub fn waits_for_file(&self) -> bool {
        let state = self.state.lock();
        let is_synced = state.written == state.synced;
        state.waiting && is_synced && state.spares.len() <= SPARES_FOR_RECOVERY
    }

    /// Waits for a sync or a spare. For the thread that drives the writer.
    pub fn wait_for_file(&self) {
        let mut state = self.state.lock();
        let no_file = state.spares.len() <= SPARES_FOR_RECOVERY;
        if state.poisoned.is_none() && (state.written != state.synced || no_file) {
            self.writer_work.wait_for(&mut state, IDLE_PROOF);
        }
    }

    /// Says who syncs what was just written, and wakes the syncer's thread where that is it. For
    /// the thread that drives the writer.
    pub fn hand_over_sync(&self) -> HandOver {
        let now = self.clock.monotonic();
        let state = self.state.lock();
        let is_alone = state.small && !state.syncing;
        if is_alone && state.sync_due().is_some_and(|due| due <= now) {
            return HandOver::Writer;
        }
        self.syncer_work.notify_one();
        HandOver::Syncer
    }

    /// Whether something happened since the last call that the owner is to hear of before the
    /// next sync.
    pub fn take_news(&self) -> bool {
        std::mem::take(&mut self.state.lock().news)
    }

    /// Waits until the syncer may have work. For the thread that drives it.
    pub fn wait_for_syncer_work(&self) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        if state.closing {
            return;
        }
        let due = if state.poisoned.is_some() || state.syncing {
            None
        } else {
            state.sync_due()
        };
        wait(&self.syncer_work, &mut state, due, now);
    }

    /// Nothing more will be appended: the last frame is proven at once, and the threads that drive
    /// the machines need not wait any more.
    pub fn close(&self) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        state.closing = true;
        if state.needs_proof {
            state.proof_due = Some(now);
        }
        self.writer_work.notify_all();
        self.assembler_work.notify_all();
        self.syncer_work.notify_all();
    }

    /// Whether [`close`](Self::close) was called and everything appended is written, synced and proven,
    /// or nothing can be any more.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let state = self.state.lock();
        let is_written = state.queue.is_empty() && !state.left && !state.waiting && !state.writing;
        let done = is_written && state.written == state.synced && !state.needs_proof;
        state.closing && (state.poisoned.is_some() || done)
    }
}

impl State {
    fn who_writes(&self) -> WhoWrites {
        let left = self.left || self.waiting;
        let waits = left || !self.queue.is_empty();
        let is_small = !left && self.queue_bytes <= WRITER_SYNC_BYTES_MAX;
        match (waits && self.poisoned.is_none(), is_small) {
            (false, _) => WhoWrites::Nobody,
            (true, true) if !self.syncing && self.sync_took <= QUICK_SYNC_MAX => WhoWrites::Anybody,
            (true, _) => WhoWrites::Writer,
        }
    }

    fn spare_room_bytes(&self, reserved: usize) -> u64 {
        let spares = self.spares.iter().skip(reserved);
        spares
            .map(|s| s.file_bytes.saturating_sub(HEADER_BYTES))
            .sum()
    }

    /// Whether this file may end before it is full: there is a spare for data to go on in. The
    /// filler may hold one more.
    fn may_end(&self, sequence: FileSequence) -> bool {
        self.file.sequence == sequence && self.spares.len() > SPARES_RESERVED
    }

    /// The soonest time by which something written must be synced.
    fn sync_due(&self) -> Option<Duration> {
        self.dues.iter().map(|(_, due)| *due).min()
    }
}

/// Waits on a condition until `due`; not at all when that is past.
fn wait(
    condition: &Condvar,
    state: &mut parking_lot::MutexGuard<'_, State>,
    due: Option<Duration>,
    now: Duration,
) {
    match due {
        Some(due) if due <= now => {}
        Some(due) => {
            condition.wait_for(state, due - now);
        }
        None => condition.wait(state),
    }
}

/// Drives a [`Writer`]: one frame or one roll per step.
#[derive(Debug)]
pub struct WriterMachine {
    log: Arc<CommitLog>,
    writer: Writer,
    assembler: Arc<Mutex<Assembler>>,
    /// By when the frame under way must be synced.
    due: Duration,
    /// The footer of the present file so far; `None` of a file that has frames of a former life.
    draft: Option<Box<FooterDraft>>,
}

impl WriterMachine {
    /// The machine of this log.
    #[must_use]
    pub fn new(log: Arc<CommitLog>, writer: Writer) -> Self {
        let draft = (writer.position() == HEADER_BYTES).then(|| new_draft(writer.file()));
        let assembler = Assembler::new(writer.frame_room());
        Self {
            log,
            writer,
            assembler: Arc::new(Mutex::new(assembler)),
            due: Duration::ZERO,
            draft,
        }
    }

    /// The machine that makes frames for this one while it writes.
    #[must_use]
    pub fn assembler(&self) -> AssemblerMachine {
        AssemblerMachine::new(Arc::clone(&self.log), Arc::clone(&self.assembler))
    }

    /// Does one thing.
    pub fn step(&mut self) -> Progress {
        if !self.writer.has_frame() {
            match self.assembler.lock().next(&self.log, &self.writer) {
                Task::Idle(until) => return Progress::Idle(until),
                Task::Write(Assembled { frame, due }) => {
                    self.writer.take(frame);
                    self.due = due;
                }
            }
        }
        let (poisoned, synced, ends) = {
            let mut state = self.log.state.lock();
            let ending = state.ending.take();
            let ends = ending.is_some_and(|sequence| state.may_end(sequence));
            (state.poisoned.is_some(), state.synced, ends)
        };
        if poisoned {
            return Progress::Idle(None);
        }
        if ends {
            self.writer.close();
        }
        match self.writer.write(synced) {
            Ok(WriterStep::Written(frame)) => {
                self.written(frame);
                Progress::Worked
            }
            Ok(WriterStep::NeedsFile) => self.roll(),
            Err(error) => {
                self.log.poison(&error_chain(&error));
                Progress::Idle(None)
            }
        }
    }

    fn written(&mut self, frame: Frame) {
        if let Some(Err(error)) = self.draft.as_mut().map(|draft| draft.add(&frame)) {
            tracing::error!(
                error = error_chain(&error),
                "the file will be read to be sealed"
            );
            self.draft = None;
        }
        let now = self.log.clock.monotonic();
        let mut due = self.due;
        let mut state = self.log.state.lock();
        if std::mem::take(&mut state.hurry) {
            due = now;
        }
        state.waiting = false;
        state.writing = false;
        state.written = frame.number;
        state.written_bytes += frame.frame_bytes;
        // A file may be told to end while a frame is written to it.
        let ends = state.ending == Some(frame.file);
        state.room = if ends { 0 } else { self.writer.room() };
        state.dues.push_back((frame.number, due));
        state.small = frame.frame_bytes <= WRITER_SYNC_BYTES_MAX;
        // Somebody may be answered before the sync.
        state.news |= due > now;
        // An empty frame proves the ones before it and needs no proof itself.
        state.needs_proof = !frame.entries.is_empty();
        state.proof_due = ends.then_some(now);
        let file = Arc::clone(self.writer.file());
        state.events.push(LogEvent::Written { frame, file });
    }

    fn roll(&mut self) -> Progress {
        let spare = {
            let mut state = self.log.state.lock();
            state.room = 0;
            state.waiting = true;
            if state.written != state.synced && !mutant::is(Mutant::RollUnsynced) {
                let now = self.log.clock.monotonic();
                state.dues.iter_mut().for_each(|(_, due)| *due = now);
                self.log.syncer_work.notify_one();
                return Progress::NoFile;
            }
            // What is queued is already decided: nothing is reserved from it but what a recovery
            // needs.
            if state.spares.len() <= SPARES_FOR_RECOVERY {
                return Progress::NoFile;
            }
            let Some(spare) = state.spares.pop_front() else {
                return Progress::NoFile;
            };
            spare
        };
        match self.writer.roll(spare) {
            Ok((file, end)) => {
                let mut state = self.log.state.lock();
                state.file = Arc::clone(self.writer.file());
                state.room = self.writer.room();
                // The header of the new file proves all frames before it.
                state.needs_proof = false;
                state.proof_due = None;
                let next = Arc::clone(self.writer.file());
                let draft = self.draft.replace(new_draft(&next));
                state.news = true;
                state.events.push(LogEvent::Ended {
                    file,
                    end,
                    next,
                    draft,
                });
                Progress::Worked
            }
            Err(error) => {
                self.log.poison(&error_chain(&error));
                Progress::Idle(None)
            }
        }
    }
}

fn new_draft(file: &LogFile) -> Box<FooterDraft> {
    Box::new(FooterDraft::new(&file.path))
}

/// Syncs what is written: one sync per step, covering all frames written when it starts.
#[derive(Debug)]
pub struct SyncerMachine {
    log: Arc<CommitLog>,
}

impl SyncerMachine {
    /// The machine of this log.
    #[must_use]
    pub const fn new(log: Arc<CommitLog>) -> Self {
        Self { log }
    }

    /// Does one sync if one is due.
    pub fn step(&mut self) -> Progress {
        let now = self.log.clock.monotonic();
        let (target, file) = {
            let mut state = self.log.state.lock();
            match state.sync_due() {
                _ if state.poisoned.is_some() => return Progress::Idle(None),
                // Of two that run at once on a file only one hears of a failed write-back.
                _ if state.syncing => return Progress::Idle(None),
                Some(due) if due <= now => {
                    state.syncing = true;
                    (state.written, Arc::clone(&state.file))
                }
                due => return Progress::Idle(due),
            }
        };
        if let Err(error) = file.file.sync_data() {
            if error.is_no_space() && mutant::is(Mutant::RetryFullSync) {
                self.log.state.lock().syncing = false;
                return Progress::Idle(None);
            }
            self.log.poison(&error_chain(&Error::from(error)));
            return Progress::Idle(None);
        }
        let took = self.log.clock.monotonic().saturating_sub(now);
        let mut state = self.log.state.lock();
        state.syncing = false;
        state.sync_took = took;
        state.synced = target;
        while state
            .dues
            .pop_front_if(|(number, _)| *number <= target)
            .is_some()
        {}
        if !state.dues.is_empty() {
            // Who looked meanwhile waits.
            self.log.syncer_work.notify_one();
        }
        let ends = state.ending == Some(state.file.sequence);
        if state.written == target && state.needs_proof && !ends && !mutant::is(Mutant::NoIdleFrame)
        {
            let rest = if state.closing {
                Duration::ZERO
            } else {
                IDLE_PROOF
            };
            state.proof_due = Some(now + took + rest);
        }
        // Who sleeps until an older proof was due looks then when this one is.
        if state.writer_sleeps.is_none() {
            self.log.writer_work.notify_one();
        }
        Progress::Worked
    }
}

/// An error with all its sources in one line.
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// Whether data may be decided with this many spares ready: the reserved ones are for metadata
/// and recovery.
#[must_use]
pub const fn spares_for_data(ready: usize) -> usize {
    ready.saturating_sub(SPARES_RESERVED)
}

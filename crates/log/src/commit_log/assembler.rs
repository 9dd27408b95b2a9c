//! The assembler: makes frames of what is queued.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use types::limits::{FRAME_BYTES_USUAL, FRAMES_PER_FILE_MIN};

use super::{CommitLog, Progress, State};
use crate::entry::Entry;
use crate::file::Writer;
use crate::frame::{FrameBuilder, LooseFrame};

/// A frame to be written.
#[derive(Debug)]
pub(super) struct Assembled {
    pub(super) frame: LooseFrame,
    /// By when it must be synced.
    pub(super) due: Duration,
}

/// What the writer machine is to do next.
pub(super) enum Task {
    Write(Assembled),
    Idle(Option<Duration>),
}

/// Takes entries out of the queue, in order, and makes frames of them. Writer and assembler machine
/// share it: each for the time of one frame.
#[derive(Debug)]
pub(super) struct Assembler {
    taken: VecDeque<Entry>,
    taken_bytes: u64,
    /// The soonest time by which something of what is taken must be synced.
    taken_due: Option<Duration>,
    builder: FrameBuilder,
    /// The next frame, if it was made while the one before was written.
    ahead: Option<Assembled>,
    /// What the next frame may take behind the one that the writer has.
    room: u64,
}

impl Assembler {
    /// For a file that takes frames of so many bytes.
    pub(super) fn new(room: u64) -> Self {
        Self {
            taken: VecDeque::new(),
            taken_bytes: 0,
            taken_due: None,
            builder: FrameBuilder::default(),
            ahead: None,
            room,
        }
    }

    /// The next frame for the writer; an empty one where the last one is to be proven.
    pub(super) fn next(&mut self, log: &CommitLog, writer: &Writer) -> Task {
        let now = log.clock.monotonic();
        let made = self.ahead.take();
        {
            let mut state = log.state.lock();
            if state.poisoned.is_some() {
                return Task::Idle(None);
            }
            if made.is_none() {
                self.take_queue(&mut state);
                match state.proof_due {
                    _ if !self.taken.is_empty() => {}
                    Some(due) if due <= now => self.taken_due = Some(now),
                    due => return Task::Idle(due),
                }
            }
            state.writing = true;
        }
        let next = made.unwrap_or_else(|| {
            self.room = writer.frame_room();
            self.assemble(now)
        });
        self.room = writer.room_behind(next.frame.frame_bytes());
        self.tell(log);
        Task::Write(next)
    }

    /// Makes the next frame while the present one is written, if there is enough for a full one.
    fn assemble_ahead(&mut self, log: &CommitLog) -> Progress {
        let now = log.clock.monotonic();
        {
            let mut state = log.state.lock();
            if !state.fills_frame() {
                return Progress::Idle(None);
            }
            self.take_queue(&mut state);
            // Who is to write now waits for this frame.
            state.left = true;
        }
        let next = self.assemble(now);
        self.ahead = Some(next);
        self.tell(log);
        Progress::Worked
    }

    fn take_queue(&mut self, state: &mut State) {
        if self.taken.is_empty() {
            std::mem::swap(&mut self.taken, &mut state.queue);
        } else {
            self.taken.append(&mut state.queue);
        }
        self.taken_bytes += std::mem::take(&mut state.queue_bytes);
        if let Some(due) = state.queue_due.take() {
            self.taken_due = Some(self.taken_due.map_or(due, |d| d.min(due)));
        }
    }

    fn assemble(&mut self, now: Duration) -> Assembled {
        let (builder, room) = (&mut self.builder, self.room);
        while let Some(entry) = self.taken.pop_front_if(|entry| builder.takes(entry, room)) {
            self.taken_bytes -= entry.payload.len() as u64;
            builder.push(entry);
        }
        let frame = builder.lay_out();
        let due = self.taken_due.unwrap_or(now);
        if self.taken.is_empty() {
            self.taken_due = None;
        }
        Assembled { frame, due }
    }

    /// Says what is left.
    fn tell(&self, log: &CommitLog) {
        let mut state = log.state.lock();
        state.left = self.ahead.is_some() || !self.taken.is_empty();
        state.left_bytes = self.taken_bytes;
        state.made = self.ahead.is_some();
        log.wake_assembler(&state);
    }
}

/// Makes the next frame while the writer writes the present one, where there is enough for a full
/// one: to copy records together takes about half as long as to write them.
#[derive(Debug)]
pub struct AssemblerMachine {
    log: Arc<CommitLog>,
    assembler: Arc<Mutex<Assembler>>,
}

impl AssemblerMachine {
    pub(super) const fn new(log: Arc<CommitLog>, assembler: Arc<Mutex<Assembler>>) -> Self {
        Self { log, assembler }
    }

    /// Makes one frame, if it is time.
    pub fn step(&mut self) -> Progress {
        self.assembler.lock().assemble_ahead(&self.log)
    }
}

impl State {
    /// Whether what waits makes a full frame, and none is made.
    fn fills_frame(&self) -> bool {
        let full = FRAME_BYTES_USUAL.min(self.file.file_bytes / FRAMES_PER_FILE_MIN);
        !self.made && self.poisoned.is_none() && self.left_bytes + self.queue_bytes >= full
    }

    /// Whether it is worth a thread to make a frame now: the writer could not.
    pub(super) fn wants_frame(&self) -> bool {
        self.writing && self.fills_frame()
    }
}

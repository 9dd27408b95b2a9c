//! The seats of the owner and of the writer: who steps them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{CommitLog, HandOver, Progress, SyncerMachine, WhoWrites, WriterMachine};
use parking_lot::Mutex;
use types::limits::SEAT_STEPS_MAX;

use crate::inbox::Inbox;
use crate::off_the_runtime::off_the_runtime;
use crate::owner::Owner;

/// Whether whoever brings the owner something writes what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It will, once it has brought all that it has: [`Seat::write`].
    Yes,
    /// No: the writer's thread does.
    No,
}

/// Holds owner and writer for the threads of a node, each for one at a time. Whoever brings work
/// does it where nobody else does: a hand-over to another thread costs more than most steps, and
/// two of them as much as a small frame. The owner's own thread does what is due by the clock, and
/// what others leave when it gets too much for them; so does the writer's.
#[derive(Debug)]
pub(crate) struct Seat {
    owner: Mutex<Owner>,
    inbox: Arc<Inbox>,
    log: Arc<CommitLog>,
    writing: Mutex<Writing>,
    /// A step ended with a panic.
    is_broken: AtomicBool,
}

impl Seat {
    pub(crate) fn new(
        owner: Owner,
        inbox: Arc<Inbox>,
        log: Arc<CommitLog>,
        writer: WriterMachine,
    ) -> Self {
        let syncer = SyncerMachine::new(Arc::clone(&log));
        Self {
            owner: Mutex::new(owner),
            inbox,
            log,
            writing: Mutex::new(Writing { writer, syncer }),
            is_broken: AtomicBool::new(false),
        }
    }

    /// Whether a step of owner or writer ended half-done: nobody steps them again.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    /// Does a step. Threads that the node does not watch do some: a panic is the end of the node
    /// there as well, not of one connection.
    fn guarded<T>(&self, step: impl FnOnce() -> T) -> T {
        match catch_unwind(AssertUnwindSafe(step)) {
            Ok(done) => done,
            Err(panic) => {
                self.is_broken.store(true, Ordering::Release);
                self.log
                    .poison("a step of owner or writer ended with a panic");
                self.inbox.wake();
                resume_unwind(panic)
            }
        }
    }

    /// Steps the owner a few times, or leaves it to the thread that does: whoever gets up looks
    /// once more whether something came meanwhile.
    pub(crate) fn take(&self, hold: Hold) {
        self.step_owner();
        match self.log.who_writes() {
            WhoWrites::Nobody => {}
            WhoWrites::Anybody if hold == Hold::Yes => {}
            WhoWrites::Anybody | WhoWrites::Writer => self.log.wake_writer(),
        }
    }

    fn step_owner(&self) {
        for _ in 0..SEAT_STEPS_MAX {
            let Some(mut owner) = self.owner.try_lock() else {
                return;
            };
            if self.is_broken() {
                return;
            }
            let worked = self.guarded(|| owner.step());
            let holds_back = owner.holds_back();
            let gone = owner.take_gone();
            drop(owner);
            drop(gone);
            if holds_back {
                // Its own thread does not know yet how soon it must look again.
                break;
            }
            if !worked && !self.inbox.has_work() {
                return;
            }
        }
        self.inbox.wake();
    }

    /// Steps the owner once, and waits where there was nothing to do. For the owner's own thread.
    pub(crate) fn serve(&self, wait_max: std::time::Duration) {
        let mut owner = self.owner.lock();
        if self.is_broken() {
            return;
        }
        let worked = self.guarded(|| owner.step());
        let next_wake = owner.next_wake();
        let gone = owner.take_gone();
        drop(owner);
        drop(gone);
        self.leave_the_rest();
        if !worked {
            self.inbox.wait(next_wake.min(wait_max));
        }
    }

    /// Whether something waits for whoever calls [`write`](Self::write) next.
    pub(crate) fn awaits_write(&self) -> bool {
        self.log.who_writes() == WhoWrites::Anybody
    }

    /// Writes and syncs what waits, if it makes one small frame and nobody else writes; what is
    /// left is the writer's thread's. True when the owner heard of something new.
    pub(crate) fn write(&self) -> bool {
        let told = self.awaits_write() && self.try_write();
        if told {
            self.inbox.log_moved();
        } else {
            self.leave_the_rest();
        }
        told
    }

    /// Leaves what is still to be written to the writer's thread.
    fn leave_the_rest(&self) {
        if self.log.who_writes() != WhoWrites::Nobody {
            self.log.wake_writer();
        }
    }

    fn try_write(&self) -> bool {
        let Some(mut writing) = self.writing.try_lock() else {
            return false;
        };
        if self.is_broken() {
            return false;
        }
        off_the_runtime(|| self.guarded(|| writing.step(&self.log).1))
    }

    /// Writes one frame. For the writer's own thread.
    pub(crate) fn write_on(&self) -> Progress {
        let mut writing = self.writing.lock();
        if self.is_broken() {
            return Progress::Idle(None);
        }
        let (progress, tells) = self.guarded(|| writing.step(&self.log));
        drop(writing);
        if tells {
            self.inbox.log_moved();
        }
        progress
    }
}

/// The writer, and the sync of what is small.
#[derive(Debug)]
struct Writing {
    writer: WriterMachine,
    syncer: SyncerMachine,
}

impl Writing {
    /// Writes one frame, and syncs it if that is up to the one who wrote it. True where the owner
    /// is to hear of it now.
    fn step(&mut self, log: &CommitLog) -> (Progress, bool) {
        let progress = self.writer.step();
        let wrote = progress == Progress::Worked;
        let synced = wrote
            && log.hand_over_sync() == HandOver::Writer
            && self.syncer.step() == Progress::Worked;
        let tells = synced || wrote && log.take_news() || log.poisoned().is_some();
        (progress, tells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_node::machines;

    fn seat() -> Seat {
        let made = machines();
        Seat::new(made.owner, made.inbox, made.log, made.writer)
    }

    #[test]
    fn after_a_panic_in_a_step_nobody_steps_again_and_the_log_is_stopped() {
        let seat = seat();
        seat.take(Hold::No);
        assert!(!seat.is_broken());
        let panic = catch_unwind(AssertUnwindSafe(|| seat.guarded(|| panic!("half-done"))));
        assert!(panic.is_err(), "whoever stepped ends with it");
        assert!(seat.is_broken() && seat.log.poisoned().is_some());
        assert_eq!(seat.write_on(), Progress::Idle(None));
        assert!(!seat.write());
        let proposed = crate::owner::Proposal::Job(log::background::Done::CheckpointFailed);
        seat.inbox.push(proposed);
        seat.take(Hold::No);
        assert!(seat.inbox.has_work(), "it waits for ever");
    }
}

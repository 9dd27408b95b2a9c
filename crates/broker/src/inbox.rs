//! What waits for the owner.

use std::collections::VecDeque;
use std::sync::{OnceLock, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::owner::Proposal;
use crate::seat::{Hold, Seat};

/// Hand-over to the owner. Its size is bounded by what admission lets in; pushing never waits.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
    work: Condvar,
    /// Where threads step the owner; none in a simulation.
    seat: OnceLock<Weak<Seat>>,
}

#[derive(Debug, Default)]
struct State {
    proposals: VecDeque<Proposal>,
    log_moved: bool,
    waiting: bool,
}

impl State {
    fn has_work(&self) -> bool {
        self.log_moved || !self.proposals.is_empty()
    }
}

impl Inbox {
    /// Adds a proposal, and lets the owner take it: by this thread, where no other is at it. The
    /// writer's thread writes what comes of it.
    pub fn push(&self, proposal: Proposal) {
        self.state.lock().proposals.push_back(proposal);
        self.call(Hold::No);
    }

    /// Adds a proposal as [`push`](Self::push) does, by a thread that calls [`write`](Self::write)
    /// when it has pushed all that it has.
    pub(crate) fn push_held(&self, proposal: Proposal) {
        self.state.lock().proposals.push_back(proposal);
        self.call(Hold::Yes);
    }

    /// Writes what came of the proposals of this thread, or leaves it to the one that writes.
    /// True when something was confirmed, or may be.
    pub(crate) fn write(&self) -> bool {
        let seat = self.seat.get().and_then(Weak::upgrade);
        seat.is_some_and(|seat| seat.write())
    }

    /// Whether something waits for whoever calls [`write`](Self::write) next.
    pub(crate) fn awaits_write(&self) -> bool {
        let seat = self.seat.get().and_then(Weak::upgrade);
        seat.is_some_and(|seat| seat.awaits_write())
    }

    /// Says that the log has events, and lets the owner take them as [`push`](Self::push) does.
    pub fn log_moved(&self) {
        self.state.lock().log_moved = true;
        self.call(Hold::No);
    }

    fn call(&self, hold: Hold) {
        if let Some(seat) = self.seat.get().and_then(Weak::upgrade) {
            seat.take(hold);
        }
    }

    /// From now on whoever brings something takes the seat.
    pub(crate) fn set_seat(&self, seat: Weak<Seat>) {
        // Set once, by the one shell that a node has.
        let _set_before = self.seat.set(seat).is_err();
    }

    /// Wakes the owner's own thread, or keeps it from falling asleep: there is work that is no
    /// longer in here.
    pub(crate) fn wake(&self) {
        let mut state = self.state.lock();
        state.log_moved = true;
        if state.waiting {
            self.work.notify_one();
        }
    }

    /// Whether something waits for the owner.
    pub(crate) fn has_work(&self) -> bool {
        self.state.lock().has_work()
    }

    /// Takes at most `most` proposals.
    pub fn take(&self, most: usize, into: &mut VecDeque<Proposal>) {
        let mut state = self.state.lock();
        state.log_moved = false;
        if into.is_empty() && state.proposals.len() <= most {
            std::mem::swap(into, &mut state.proposals);
        } else {
            let count = most.min(state.proposals.len());
            into.extend(state.proposals.drain(..count));
        }
    }

    /// Proposals that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lock().proposals.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until there is something to do, at most `timeout`. For the owner's thread.
    pub fn wait(&self, timeout: Duration) {
        let mut state = self.state.lock();
        if !state.has_work() {
            state.waiting = true;
            self.work.wait_for(&mut state, timeout);
            state.waiting = false;
        }
    }
}

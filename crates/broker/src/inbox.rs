//! What waits for the owner.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::owner::Proposal;

/// Hand-over to the owner. Its size is bounded by what admission lets in; pushing never waits.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    proposals: VecDeque<Proposal>,
    log_moved: bool,
    waiting: bool,
}

impl Inbox {
    /// Adds a proposal.
    pub fn push(&self, proposal: Proposal) {
        let mut state = self.state.lock();
        state.proposals.push_back(proposal);
        self.wake(&state);
    }

    /// Says that the log has events.
    pub fn log_moved(&self) {
        let mut state = self.state.lock();
        state.log_moved = true;
        self.wake(&state);
    }

    fn wake(&self, state: &State) {
        if state.waiting {
            self.work.notify_one();
        }
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
        if state.proposals.is_empty() && !state.log_moved {
            state.waiting = true;
            self.work.wait_for(&mut state, timeout);
            state.waiting = false;
        }
    }
}

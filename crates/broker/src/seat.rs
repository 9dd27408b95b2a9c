//! The seat of the owner: who steps it.

use std::sync::Arc;

use parking_lot::Mutex;
use types::limits::SEAT_STEPS_MAX;

use crate::inbox::Inbox;
use crate::owner::Owner;

/// Holds the owner for the threads of a node, one at a time. Whoever brings it work steps it where
/// nobody else does: a hand-over to another thread costs more than most steps. The owner's own
/// thread does what is due by the clock, and what others leave when it gets too much for them.
#[derive(Debug)]
pub(crate) struct Seat {
    owner: Mutex<Owner>,
    inbox: Arc<Inbox>,
}

impl Seat {
    pub(crate) const fn new(owner: Owner, inbox: Arc<Inbox>) -> Self {
        Self {
            owner: Mutex::new(owner),
            inbox,
        }
    }

    /// Steps the owner a few times, or leaves it to the thread that does: whoever gets up looks
    /// once more whether something came meanwhile.
    pub(crate) fn take(&self) {
        for _ in 0..SEAT_STEPS_MAX {
            let Some(mut owner) = self.owner.try_lock() else {
                return;
            };
            let worked = owner.step();
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
        let worked = owner.step();
        let next_wake = owner.next_wake();
        let gone = owner.take_gone();
        drop(owner);
        drop(gone);
        if !worked {
            self.inbox.wait(next_wake.min(wait_max));
        }
    }
}

//! The time that Produce requests of one connection may take.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// Wakes a connection's task when its Produce requests have waited long enough.
///
/// One timer serves all of them: it stays set for the earliest deadline that was asked for while it
/// was unset, and goes on to the next one only when it fires. A timer for each request would be set
/// and cleared with nearly every one of them, and setting the first one wakes the runtime's driver.
#[derive(Debug, Default)]
pub(crate) struct ProduceTimer(Mutex<Option<Pin<Box<Sleep>>>>);

impl ProduceTimer {
    /// Ready from `deadline` on; until then the task is woken at that time, or earlier.
    pub(super) fn poll_until(&self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        let mut timer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sleep = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            // It was set for a request that was answered in time.
            sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

//! Threads that wait for the device, so that connections and owner never do.

use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// Runs reads that may block, so many at once and no more.
#[derive(Clone, Debug)]
pub struct ReadPool {
    slots: Arc<Semaphore>,
}

/// The pool was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl ReadPool {
    /// A pool of `threads`, which are the blocking threads of the runtime that it is used on.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(threads)) }
    }

    /// Runs `work` when a thread is free.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Closed> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| Closed)?;
        let (reply, answer) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let _gone = reply.send(work()).is_err();
            drop(slot);
        });
        answer.await.map_err(|_| Closed)
    }
}

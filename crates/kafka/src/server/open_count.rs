//! How many connections are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many connections are open, for those who report it.
#[derive(Clone, Debug, Default)]
pub struct OpenCount(Arc<AtomicUsize>);

impl OpenCount {
    /// The number now.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one connection until the guard is dropped.
    pub(super) fn count(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Counted(OpenCount);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

//! Telling an observer.

use std::fmt;
use std::sync::Arc;

use super::{Hook, HookedDisk};
use crate::{Disk, FaultKind, Operation, Phase};

/// A disk that calls an observer at the start and at the end of each operation, on the thread
/// that makes the call: what the observer has seen end, no caller went on before.
///
/// Bytes that leave by [`File::as_fd`](crate::File::as_fd) are not seen.
pub type RecordingDisk = HookedDisk<RecordHook>;

type Observer = dyn Fn(&Operation, Phase) + Send + Sync;

/// The hook of a [`RecordingDisk`].
pub struct RecordHook(Box<Observer>);

impl RecordingDisk {
    /// Tells `observer` of all that is asked of `inner`. It must not use this disk itself.
    #[must_use]
    pub fn new(
        inner: Arc<dyn Disk>,
        observer: impl Fn(&Operation, Phase) + Send + Sync + 'static,
    ) -> Self {
        Self::around(inner, RecordHook(Box::new(observer)))
    }
}

impl Hook for RecordHook {
    fn before(&self, operation: &Operation) -> Option<FaultKind> {
        (self.0)(operation, Phase::Start);
        None
    }

    fn after(&self, operation: &Operation, ok: bool) {
        (self.0)(operation, Phase::End(ok));
    }
}

impl fmt::Debug for RecordHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordHook")
    }
}

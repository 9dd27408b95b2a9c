//! Where records stand in the log.

use types::FileSequence;
use types::limits::{READ_SPAN_BYTES, READ_WINDOW_BYTES};

/// A byte of a log file. Positions are ordered as the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// The file.
    pub file: FileSequence,
    /// The byte.
    pub position: u64,
}

impl LogPosition {
    /// A byte of a file.
    #[must_use]
    pub const fn new(file: FileSequence, position: u64) -> Self {
        Self { file, position }
    }

    /// Where the stretch of the log ends through which partitions are read together when the first
    /// of them begins here.
    #[must_use]
    pub const fn span_end(self) -> Self {
        let window = self.position - self.position % READ_WINDOW_BYTES;
        Self::new(self.file, window + READ_SPAN_BYTES)
    }
}

//! One life of a log file.

use std::path::PathBuf;
use std::sync::Arc;

use disk::File;
use types::{FileEpoch, FileSequence};

/// An open log file in one of its lives. Readers keep it alive as long as they read (its count of
/// references is the guard that reuse waits for).
#[derive(Debug)]
pub struct LogFile {
    /// Place in the log.
    pub sequence: FileSequence,
    /// This life.
    pub epoch: FileEpoch,
    /// Where it is.
    pub path: PathBuf,
    /// Size of the file.
    pub file_bytes: u64,
    /// The open file.
    pub file: Arc<dyn File>,
}

impl LogFile {
    /// Another handle of the same life of the file, which nobody else counts.
    pub(crate) fn another(&self) -> Self {
        let (path, file) = (self.path.clone(), Arc::clone(&self.file));
        Self {
            path,
            file,
            ..*self
        }
    }
}

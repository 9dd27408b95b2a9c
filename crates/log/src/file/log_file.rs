//! One life of a log file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::File;
use types::{FileEpoch, FileSequence};

use super::lost::LostFile;

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
    /// In the place of a file that is missing in `dir`: every operation fails.
    #[must_use]
    pub fn missing(dir: &Path, sequence: FileSequence, epoch: FileEpoch) -> Self {
        let path = dir.join("missing");
        let file = LostFile::new(path.clone(), ErrorKind::NotFound);
        Self {
            sequence,
            epoch,
            path,
            file_bytes: 0,
            file: Arc::new(file),
        }
    }

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

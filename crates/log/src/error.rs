//! Errors of the storage engine.

use std::path::PathBuf;

use types::ErrorKind;

/// Stored bytes that are not what was written.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path} is damaged at byte {position}: {what}, expected {expected}, found {found}", path = path.display())]
pub struct Corruption {
    /// The damaged file.
    pub path: PathBuf,
    /// Where in it.
    pub position: u64,
    /// Which part of the format.
    pub what: &'static str,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// An operation of the storage engine failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device refused an operation.
    #[error("storage failed")]
    Disk(#[from] disk::Error),
    /// Stored bytes are damaged.
    #[error("storage is damaged")]
    Corrupt(#[from] Corruption),
    /// The directory was written by a newer version.
    #[error("{path} has format version {found}, this version reads up to {supported}", path = path.display())]
    NewerFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its version.
        found: u16,
        /// Ours.
        supported: u16,
    },
    /// The directory has no format file and holds something that a first start does not leave.
    #[error("{path} is in the way: the directory is no data directory, or lost its format file", path = path.display())]
    NotADataDirectory {
        /// What is in the way.
        path: PathBuf,
    },
    /// An earlier failure stopped the log; only a restart opens it again.
    #[error("the log is stopped after a failure: {reason}")]
    Poisoned {
        /// The failure.
        reason: String,
    },
    /// There is no room for the entry.
    #[error("no log space is left")]
    Full,
}

impl Error {
    /// What the caller must do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Disk(error) if error.is_no_space() => ErrorKind::Full,
            Self::Disk(_)
            | Self::NewerFormat { .. }
            | Self::NotADataDirectory { .. }
            | Self::Poisoned { .. } => ErrorKind::Fatal,
            Self::Corrupt(_) => ErrorKind::Corrupt,
            Self::Full => ErrorKind::Full,
        }
    }
}

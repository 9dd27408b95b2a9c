//! One error type per operation: what a protocol maps to its own codes.

use types::ErrorKind;

use crate::producer::ProducerError;

/// The node takes no more changes until it is restarted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log is stopped after a failure of the storage")]
pub struct Stopped;

/// A change of metadata is larger than an entry may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the change takes {bytes} bytes of the log, which takes at most {bytes_max} at once")]
pub struct EntryTooLarge {
    /// Its size.
    pub bytes: usize,
    /// The largest size.
    pub bytes_max: usize,
}

/// A batch was not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The topic or partition does not exist, or no longer.
    #[error("the partition does not exist")]
    UnknownPartition,
    /// The producer's epoch or sequence does not fit.
    #[error(transparent)]
    Producer(#[from] ProducerError),
    /// The batch is larger than a log file can take.
    #[error("the batch has {bytes} bytes, a log file takes at most {bytes_max} at once")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        bytes_max: usize,
    },
    /// The disk is full.
    #[error("no log space is left")]
    Full,
    /// Confirmed records of the partition are lost.
    #[error(
        "confirmed records of the partition cannot be read: it takes no new ones until everything up \
         to them is deleted (DeleteRecords, as by kafka-delete-records), or the whole topic"
    )]
    Damaged,
    /// The node takes no more changes.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl AppendError {
    /// What the caller must do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownPartition => ErrorKind::NotFound,
            Self::Producer(error) => error.kind(),
            Self::TooLarge { .. } => ErrorKind::Invalid,
            Self::Full => ErrorKind::Full,
            Self::Damaged => ErrorKind::Corrupt,
            Self::Stopped(_) => ErrorKind::Fatal,
        }
    }
}

/// Records could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The topic or partition does not exist, or no longer.
    #[error("the partition does not exist")]
    UnknownPartition,
    /// The offset is before the log start or after the end.
    #[error("offset {offset} is outside of [{log_start}, {end}]")]
    OffsetOutOfRange {
        /// What was asked for.
        offset: i64,
        /// First offset that can be read.
        log_start: i64,
        /// The offset after the last.
        end: i64,
    },
    /// The node is closing.
    #[error("the node is closing")]
    Closing,
    /// Stored bytes are damaged or the device failed.
    #[error("the partition cannot be read there")]
    Storage(#[from] log::Error),
}

/// The start of a partition's log was not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrimError {
    /// The topic or partition does not exist, or no longer.
    #[error("the partition does not exist")]
    UnknownPartition,
    /// The offset lies beyond the end.
    #[error("offset {offset} is beyond the end {end}")]
    OffsetOutOfRange {
        /// What was asked for.
        offset: i64,
        /// The offset after the last.
        end: i64,
    },
    /// The node takes no more changes.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

//! Errors of the device.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the method of that name")]
pub enum Op {
    Create,
    Open,
    Rename,
    Remove,
    CreateDir,
    List,
    SyncDir,
    Lock,
    Space,
    Read,
    Write,
    SyncData,
    Allocate,
    SetLen,
    Punch,
    Len,
}

/// An operation of the device failed.
#[derive(Debug, thiserror::Error)]
#[error("{op:?} of {path} at {position} failed", path = path.display())]
pub struct Error {
    /// What was tried.
    pub op: Op,
    /// On which file or directory.
    pub path: PathBuf,
    /// At which byte, 0 where the operation has none.
    pub position: u64,
    /// What the operating system said.
    #[source]
    pub source: io::Error,
}

impl Error {
    /// An error of `op` on `path`.
    #[must_use]
    pub fn new(op: Op, path: &Path, position: u64, source: io::Error) -> Self {
        Self {
            op,
            path: path.to_path_buf(),
            position,
            source,
        }
    }

    /// There is no such file or directory.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// The name is taken.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.source.kind() == io::ErrorKind::AlreadyExists
    }

    /// The device (or the quota) is full.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }

    /// Another process holds the lock.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.op == Op::Lock && self.source.kind() == io::ErrorKind::WouldBlock
    }

    /// The process has no handle or memory left for this: it says nothing of the file.
    #[must_use]
    pub fn is_shortage(&self) -> bool {
        let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
        let code = self.source.raw_os_error();
        code.is_some_and(|code| shortages.iter().any(|errno| errno.raw_os_error() == code))
    }

    /// It says something of the file that it came from.
    #[must_use]
    pub fn is_of_the_file(&self) -> bool {
        !self.is_shortage() && !self.is_power_cut()
    }

    /// The simulated disk is off, or was off since the file was opened.
    #[must_use]
    pub fn is_power_cut(&self) -> bool {
        self.source
            .get_ref()
            .is_some_and(|inner| inner.is::<PowerCut>())
    }

    /// The file system cannot do that at all (punching holes, for one).
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        self.source.kind() == io::ErrorKind::Unsupported
    }

    /// The file ended before the bytes that were asked for.
    #[must_use]
    pub fn is_end_of_file(&self) -> bool {
        self.source.kind() == io::ErrorKind::UnexpectedEof
    }
}

/// What every operation of a simulated disk gives after its power was cut.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("power is cut")]
pub(crate) struct PowerCut;

impl From<PowerCut> for io::Error {
    fn from(cut: PowerCut) -> Self {
        Self::other(cut)
    }
}

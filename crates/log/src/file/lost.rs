//! What stands in the place of a file that cannot be opened.

use std::io;
use std::io::IoSlice;
use std::path::{Path, PathBuf};

use disk::{Error, File, Op};

/// A file that cannot be opened: every operation fails as opening it did.
#[derive(Debug)]
pub(crate) struct LostFile {
    path: PathBuf,
    kind: io::ErrorKind,
}

impl LostFile {
    pub(crate) const fn new(path: PathBuf, kind: io::ErrorKind) -> Self {
        Self { path, kind }
    }

    fn fails<T>(&self, op: Op, position: u64) -> Result<T, Error> {
        Err(Error::new(op, &self.path, position, self.kind.into()))
    }
}

impl File for LostFile {
    fn read_at(&self, _buf: &mut [u8], position: u64) -> Result<usize, Error> {
        self.fails(Op::Read, position)
    }

    fn read_cached_at(&self, _buf: &mut [u8], position: u64) -> Result<Option<usize>, Error> {
        self.fails(Op::Read, position)
    }

    fn write_at(&self, _bufs: &[IoSlice<'_>], position: u64) -> Result<(), Error> {
        self.fails(Op::Write, position)
    }

    fn sync_data(&self) -> Result<(), Error> {
        self.fails(Op::SyncData, 0)
    }

    fn allocate(&self, position: u64, _len: u64) -> Result<(), Error> {
        self.fails(Op::Allocate, position)
    }

    fn set_len(&self, len: u64) -> Result<(), Error> {
        self.fails(Op::SetLen, len)
    }

    fn punch(&self, position: u64, _len: u64) -> Result<(), Error> {
        self.fails(Op::Punch, position)
    }

    fn len(&self) -> Result<u64, Error> {
        self.fails(Op::Len, 0)
    }

    fn prefetch(&self, _position: u64, _len: u64) {}

    fn path(&self) -> &Path {
        &self.path
    }
}

//! The traits.

use std::fmt::Debug;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use crate::{Error, Op};

/// Room on the device that holds a directory, in bytes, as `df` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Size of the device.
    pub total_bytes: u64,
    /// What an unprivileged process can still take.
    pub available_bytes: u64,
}

/// Held while a directory is in use; dropping it gives the directory free.
pub trait Lock: Send + Sync + Debug {}

/// A device with directories and files. Every call blocks until it is done.
pub trait Disk: Send + Sync + Debug {
    /// Makes an empty file for reading and writing; fails if the name is taken.
    ///
    /// # Errors
    /// Any error of the device; the file may or may not exist then.
    fn create(&self, path: &Path) -> Result<Arc<dyn File>, Error>;

    /// Opens a file that exists for reading and writing.
    ///
    /// # Errors
    /// [`Error::is_not_found`] when there is none.
    fn open(&self, path: &Path) -> Result<Arc<dyn File>, Error>;

    /// Gives a file another name in one step, replacing what has that name.
    ///
    /// # Errors
    /// Any error of the device.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), Error>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`Error::is_not_found`] when there is none.
    fn remove(&self, path: &Path) -> Result<(), Error>;

    /// Makes a directory and its parents, durably: they need no [`Disk::sync_dir`] of the
    /// directories that they stand in. Fine if it exists.
    ///
    /// # Errors
    /// Any error of the device.
    fn create_dir(&self, path: &Path) -> Result<(), Error>;

    /// Names of the files (not directories) in a directory, sorted.
    ///
    /// # Errors
    /// [`Error::is_not_found`] when there is no such directory.
    fn list(&self, dir: &Path) -> Result<Vec<String>, Error>;

    /// Makes the names in a directory durable (I2).
    ///
    /// # Errors
    /// After an error the names are unknown: a caller must not go on as if they were synced.
    fn sync_dir(&self, dir: &Path) -> Result<(), Error>;

    /// Locks a file (made if missing) against other processes.
    ///
    /// # Errors
    /// [`Error::is_locked`] when another process holds it.
    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Error>;

    /// Room on the device of `dir`.
    ///
    /// # Errors
    /// Any error of the device.
    fn space(&self, dir: &Path) -> Result<Space, Error>;
}

/// An open file. Positions and lengths are in bytes; there is no cursor.
pub trait File: Send + Sync + Debug {
    /// Reads up to `buf.len()` bytes; fewer only at the end of the file.
    ///
    /// # Errors
    /// Any error of the device.
    fn read_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error>;

    /// Like [`File::read_at`], but past the page cache where the file system can. Address, length
    /// and position are as for [`File::write_direct_at`].
    ///
    /// # Errors
    /// Any error of the device.
    fn read_direct_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        self.read_at(buf, position)
    }

    /// Like [`File::read_at`], but `None` instead of waiting for the device: for callers that must
    /// not block and hand the read to a reader thread in that case.
    ///
    /// # Errors
    /// Any error of the device.
    fn read_cached_at(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, Error>;

    /// Writes all of `bufs`, one after the other, from `position` on.
    ///
    /// # Errors
    /// Any error of the device; any part may have been written then.
    fn write_at(&self, bufs: &[IoSlice<'_>], position: u64) -> Result<(), Error>;

    /// Like [`File::write_at`], but past the page cache where the file system can, for bytes that
    /// their owner keeps in memory as long as they are asked for. Address, length and position are
    /// multiples of [`BLOCK_BYTES`](types::limits::BLOCK_BYTES); what is not goes through the page
    /// cache. As durable as any write: not before the sync.
    ///
    /// # Errors
    /// Any error of the device; any part may have been written then.
    fn write_direct_at(&self, buf: &[u8], position: u64) -> Result<(), Error> {
        self.write_at(&[IoSlice::new(buf)], position)
    }

    /// Makes everything written to this file before the call durable (I1), its length included.
    ///
    /// # Errors
    /// After an error the written pages may be clean and gone: a caller must never try again.
    fn sync_data(&self) -> Result<(), Error>;

    /// Reserves the blocks of a range; the file's length grows to cover it and new bytes are zero.
    ///
    /// # Errors
    /// [`Error::is_no_space`] when the device is full.
    fn allocate(&self, position: u64, len: u64) -> Result<(), Error>;

    /// Cuts or extends (with zeros) the file.
    ///
    /// # Errors
    /// Any error of the device.
    fn set_len(&self, len: u64) -> Result<(), Error>;

    /// Gives the blocks wholly inside the range back to the device; the range then reads as zeros
    /// and the file's length stays.
    ///
    /// # Errors
    /// Any error of the device.
    fn punch(&self, position: u64, len: u64) -> Result<(), Error>;

    /// Length of the file.
    ///
    /// # Errors
    /// Any error of the device.
    fn len(&self) -> Result<u64, Error>;

    /// Whether the file has no bytes.
    ///
    /// # Errors
    /// Any error of the device.
    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.len()? == 0)
    }

    /// Tells the device that a range will be read soon. Best effort.
    fn prefetch(&self, position: u64, len: u64);

    /// Reads exactly `buf.len()` bytes.
    ///
    /// # Errors
    /// [`Error::is_end_of_file`] when the file is too short.
    fn read_exact_at(&self, buf: &mut [u8], position: u64) -> Result<(), Error> {
        let count = self.read_at(buf, position)?;
        if count < buf.len() {
            let at = position.saturating_add(count as u64);
            let source = std::io::ErrorKind::UnexpectedEof.into();
            return Err(Error::new(Op::Read, self.path(), at, source));
        }
        Ok(())
    }

    /// The name under which the file was made or opened; a rename does not change it.
    fn path(&self) -> &Path;

    /// The descriptor, for calls that hand bytes from file to socket inside the kernel; `None`
    /// where there is none (the simulated disk).
    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

//! Spares: files made ready before the log needs them.

use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disk::{Disk, File};
use types::limits::{BLOCK_BYTES, SPARE_MARK_BYTES, SPARE_MARKED_BYTES_MIN, SPARE_MARKS};
use types::{FileEpoch, FileSequence, FrameNumber};

use super::header::{FileHeader, FileState};
use super::log_file::LogFile;
use crate::error::Error;
use crate::frame::ZERO_BLOCK;

/// A file with allocated blocks whose header says spare.
#[derive(Debug)]
pub struct Spare {
    /// Where it is.
    pub path: PathBuf,
    /// The open file.
    pub file: Arc<dyn File>,
    /// Size of the file.
    pub file_bytes: u64,
    /// Its blocks were written before, so that a sync of them has no file metadata to write.
    pub filled: bool,
}

/// What all files of one log directory have in common.
#[derive(Debug)]
pub struct Provisioner {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    directory: [u8; 16],
    file_bytes: u64,
    next_name: AtomicU64,
    generation: AtomicU64,
}

impl Provisioner {
    /// Files of `file_bytes` in `dir`; names and generations go on after those that exist.
    #[must_use]
    pub fn new(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        directory: [u8; 16],
        file_bytes: u64,
        last_name: u64,
        last_generation: u64,
    ) -> Self {
        Self {
            disk,
            dir,
            directory,
            file_bytes,
            next_name: AtomicU64::new(last_name + 1),
            generation: AtomicU64::new(last_generation + 1),
        }
    }

    /// Size of a new file.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Id of the data directory.
    #[must_use]
    pub const fn directory(&self) -> [u8; 16] {
        self.directory
    }

    /// The generation of the next header.
    pub(crate) fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes a new spare: allocated, marked, and its name synced.
    ///
    /// # Errors
    /// Those of the device. What was made is removed again; what even that leaves behind has no
    /// good header and no successor, and recovery takes it for an unfinished spare.
    pub fn make(&self) -> Result<Spare, Error> {
        self.make_sized(self.file_bytes)
    }

    /// Like [`make`](Self::make), but at least `file_bytes` large: files of another size than ours
    /// may be there from before.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    pub fn make_sized(&self, file_bytes: u64) -> Result<Spare, Error> {
        let file_bytes = file_bytes.max(self.file_bytes);
        let name = self.next_name.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join(file_name(name));
        let file = self.disk.create(&path)?;
        let spare = Spare {
            path,
            file,
            file_bytes,
            filled: false,
        };
        let made = spare
            .file
            .allocate(0, file_bytes)
            .map_err(Error::from)
            .and_then(|()| write_marks(&spare))
            .and_then(|()| self.mark(&spare))
            .and_then(|()| Ok(self.disk.sync_dir(&self.dir)?));
        match made {
            Ok(()) => Ok(spare),
            Err(error) => {
                if let Err(left) = self.disk.remove(&spare.path) {
                    tracing::warn!(error = %left, "an unfinished spare stays behind");
                }
                Err(error)
            }
        }
    }

    /// Makes a spare of a log file that nobody needs or reads any more. Where it was to be sealed and
    /// was not, blocks of it may have been given back: it gets all of them again.
    ///
    /// # Errors
    /// Those of the device; the file stays what it was, or is already a spare.
    pub fn recycle(&self, file: LogFile) -> Result<Spare, Error> {
        let spare = Spare {
            path: file.path,
            file: file.file,
            file_bytes: file.file_bytes,
            filled: true,
        };
        spare.file.allocate(0, spare.file_bytes)?;
        self.mark(&spare)?;
        Ok(spare)
    }

    /// Removes a file that is not needed, its name synced.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remove(&self, path: &std::path::Path) -> Result<(), Error> {
        self.disk.remove(path)?;
        Ok(self.disk.sync_dir(&self.dir)?)
    }

    fn mark(&self, spare: &Spare) -> Result<(), Error> {
        let header = FileHeader {
            state: FileState::Spare,
            sequence: FileSequence(0),
            epoch: FileEpoch(0),
            generation: self.next_generation(),
            predecessor: None,
            first_frame: FrameNumber(0),
            file_bytes: spare.file_bytes,
            directory: self.directory,
        };
        header.store(spare.file.as_ref())
    }
}

/// Writes a few blocks at the end of a file, so that it keeps more extents than fit into an inode.
fn write_marks(spare: &Spare) -> Result<(), Error> {
    if spare.file_bytes < SPARE_MARKED_BYTES_MIN {
        return Ok(());
    }
    for number in 0..SPARE_MARKS {
        let position = spare.file_bytes - number * SPARE_MARK_BYTES - BLOCK_BYTES;
        spare
            .file
            .write_at(&[IoSlice::new(&ZERO_BLOCK)], position)?;
    }
    Ok(())
}

/// Name of the log file with this number.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number:020}.log")
}

/// The number in the name of a log file.
pub(crate) fn name_number(name: &str) -> Option<u64> {
    name.strip_suffix(".log")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::{Op, RecordingDisk, SimDisk};
    use parking_lot::Mutex;

    #[test]
    fn blocks_at_the_end_of_a_new_spare_are_written_before_its_name_is_synced() {
        let dir = PathBuf::from("/log");
        let sim = SimDisk::new(1);
        sim.create_dir(&dir).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let observer = {
            let seen = Arc::clone(&seen);
            move |operation: &disk::Operation, phase| {
                if phase == disk::Phase::Start {
                    seen.lock().push((operation.op, operation.position));
                }
            }
        };
        let disk = Arc::new(RecordingDisk::new(Arc::new(sim), observer));
        let bytes = SPARE_MARKED_BYTES_MIN;
        let provisioner = Provisioner::new(disk, dir, [1; 16], bytes, 0, 0);
        let spare = provisioner.make().unwrap();
        let marks = [0, SPARE_MARKS - 1].map(|mark| bytes - mark * SPARE_MARK_BYTES - BLOCK_BYTES);
        let seen = std::mem::take(&mut *seen.lock());
        let at = |op| seen.iter().position(|seen| *seen == op).unwrap();
        let synced = seen.iter().position(|(op, _)| *op == Op::SyncDir).unwrap();
        for mark in marks {
            assert!(at((Op::Write, mark)) < synced);
            let mut block = vec![1; ZERO_BLOCK.len()];
            spare.file.read_exact_at(&mut block, mark).unwrap();
            assert_eq!(block, ZERO_BLOCK);
        }
        assert_eq!(spare.file.len().unwrap(), bytes);
    }
}

//! An open segment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, File};
use parking_lot::Mutex;
use types::{PartitionId, SegmentId};

use super::extent::Extent;
use super::footer::checked_extents;
use super::info::SegmentInfo;
use super::rebuild::{Rebuilt, rebuild, rebuilt_extents};
use super::row::DirectoryRow;
use crate::commit_log::error_chain;
use crate::decode::Malformed;
use crate::error::{Corruption, Error};
use crate::file::{LogFile, LostFile};

/// An open segment: the file that holds its batches, and what the directory knows of it. The
/// footer is opened when it is asked for. Readers keep it alive as long as they read.
#[derive(Debug)]
pub struct Segment {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    info: SegmentInfo,
    data: Arc<dyn File>,
    /// Why not all of the data file can be read; its position is how much can be.
    fault: Option<Corruption>,
    /// The index as the data file tells it, or why it tells none, once the footer could not.
    rebuilt: Mutex<Option<Result<Rebuilt, Corruption>>>,
}

impl Segment {
    /// Opens the segment of the data directory `dir` that `info` describes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, info: SegmentInfo) -> Result<Self, Error> {
        let data = disk.open(&info.data_path(dir))?;
        Ok(Self::new(disk, dir, info, data, None))
    }

    /// The segment that a log file becomes which is open: nothing is asked of the device, and no
    /// handle is needed.
    #[must_use]
    pub fn of_log_file(disk: Arc<dyn Disk>, dir: &Path, info: SegmentInfo, file: &LogFile) -> Self {
        Self::new(disk, dir, info, Arc::clone(&file.file), None)
    }

    /// Like [`open`](Self::open), but a data file that is missing, too short or cannot be opened is
    /// a [`fault`](Self::fault) of the segment and nothing more.
    ///
    /// # Errors
    /// When the process has no handle left, which says nothing of the file.
    pub fn open_damaged(disk: Arc<dyn Disk>, dir: &Path, info: SegmentInfo) -> Result<Self, Error> {
        let path = info.data_path(dir);
        let opened = disk.open(&path);
        let opened = opened.and_then(|file| file.len().map(|len| (file, len)));
        let (data, len, found): (Arc<dyn File>, _, _) = match opened {
            Ok((file, len)) if len >= info.data.end => {
                return Ok(Self::new(disk, dir, info, file, None));
            }
            Ok((file, len)) => (file, len, "the end of the file".to_owned()),
            Err(error) if error.is_shortage() || error.is_power_cut() => return Err(error.into()),
            Err(error) => {
                let lost = LostFile::new(path.clone(), error.source.kind());
                (Arc::new(lost), 0, error_chain(&error))
            }
        };
        let fault = Corruption {
            path,
            position: len,
            what: "data file of a segment",
            expected: format!("frames up to byte {}", info.data.end),
            found,
        };
        Ok(Self::new(disk, dir, info, data, Some(fault)))
    }

    fn new(
        disk: Arc<dyn Disk>,
        dir: &Path,
        info: SegmentInfo,
        data: Arc<dyn File>,
        fault: Option<Corruption>,
    ) -> Self {
        Self {
            disk,
            dir: dir.to_path_buf(),
            info,
            data,
            fault,
            rebuilt: Mutex::default(),
        }
    }

    /// Why not all of the data file can be read, if so.
    #[must_use]
    pub const fn fault(&self) -> Option<&Corruption> {
        self.fault.as_ref()
    }

    /// Its number.
    #[must_use]
    pub const fn id(&self) -> SegmentId {
        self.info.id
    }

    /// What the directory knows of it.
    #[must_use]
    pub const fn info(&self) -> &SegmentInfo {
        &self.info
    }

    /// What it holds of a partition.
    #[must_use]
    pub fn row(&self, partition: PartitionId) -> Option<&DirectoryRow> {
        self.info.row(partition)
    }

    /// The file that holds the batches.
    #[must_use]
    pub const fn data(&self) -> &Arc<dyn File> {
        &self.data
    }

    /// Path of that file.
    #[must_use]
    pub fn data_path(&self) -> PathBuf {
        self.info.data_path(&self.dir)
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The extents of a partition in offset order: one read of the footer, checked. None where
    /// the segment holds nothing of it. Where the footer cannot be read the whole data file is,
    /// once.
    ///
    /// # Errors
    /// Those of the device, and damage of the data file.
    pub fn extents(&self, partition: PartitionId) -> Result<Arc<[Extent]>, Error> {
        let failed = match self.stored_extents(partition) {
            Err(Error::Disk(error)) if error.is_shortage() || error.is_power_cut() => {
                return Err(error.into());
            }
            Err(error) => error,
            stored => return stored,
        };
        let (Some(row), None) = (self.row(partition), &self.fault) else {
            return Err(failed);
        };
        // Held while the file is read: whoever else asks would have to read it as well.
        let mut rebuilt = self.rebuilt.lock();
        let known = match rebuilt.take() {
            Some(known) => known,
            None => self.rebuild(&failed)?,
        };
        match rebuilt.insert(known) {
            Ok(all) => rebuilt_extents(self, all, row),
            Err(corruption) => Err(corruption.clone().into()),
        }
    }

    fn rebuild(&self, failed: &Error) -> Result<Result<Rebuilt, Corruption>, Error> {
        tracing::error!(
            segment = self.info.id.0,
            error = error_chain(failed),
            "the footer of a segment cannot be read, its index is made anew"
        );
        match rebuild(self) {
            Err(Error::Corrupt(corruption)) => Ok(Err(corruption)),
            done => done.map(Ok),
        }
    }

    /// The extents of a partition as they stand in the footer.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when that part of the footer is damaged; those of the device.
    pub fn stored_extents(&self, partition: PartitionId) -> Result<Arc<[Extent]>, Error> {
        let Some(row) = self.row(partition) else {
            return Ok(Arc::from([]));
        };
        let path = self.info.footer_path(&self.dir);
        let corrupt = |fault: Malformed| fault.in_file(&path, row.extents_position);
        let short = Malformed {
            what: "extents of a row",
            position: 0,
        };
        let end = row.extents_position.saturating_add(row.extents_bytes());
        let len = usize::try_from(row.extents_bytes()).unwrap_or(usize::MAX);
        if end > self.info.footer_bytes {
            return Err(corrupt(short).into());
        }
        let footer = self.disk.open(&path)?;
        // The length in the row came from elsewhere: memory follows what is there.
        if footer.len()? < end {
            return Err(corrupt(short).into());
        }
        let mut bytes = vec![0; len];
        footer.read_exact_at(&mut bytes, row.extents_position)?;
        let extents = checked_extents(row, &bytes, self.info.data.end).map_err(corrupt)?;
        Ok(extents.into())
    }

    /// Gives the blocks of a range of the data file back to the device; it reads as zeros then.
    /// Only ranges that [`dead_ranges`](super::dead_ranges) allows.
    ///
    /// # Errors
    /// Those of the device; the range may read as either then.
    pub fn punch(&self, position: u64, len: u64) -> Result<(), Error> {
        let end = position.saturating_add(len).min(self.info.data.end);
        Ok(self.data.punch(position, end.saturating_sub(position))?)
    }

    /// Removes the segment's files, durably. Fine if some are gone already, so it can be done
    /// again.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remove(self, disk: &dyn Disk, dir: &Path) -> Result<(), Error> {
        for path in [self.info.footer_path(dir), self.info.data_path(dir)] {
            match disk.remove(&path) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
            if let Some(folder) = path.parent() {
                disk.sync_dir(folder)?;
            }
        }
        Ok(())
    }
}

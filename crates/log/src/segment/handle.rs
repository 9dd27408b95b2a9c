//! An open segment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, File};
use types::{PartitionId, SegmentId};

use super::extent::Extent;
use super::footer::checked_extents;
use super::info::SegmentInfo;
use super::row::DirectoryRow;
use crate::decode::Malformed;
use crate::error::Error;

/// An open segment: the file that holds its batches, and what the directory knows of it. The
/// footer is opened when it is asked for. Readers keep it alive as long as they read.
#[derive(Debug)]
pub struct Segment {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    info: SegmentInfo,
    data: Arc<dyn File>,
}

impl Segment {
    /// Opens the segment of the data directory `dir` that `info` describes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, info: SegmentInfo) -> Result<Self, Error> {
        let data = disk.open(&info.data_path(dir))?;
        Ok(Self {
            disk,
            dir: dir.to_path_buf(),
            info,
            data,
        })
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
    /// the segment holds nothing of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when that part of the footer is damaged; those of the device.
    pub fn extents(&self, partition: PartitionId) -> Result<Arc<[Extent]>, Error> {
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

//! Looking at log files from outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, SimDisk};
use log::file::{FileHeader, FileState, HEADER_BYTES, LogFile};
use log::frame::FrameHeader;
use log::recovery::{FrameAt, read_header};
use log::{Error, Kind};

/// The log files by what their headers say.
#[derive(Debug, Default)]
pub struct LogFiles {
    /// Live ones in the order of the log.
    pub live: Vec<PathBuf>,
    /// Spares.
    pub spares: Vec<PathBuf>,
}

impl LogFiles {
    /// Those on a disk.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of(disk: &SimDisk) -> Result<Self, Error> {
        let dir = Path::new("/data/log");
        let mut found = Self::default();
        let mut live = Vec::new();
        for name in disk.list(dir)? {
            let path = dir.join(name);
            let file = disk.open(&path)?;
            match FileHeader::load(file.as_ref(), &path) {
                Ok(header) if header.state == FileState::Live => live.push((header.sequence, path)),
                Ok(_) => found.spares.push(path),
                Err(_) => {}
            }
        }
        live.sort();
        found.live = live.into_iter().map(|(_, path)| path).collect();
        Ok(found)
    }
}

/// The file that is being written.
///
/// # Errors
/// Those of the device; when there is none.
pub fn live_file(disk: &SimDisk) -> Result<PathBuf, Error> {
    LogFiles::of(disk)?.live.pop().ok_or(Error::Full)
}

/// A frame in a file.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Where it starts.
    pub position: u64,
    /// What its first entry is; none for a frame without entries.
    pub kind: Option<Kind>,
}

/// The frames of a file.
#[derive(Debug)]
pub struct Frames {
    /// In their order.
    pub all: Vec<Found>,
}

impl Frames {
    /// Those with records.
    #[must_use]
    pub fn records(&self) -> Vec<Found> {
        self.all
            .iter()
            .copied()
            .filter(|frame| frame.kind == Some(Kind::Records))
            .collect()
    }

    /// Those with entries that are not records.
    #[must_use]
    pub fn others(&self) -> Vec<Found> {
        let other = |frame: &Found| frame.kind.is_some_and(|kind| kind != Kind::Records);
        self.all.iter().copied().filter(other).collect()
    }
}

/// The frames of a live file.
///
/// # Errors
/// Those of the device; when the file has no good header.
pub fn frames(disk: &SimDisk, path: &Path) -> Result<Frames, Error> {
    let file = disk.open(path)?;
    let header = FileHeader::load(file.as_ref(), path)?;
    let file = Arc::new(LogFile {
        sequence: header.sequence,
        epoch: header.epoch,
        path: path.to_path_buf(),
        file_bytes: header.file_bytes,
        file,
    });
    let mut all = Vec::new();
    let mut position = HEADER_BYTES;
    while let FrameAt::Frame(frame) = read_header(&file, position)? {
        let FrameHeader {
            position: start,
            ref entries,
            ..
        } = frame;
        all.push(Found {
            position: start,
            kind: entries.first().map(|e| e.header.kind),
        });
        position = frame.end();
    }
    Ok(Frames { all })
}

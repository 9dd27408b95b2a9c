//! Which log files there are, and in which order they form the log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use types::limits::BLOCK_BYTES;
use types::{FileEpoch, FileSequence};

use super::scan::{FrameAt, read_header};
use crate::error::{Corruption, Error};
use crate::file::{FileHeader, FileState, HEADER_BYTES, LogFile, Spare, name_number};
use crate::frame::{EPOCH_AT, FrameHeader};
use crate::segment::DataFile;

/// The log files of a directory, by what their headers say.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// Files that are free.
    pub spares: Vec<Spare>,
    /// Live files, by sequence, and all that claim it.
    live: BTreeMap<FileSequence, Vec<(FileHeader, Arc<LogFile>)>>,
    /// Files without a good header.
    pub broken: Vec<BrokenFile>,
    /// Largest number in a name.
    pub last_name: u64,
    /// Largest generation in a header.
    pub last_generation: u64,
}

impl FoundFiles {
    /// Reads the headers of the files in `dir`. Files of other directories are left alone.
    ///
    /// # Errors
    /// Those of the device. A file without a good header is reported in `broken`.
    pub fn read(disk: &dyn Disk, dir: &Path, directory: [u8; 16]) -> Result<Self, Error> {
        Self::read_but(disk, dir, directory, &BTreeSet::new())
    }

    /// Like [`read`](Self::read), but leaves the files of these numbers unopened: those of segments
    /// that are sealed for good, which may be many.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_but(
        disk: &dyn Disk,
        dir: &Path,
        directory: [u8; 16],
        sealed: &BTreeSet<u64>,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        for name in disk.list(dir)? {
            found.read_file(disk, &dir.join(&name), &name, directory, sealed)?;
        }
        Ok(found)
    }

    /// Like [`read_but`](Self::read_but), but goes on behind a file that cannot be opened or read,
    /// and tells what is wrong with each: for tools that look at all of them.
    ///
    /// # Errors
    /// Those of listing the files, and those that say nothing of a file.
    pub fn read_around(
        disk: &dyn Disk,
        dir: &Path,
        directory: [u8; 16],
        sealed: &BTreeSet<u64>,
    ) -> Result<(Self, Vec<disk::Error>), Error> {
        let (mut found, mut unreadable) = (Self::default(), Vec::new());
        for name in disk.list(dir)? {
            match found.read_file(disk, &dir.join(&name), &name, directory, sealed) {
                Err(Error::Disk(error)) if error.is_of_the_file() => {
                    unreadable.push(error);
                }
                done => done?,
            }
        }
        Ok((found, unreadable))
    }

    fn read_file(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        name: &str,
        directory: [u8; 16],
        sealed: &BTreeSet<u64>,
    ) -> Result<(), Error> {
        let Some(number) = name_number(name) else {
            return Ok(());
        };
        self.last_name = self.last_name.max(number);
        if sealed.contains(&number) {
            return Ok(());
        }
        let file = disk.open(path)?;
        match FileHeader::load(file.as_ref(), path) {
            Ok(header) if header.directory == directory => {
                self.add(header, path.to_path_buf(), file);
            }
            Ok(_) => tracing::warn!(path = %path.display(), "a log file of another directory"),
            Err(Error::Corrupt(corruption)) => self.broken.push(BrokenFile {
                path: path.to_path_buf(),
                file,
                corruption,
            }),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn add(&mut self, header: FileHeader, path: PathBuf, file: Arc<dyn disk::File>) {
        self.last_generation = self.last_generation.max(header.generation);
        let file_bytes = header.file_bytes;
        match header.state {
            FileState::Spare => self.spares.push(Spare {
                path,
                file,
                file_bytes,
                // Nobody noted it, and to fill one twice costs little.
                filled: false,
            }),
            FileState::Live => {
                let (sequence, epoch) = (header.sequence, header.epoch);
                let file = Arc::new(LogFile {
                    sequence,
                    epoch,
                    path,
                    file_bytes,
                    file,
                });
                self.live.entry(sequence).or_default().push((header, file));
            }
        }
    }

    /// The file of this sequence and life.
    #[must_use]
    pub fn get(&self, sequence: FileSequence, epoch: FileEpoch) -> Option<&Arc<LogFile>> {
        let files = self.live.get(&sequence)?;
        files
            .iter()
            .find(|(header, _)| header.epoch == epoch)
            .map(|(_, file)| file)
    }

    /// Live files that `needed` does not name: what a crash left of files that were freed.
    #[must_use]
    pub fn unneeded(&self, needed: &BTreeSet<(FileSequence, FileEpoch)>) -> Vec<Arc<LogFile>> {
        let all = self.live.values().flatten();
        all.filter(|(header, _)| !needed.contains(&(header.sequence, header.epoch)))
            .map(|(_, file)| Arc::clone(file))
            .collect()
    }

    /// The first live file with a later sequence.
    pub(super) fn first_behind(&self, sequence: FileSequence) -> Option<&Arc<LogFile>> {
        let later = FileSequence(sequence.0 + 1);
        let mut files = self.live.range(later..).flat_map(|(_, files)| files);
        files.next().map(|(_, file)| file)
    }

    /// No new file takes the name of this one, be it missing: a segment goes by it.
    pub fn keep_name(&mut self, data: &DataFile) {
        self.last_name = self.last_name.max(data.number().unwrap_or_default());
    }

    fn header(&self, file: &LogFile) -> Option<&FileHeader> {
        let files = self.live.get(&file.sequence)?;
        files
            .iter()
            .find(|(header, _)| header.epoch == file.epoch)
            .map(|(header, _)| header)
    }

    /// The file that follows `file`: of two that name it the later generation.
    fn successor(&self, file: &LogFile) -> Option<(&FileHeader, &Arc<LogFile>)> {
        let next = FileSequence(file.sequence.0 + 1);
        let candidates = self.live.get(&next)?.iter().filter(|(header, _)| {
            header
                .predecessor
                .is_some_and(|p| p.sequence == file.sequence && p.epoch == file.epoch)
        });
        candidates
            .max_by_key(|(header, _)| header.generation)
            .map(|(h, f)| (h, f))
    }
}

/// A file in the log's directory without a good header: an unfinished spare, or damage.
#[derive(Debug)]
pub struct BrokenFile {
    /// Where it is.
    pub path: PathBuf,
    file: Arc<dyn disk::File>,
    /// What is wrong with it.
    pub corruption: Corruption,
}

impl BrokenFile {
    /// The frame header at `position`, whatever life of the file it belongs to. The outer `None`
    /// is the end of the file.
    pub(super) fn frame_of_any_life(
        &self,
        position: u64,
    ) -> Result<Option<Option<FrameHeader>>, Error> {
        let file_bytes = self.file.len()?;
        if position + BLOCK_BYTES > file_bytes {
            return Ok(None);
        }
        let mut epoch = [0; 8];
        self.file.read_exact_at(&mut epoch, position + EPOCH_AT)?;
        let file = LogFile {
            sequence: FileSequence(0),
            epoch: FileEpoch(u64::from_le_bytes(epoch)),
            path: self.path.clone(),
            file_bytes,
            file: Arc::clone(&self.file),
        };
        Ok(match read_header(&file, position)? {
            FrameAt::Frame(frame) => Some(Some(frame)),
            FrameAt::Fault(_) => Some(None),
            FrameAt::End => None,
        })
    }
}

/// A file of the log in its place.
#[derive(Clone, Debug)]
pub struct ChainedFile {
    /// The file.
    pub file: Arc<LogFile>,
    /// Its header.
    pub header: FileHeader,
    /// Number of its first frame.
    pub first_frame: types::FrameNumber,
    /// Where its frames end, as its successor's header says; none for the last file.
    pub end: Option<u64>,
}

/// The unsealed log from `first` on, in order.
///
/// # Errors
/// [`Error::Corrupt`] when `first` is missing.
pub fn chain(
    found: &FoundFiles,
    dir: &Path,
    first: (FileSequence, FileEpoch),
) -> Result<Vec<ChainedFile>, Error> {
    let missing = || {
        Error::Corrupt(Corruption {
            path: dir.to_path_buf(),
            position: 0,
            what: "log file",
            expected: format!(
                "a live file with sequence {} and epoch {:016x}",
                first.0, first.1.0
            ),
            found: "none".to_owned(),
        })
    };
    let file = found.get(first.0, first.1).ok_or_else(missing)?;
    let header = found.header(file).ok_or_else(missing)?;
    let mut files = vec![ChainedFile {
        file: Arc::clone(file),
        header: *header,
        first_frame: header.first_frame,
        end: None,
    }];
    while let Some(last) = files.last_mut() {
        let Some((header, next)) = found.successor(&last.file) else {
            break;
        };
        let end = header.predecessor.map_or(HEADER_BYTES, |p| p.end);
        last.end = Some(end);
        files.push(ChainedFile {
            file: Arc::clone(next),
            header: *header,
            first_frame: header.first_frame,
            end: None,
        });
    }
    Ok(files)
}

//! The header of a log file. docs/formats/log-file.md tells the bytes.

use std::path::Path;

use disk::File;
use types::limits::{BLOCK_BYTES, LOG_FILE_BYTES_MAX, LOG_NUMBER_MAX};
use types::{FileEpoch, FileSequence, FrameNumber};

use crate::error::{Corruption, Error};
use crate::mutant::{self, Mutant};

/// "MLRL" in the order of the bytes.
pub const MAGIC: u32 = u32::from_le_bytes(*b"MLRL");
/// Version of the header format.
pub const VERSION: u16 = 1;
/// Both copies; frames start after them.
pub const HEADER_BYTES: u64 = 2 * BLOCK_BYTES;

/// Bytes of a copy that the CRC covers end here.
const FIELDS_END: usize = 128;

/// What a file is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FileState {
    /// Free to become part of the log.
    Spare = 1,
    /// Part of the log.
    Live = 2,
}

/// The file before another one in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predecessor {
    /// Its sequence.
    pub sequence: FileSequence,
    /// The life of it that is meant.
    pub epoch: FileEpoch,
    /// Where its frames end.
    pub end: u64,
}

/// What a log file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Spare or live.
    pub state: FileState,
    /// Place in the log; 0 for a spare.
    pub sequence: FileSequence,
    /// This life of the file.
    pub epoch: FileEpoch,
    /// Grows with each header that the node writes.
    pub generation: u64,
    /// The file before it; none for the first.
    pub predecessor: Option<Predecessor>,
    /// Number of its first frame.
    pub first_frame: FrameNumber,
    /// Size of the file.
    pub file_bytes: u64,
    /// Id of the data directory.
    pub directory: [u8; 16],
}

impl FileHeader {
    /// One copy, a whole block.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let predecessor = self.predecessor.unwrap_or(Predecessor {
            sequence: FileSequence(0),
            epoch: FileEpoch(0),
            end: 0,
        });
        let mut fields = Vec::with_capacity(FIELDS_END);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.push(self.state as u8);
        fields.resize(8, 0);
        for number in [
            self.sequence.0,
            self.epoch.0,
            self.generation,
            predecessor.sequence.0,
            predecessor.epoch.0,
            predecessor.end,
            self.first_frame.0,
            self.file_bytes,
        ] {
            fields.extend_from_slice(&number.to_le_bytes());
        }
        fields.extend_from_slice(&self.directory);
        fields.resize(FIELDS_END - 8, 0);
        let mut block = Vec::with_capacity(usize::try_from(BLOCK_BYTES).unwrap_or_default());
        block.extend_from_slice(&MAGIC.to_le_bytes());
        block.extend_from_slice(&record::crc32c(&fields).to_le_bytes());
        block.extend_from_slice(&fields);
        block.resize(block.capacity(), 0);
        block
    }

    /// Reads one copy; `None` when it is not a good one.
    #[must_use]
    pub fn parse(block: &[u8]) -> Option<Self> {
        let number = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(block.get(at..at + 8)?.try_into().ok()?))
        };
        let word = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(block.get(at..at + 4)?.try_into().ok()?))
        };
        let fields = block.get(8..FIELDS_END)?;
        let version = u16::from_le_bytes(block.get(8..10)?.try_into().ok()?);
        if word(0)? != MAGIC || word(4)? != record::crc32c(fields) || version != VERSION {
            return None;
        }
        let state = match block.get(10)? {
            1 => FileState::Spare,
            2 => FileState::Live,
            _ => return None,
        };
        let predecessor = Predecessor {
            sequence: FileSequence(number(40)?),
            epoch: FileEpoch(number(48)?),
            end: number(56)?,
        };
        let header = Self {
            state,
            sequence: FileSequence(number(16)?),
            epoch: FileEpoch(number(24)?),
            generation: number(32)?,
            predecessor: (predecessor.sequence.0 != 0).then_some(predecessor),
            first_frame: FrameNumber(number(64)?),
            file_bytes: number(72)?,
            directory: block.get(80..96)?.try_into().ok()?,
        };
        header.is_sound().then_some(header)
    }

    /// What must hold in every header, so that nobody has to ask again: numbers have room to grow,
    /// and those of a live file have begun.
    fn is_sound(&self) -> bool {
        let numbers = [self.sequence.0, self.first_frame.0, self.generation];
        let begun =
            self.state == FileState::Spare || (self.sequence.0 > 0 && self.first_frame.0 > 0);
        let follows = self.predecessor.is_none_or(|before| {
            before.sequence.0.checked_add(1) == Some(self.sequence.0)
                && (HEADER_BYTES..=LOG_FILE_BYTES_MAX).contains(&before.end)
        });
        begun
            && follows
            && numbers.iter().all(|number| *number < LOG_NUMBER_MAX)
            && self.file_bytes <= LOG_FILE_BYTES_MAX
    }

    /// Writes both copies, each synced before the next step.
    ///
    /// # Errors
    /// Those of the device; the file must not be used then.
    pub fn store(&self, file: &dyn File) -> Result<(), Error> {
        debug_assert!(self.is_sound(), "{self:?} would not be read again");
        let block = self.encode();
        for copy in 0..2 {
            file.write_at(&[std::io::IoSlice::new(&block)], copy * BLOCK_BYTES)?;
            file.sync_data()?;
        }
        Ok(())
    }

    /// Reads the header of a file: of two good copies the later generation.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when neither copy is good; that of the device when none is and one could
    /// not be read.
    pub fn load(file: &dyn File, path: &Path) -> Result<Self, Error> {
        let mut best: Option<Self> = None;
        let mut unreadable = None;
        let mut block = vec![0; usize::try_from(BLOCK_BYTES).unwrap_or_default()];
        for copy in 0..2 {
            let got = file.read_at(&mut block, copy * BLOCK_BYTES);
            let got = got.unwrap_or_else(|error| {
                unreadable = Some(error);
                0
            });
            let Some(header) = block.get(..got).and_then(Self::parse) else {
                continue;
            };
            let later = |b: Self| match mutant::is(Mutant::OldHeader) {
                true => header.generation < b.generation,
                false => header.generation > b.generation,
            };
            if best.is_none_or(later) {
                best = Some(header);
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
        Err(match unreadable {
            Some(error) => error.into(),
            None => Error::Corrupt(Corruption {
                path: path.to_path_buf(),
                position: 0,
                what: "log file header",
                expected: "a good copy in one of two blocks".to_owned(),
                found: "none".to_owned(),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use disk::{Disk, Fault, FaultKind, Op, SimDisk};

    use super::*;

    #[test]
    fn one_copy_that_cannot_be_read_leaves_the_other() {
        let disk = SimDisk::new(1);
        let path = Path::new("/f");
        let file = disk.create(path).unwrap();
        let header = FileHeader {
            state: FileState::Live,
            sequence: FileSequence(3),
            epoch: FileEpoch(7),
            generation: 9,
            predecessor: None,
            first_frame: FrameNumber(1),
            file_bytes: 64 << 10,
            directory: [1; 16],
        };
        header.store(file.as_ref()).unwrap();
        let unreadable = |copy| Fault::new(Op::Read, FaultKind::Io).nth(copy);
        for copy in 1..=2 {
            disk.inject(unreadable(copy));
            assert_eq!(FileHeader::load(file.as_ref(), path).unwrap(), header);
            assert_eq!(disk.faults_left(), 0);
        }
        disk.inject(unreadable(1).times(2));
        let error = FileHeader::load(file.as_ref(), path).unwrap_err();
        assert!(matches!(error, Error::Disk(_)), "{error:?}");
    }
}

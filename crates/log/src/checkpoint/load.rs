//! Loading the newest good checkpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, File};
use types::limits::{CHECKPOINT_BLOCK_BYTES, CHECKPOINTS_KEPT};

use super::block::{BlockChain, BlockHeader};
use super::format::BLOCK_HEADER_BYTES;
use super::header::CheckpointHeader;
use super::names::{checkpoint_path, numbers};
use super::row::{Row, RowAssembler};
use crate::decode::Malformed;
use crate::error::Error;

/// A checkpoint that was read to its end and found good.
#[derive(Debug)]
pub struct Checkpoint {
    /// What it says of itself.
    pub header: CheckpointHeader,
    path: PathBuf,
    file: Arc<dyn File>,
    file_bytes: u64,
    chain: BlockChain,
}

/// The newest good checkpoint of a data directory.
#[derive(Debug)]
pub struct Loaded {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// What is wrong with the one that should have been newer.
    pub damaged: Option<Error>,
    /// The number that the next checkpoint takes.
    pub next_number: u64,
}

impl Checkpoint {
    /// Loads the newest good checkpoint of the data directory `dir`: the newest, or, if it is
    /// damaged or cannot be read, the one before it. `None` when there is none at all.
    ///
    /// # Errors
    /// What is wrong with the newest when there are checkpoints and none is good.
    pub fn load_newest(disk: &dyn Disk, dir: &Path) -> Result<Option<Loaded>, Error> {
        let numbers = numbers(disk, dir)?;
        let next_number = numbers.first().map_or(1, |newest| newest.saturating_add(1));
        let mut damaged = None;
        for number in numbers.into_iter().take(CHECKPOINTS_KEPT) {
            match Self::load(disk, dir, number) {
                Ok(checkpoint) => {
                    return Ok(Some(Loaded {
                        checkpoint,
                        damaged,
                        next_number,
                    }));
                }
                Err(error @ (Error::Corrupt(_) | Error::Disk(_))) => {
                    damaged.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        damaged.map_or(Ok(None), Err)
    }

    /// Loads the checkpoint that is kept beside the one with this number; `None` when there is no
    /// good one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn load_before(disk: &dyn Disk, dir: &Path, number: u64) -> Result<Option<Self>, Error> {
        let Some(before) = numbers(disk, dir)?.into_iter().find(|n| *n < number) else {
            return Ok(None);
        };
        match Self::load(disk, dir, before) {
            Ok(checkpoint) => Ok(Some(checkpoint)),
            Err(Error::Corrupt(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Loads each checkpoint that is kept, the newest first, or tells what is wrong with it: for
    /// tools that look at all of them.
    ///
    /// # Errors
    /// Those of listing them.
    pub fn load_kept(disk: &dyn Disk, dir: &Path) -> Result<Vec<Result<Self, Error>>, Error> {
        let numbers = numbers(disk, dir)?.into_iter().take(CHECKPOINTS_KEPT);
        Ok(numbers
            .map(|number| Self::load(disk, dir, number))
            .collect())
    }

    /// Loads the checkpoint with this number and reads it once to its end.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is damaged; those of the device.
    pub fn load(disk: &dyn Disk, dir: &Path, number: u64) -> Result<Self, Error> {
        let path = checkpoint_path(dir, number);
        let file = disk.open(&path)?;
        let bytes = read(file.as_ref(), 0)?;
        let (header, header_bytes) =
            CheckpointHeader::parse(&bytes).map_err(|fault| corrupt(&path, 0, fault))?;
        if header.number != number {
            let fault = Malformed {
                what: "checkpoint number",
                position: 16,
            };
            return Err(corrupt(&path, 0, fault));
        }
        let covered = bytes.get(..header_bytes).unwrap_or_default();
        let chain = BlockChain::after_header(number, covered);
        let mut checkpoint = Self {
            header,
            path,
            file,
            file_bytes: 0,
            chain,
        };
        let mut rows = checkpoint.rows();
        for row in rows.by_ref() {
            row?;
        }
        checkpoint.file_bytes = rows.chain.bytes();
        Ok(checkpoint)
    }

    /// Its number.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.header.number
    }

    /// Size of what it holds.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The rows in the order in which they were written, read one block at a time. Ends after the
    /// first error.
    #[must_use]
    pub fn rows(&self) -> Rows {
        Rows {
            path: self.path.clone(),
            file: Arc::clone(&self.file),
            chain: self.chain.clone(),
            assembler: RowAssembler::default(),
            given: 0,
            ended: false,
        }
    }
}

/// The rows of a checkpoint.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    file: Arc<dyn File>,
    chain: BlockChain,
    assembler: RowAssembler,
    given: u64,
    ended: bool,
}

impl Rows {
    fn next_row(&mut self) -> Result<Option<Row>, Error> {
        loop {
            let position = self.chain.bytes();
            let row = self
                .assembler
                .next()
                .map_err(|fault| corrupt(&self.path, position, fault))?;
            if let Some(row) = row {
                self.given += 1;
                return Ok(Some(row));
            }
            let bytes = read(self.file.as_ref(), position)?;
            let end = next_block(&mut self.chain, &mut self.assembler, self.given, &bytes)
                .map_err(|fault| corrupt(&self.path, position, fault))?;
            if end {
                return Ok(None);
            }
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let row = self.next_row().transpose();
        self.ended = !matches!(row, Some(Ok(_)));
        row
    }
}

/// Takes the block that starts `bytes`. True when it is the end and every row was given.
fn next_block(
    chain: &mut BlockChain,
    assembler: &mut RowAssembler,
    given: u64,
    bytes: &[u8],
) -> Result<bool, Malformed> {
    let short = Malformed {
        what: "block",
        position: 0,
    };
    let (head, rest) = bytes
        .split_first_chunk::<BLOCK_HEADER_BYTES>()
        .ok_or(short)?;
    let header = BlockHeader::parse(head)?;
    let content = rest.get(..header.content_bytes).ok_or(short)?;
    let end = chain.check(&header, content)?;
    if !end {
        assembler.push(content);
    } else if assembler.has_rest() || given != chain.rows() {
        return Err(Malformed {
            what: "number of rows",
            position: 0,
        });
    }
    Ok(end)
}

/// Reads a whole checkpoint out of memory: its header and its rows. For tools and tests; never
/// takes more memory than a small multiple of `bytes`.
///
/// # Errors
/// When the bytes are not a whole, good checkpoint.
pub fn parse_checkpoint(bytes: &[u8]) -> Result<(CheckpointHeader, Vec<Row>), Malformed> {
    let (header, header_bytes) = CheckpointHeader::parse(bytes)?;
    let covered = bytes.get(..header_bytes).unwrap_or_default();
    let mut chain = BlockChain::after_header(header.number, covered);
    let mut assembler = RowAssembler::default();
    let mut rows = Vec::new();
    loop {
        let position = usize::try_from(chain.bytes()).unwrap_or(usize::MAX);
        let at = |fault: Malformed| Malformed {
            position: position.saturating_add(fault.position),
            ..fault
        };
        while let Some(row) = assembler.next().map_err(at)? {
            rows.push(row);
        }
        let rest = bytes.get(position..).unwrap_or_default();
        if next_block(&mut chain, &mut assembler, rows.len() as u64, rest).map_err(at)? {
            return Ok((header, rows));
        }
    }
}

/// Reads what a block or a header holds at most.
fn read(file: &dyn File, position: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; CHECKPOINT_BLOCK_BYTES];
    let got = file.read_at(&mut bytes, position)?;
    bytes.truncate(got);
    Ok(bytes)
}

fn corrupt(path: &Path, position: u64, fault: Malformed) -> Error {
    fault.in_file(path, position).into()
}

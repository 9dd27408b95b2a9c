//! One LZ4 frame, block by block. Checked: the header's checksum, and the blocks' and the
//! content's where the frame has them.
//!
//! Kafka's clients once computed the header's checksum over the magic too, in message formats
//! before 2; in a batch of format 2 such a frame is malformed, as it is for Kafka.

use lz4_flex::block::{decompress_into, decompress_into_with_dict};

use super::xxh32::{Xxh32, xxh32};
use super::{Output, malformed};
use crate::cursor::Cursor;
use crate::{BatchError, Codec};

const MAGIC: u32 = 0x184d_2204;
const VERSION_MASK: u8 = 0b1100_0000;
const VERSION: u8 = 0b0100_0000;
const INDEPENDENT: u8 = 0b0010_0000;
const BLOCK_CHECKSUM: u8 = 0b0001_0000;
const CONTENT_SIZE: u8 = 0b0000_1000;
const CONTENT_CHECKSUM: u8 = 0b0000_0100;
/// The reserved bit, and the dictionary that nobody agreed on.
const REFUSED: u8 = 0b0000_0011;
/// In a block's length: the block is stored as it is.
const STORED: u32 = 1 << 31;
/// How far back a linked block may refer.
const HISTORY_BYTES: usize = 64 << 10;

/// Whether `body` starts with an LZ4 frame whose blocks refer to earlier ones.
pub(crate) fn is_linked(body: &[u8]) -> bool {
    let mut cursor = Cursor::new(body);
    cursor.array().map(u32::from_le_bytes) == Some(MAGIC)
        && cursor.byte().is_some_and(|flags| flags & INDEPENDENT == 0)
}

pub(crate) struct Lz4<'a> {
    rest: Cursor<'a>,
    flags: u8,
    block_bytes_max: usize,
    content_bytes: Option<u64>,
    seen_bytes: u64,
    content_hash: Xxh32,
    /// The last output, where blocks are linked.
    history: Vec<u8>,
}

impl<'a> Lz4<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Result<Self, BatchError> {
        Self::open(body).ok_or(malformed(Codec::Lz4))
    }

    fn open(body: &'a [u8]) -> Option<Self> {
        let mut rest = Cursor::new(body);
        (u32::from_le_bytes(rest.array()?) == MAGIC).then_some(())?;
        let descriptor = rest.rest();
        let [flags, block] = rest.array()?;
        if flags & VERSION_MASK != VERSION || flags & REFUSED != 0 {
            return None;
        }
        let has_size = flags & CONTENT_SIZE != 0;
        let content_bytes = if has_size {
            Some(u64::from_le_bytes(rest.array()?))
        } else {
            None
        };
        let covered = descriptor.get(..descriptor.len().checked_sub(rest.rest().len())?)?;
        (xxh32(covered).to_le_bytes().get(1) == rest.byte().as_ref()).then_some(())?;
        Some(Self {
            rest,
            flags,
            block_bytes_max: block_bytes_max(block)?,
            content_bytes,
            seen_bytes: 0,
            content_hash: Xxh32::new(),
            history: Vec::new(),
        })
    }

    pub(crate) fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        loop {
            let Some(block) = self.block().ok_or(malformed(Codec::Lz4))? else {
                return Ok(0);
            };
            let written = self.unpack_block(block, output)?;
            if written > 0 {
                return Ok(written);
            }
        }
    }

    /// The next block and whether it is stored; the inner `None` at the frame's proper end.
    fn block(&mut self) -> Option<Option<(&'a [u8], bool)>> {
        let word = u32::from_le_bytes(self.rest.array()?);
        if word == 0 {
            return self.end().then_some(None);
        }
        let len = usize::try_from(word & !STORED).ok()?;
        let bytes = self.rest.take(len)?;
        if self.flags & BLOCK_CHECKSUM != 0 {
            (u32::from_le_bytes(self.rest.array()?) == xxh32(bytes)).then_some(())?;
        }
        (len <= self.block_bytes_max).then_some(Some((bytes, word & STORED != 0)))
    }

    /// Whether what follows the end mark is as it must be. A further frame would be lost on
    /// Kafka's reader.
    fn end(&mut self) -> bool {
        let hash_fits = self.flags & CONTENT_CHECKSUM == 0
            || self.rest.array().map(u32::from_le_bytes) == Some(self.content_hash.finish());
        // Asked for once more, the end must still be the end.
        self.flags &= !CONTENT_CHECKSUM;
        let size_fits = self
            .content_bytes
            .is_none_or(|bytes| bytes == self.seen_bytes);
        let ended = hash_fits && size_fits && self.rest.rest().is_empty();
        self.rest = Cursor::new(&[0; 4]);
        ended
    }

    fn unpack_block(
        &mut self,
        (block, stored): (&[u8], bool),
        output: &mut Output,
    ) -> Result<usize, BatchError> {
        let written = if stored {
            output.room(block.len()).copy_from_slice(block);
            block.len()
        } else {
            // No byte of a block gives more than 255.
            let most = self.block_bytes_max.min(block.len().saturating_mul(255));
            let room = output.room(most);
            let unpacked = match self.history.as_slice() {
                [] => decompress_into(block, room),
                history => decompress_into_with_dict(block, room, history),
            };
            unpacked.map_err(|_| malformed(Codec::Lz4))?
        };
        output.filled(written)?;
        self.note(output.last(written));
        Ok(written)
    }

    /// Keeps what later blocks and the end of the frame need of this output.
    fn note(&mut self, unpacked: &[u8]) {
        self.seen_bytes = self.seen_bytes.saturating_add(unpacked.len() as u64);
        if self.flags & CONTENT_CHECKSUM != 0 {
            self.content_hash.update(unpacked);
        }
        if self.flags & INDEPENDENT == 0 {
            self.history.extend_from_slice(unpacked);
            let surplus = self.history.len().saturating_sub(HISTORY_BYTES);
            self.history.drain(..surplus);
        }
    }
}

fn block_bytes_max(descriptor: u8) -> Option<usize> {
    match descriptor {
        0x40 => Some(64 << 10),
        0x50 => Some(256 << 10),
        0x60 => Some(1 << 20),
        0x70 => Some(4 << 20),
        _ => None,
    }
}

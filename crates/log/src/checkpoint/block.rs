//! Blocks: the checksummed pieces of a checkpoint.

use super::format::{BLOCK_END, BLOCK_HEADER_BYTES, BLOCK_ROWS, CONTENT_BYTES_MAX, END_BYTES};
use crate::decode::{Decoder, Malformed};

/// Where a block belongs. It is part of the block's CRC, so that what a file held in a former
/// life never validates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPlace {
    pub(super) checkpoint: u64,
    pub(super) ordinal: u64,
}

impl BlockPlace {
    fn crc(self, head: &[u8], content: &[u8]) -> u32 {
        let mut place = [0; 16];
        let (checkpoint, ordinal) = place.split_at_mut(8);
        checkpoint.copy_from_slice(&self.checkpoint.to_le_bytes());
        ordinal.copy_from_slice(&self.ordinal.to_le_bytes());
        let crc = record::crc32c_append(record::crc32c(&place), head);
        record::crc32c_append(crc, content)
    }
}

/// The header of a block, not yet vouched for by its CRC.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockHeader {
    pub(super) kind: u8,
    pub(super) content_bytes: usize,
    rows: u32,
    crc: u32,
}

/// Bytes of a block header that its CRC covers.
const COVERED_BYTES: usize = 12;

impl BlockHeader {
    /// Reads the lengths, checked against what a block may hold.
    pub(super) fn parse(bytes: &[u8; BLOCK_HEADER_BYTES]) -> Result<Self, Malformed> {
        let mut from = Decoder::new(bytes);
        let kind = from.u8("block kind")?;
        if from.take(3, "block header")? != [0; 3] {
            return Err(Malformed {
                what: "block header",
                position: 1,
            });
        }
        let content_bytes = from.u32("block bytes")? as usize;
        let rows = from.u32("block rows")?;
        let crc = from.u32("block CRC")?;
        let fits = match kind {
            BLOCK_ROWS => (1..=CONTENT_BYTES_MAX).contains(&content_bytes),
            BLOCK_END => content_bytes == END_BYTES,
            _ => {
                return Err(Malformed {
                    what: "block kind",
                    position: 0,
                });
            }
        };
        if !fits {
            return Err(Malformed {
                what: "block bytes",
                position: 4,
            });
        }
        Ok(Self {
            kind,
            content_bytes,
            rows,
            crc,
        })
    }

    fn covered(&self) -> [u8; COVERED_BYTES] {
        let mut bytes = [0; COVERED_BYTES];
        let (head, rows) = bytes.split_at_mut(8);
        let (kind, len) = head.split_at_mut(4);
        kind.copy_from_slice(&u32::from(self.kind).to_le_bytes());
        let content_bytes = u32::try_from(self.content_bytes).unwrap_or(u32::MAX);
        len.copy_from_slice(&content_bytes.to_le_bytes());
        rows.copy_from_slice(&self.rows.to_le_bytes());
        bytes
    }
}

/// Appends a block to a file under construction.
fn put_block(out: &mut Vec<u8>, place: BlockPlace, kind: u8, rows: u32, content: &[u8]) -> u32 {
    let mut header = BlockHeader {
        kind,
        content_bytes: content.len(),
        rows,
        crc: 0,
    };
    let covered = header.covered();
    header.crc = place.crc(&covered, content);
    out.extend_from_slice(&covered);
    out.extend_from_slice(&header.crc.to_le_bytes());
    out.extend_from_slice(content);
    header.crc
}

/// Follows the blocks of a checkpoint from the first to the end, on either side: what it counts
/// while blocks pass is what the end block must say.
#[derive(Clone, Debug)]
pub(super) struct BlockChain {
    checkpoint: u64,
    blocks: u64,
    rows: u64,
    bytes: u64,
    crcs: u32,
}

impl BlockChain {
    /// Before the first block; `header` is the whole header of the file.
    pub(super) fn after_header(checkpoint: u64, header: &[u8]) -> Self {
        let crcs = record::crc32c(header);
        Self {
            checkpoint,
            blocks: 0,
            rows: 0,
            bytes: header.len() as u64,
            crcs,
        }
    }

    /// Bytes of the file up to here.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Rows that started up to here.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    const fn place(&self) -> BlockPlace {
        BlockPlace {
            checkpoint: self.checkpoint,
            ordinal: self.blocks,
        }
    }

    fn pass(&mut self, rows: u32, content_bytes: usize, crc: u32) {
        self.blocks += 1;
        self.rows += u64::from(rows);
        self.bytes += (BLOCK_HEADER_BYTES + content_bytes) as u64;
        self.crcs = record::crc32c_append(self.crcs, &crc.to_le_bytes());
    }

    /// Appends a block of rows.
    pub(super) fn put_rows(&mut self, out: &mut Vec<u8>, rows: u32, content: &[u8]) {
        debug_assert!((1..=CONTENT_BYTES_MAX).contains(&content.len()));
        let crc = put_block(out, self.place(), BLOCK_ROWS, rows, content);
        self.pass(rows, content.len(), crc);
    }

    /// Appends the end block.
    pub(super) fn put_end(&mut self, out: &mut Vec<u8>) {
        let content = self.end_content();
        let crc = put_block(out, self.place(), BLOCK_END, 0, &content);
        self.pass(0, content.len(), crc);
    }

    fn end_content(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(END_BYTES);
        for number in [self.blocks, self.rows, self.bytes] {
            content.extend_from_slice(&number.to_le_bytes());
        }
        content.extend_from_slice(&self.crcs.to_le_bytes());
        content.resize(END_BYTES, 0);
        content
    }

    /// Checks a block that was read. True for the end block, which must agree with all before it.
    pub(super) fn check(
        &mut self,
        header: &BlockHeader,
        content: &[u8],
    ) -> Result<bool, Malformed> {
        if self.place().crc(&header.covered(), content) != header.crc {
            return Err(Malformed {
                what: "block CRC",
                position: 12,
            });
        }
        let is_end = header.kind == BLOCK_END;
        if is_end && content != self.end_content() {
            return Err(Malformed {
                what: "end block",
                position: BLOCK_HEADER_BYTES,
            });
        }
        self.pass(header.rows, content.len(), header.crc);
        Ok(is_end)
    }
}

//! CRCs of the blocks of a file, over bytes that come one after the other.

use types::limits::SEGMENT_CRC_BLOCK_BYTES;

/// Counts bytes into the CRCs of their blocks (docs/formats/segment-footer.md).
#[derive(Debug)]
pub(super) struct BlockCrcs {
    position: u64,
    crc: u32,
    /// The present block has bytes.
    begun: bool,
}

impl BlockCrcs {
    /// Begins at a byte of the file.
    pub(super) const fn new(position: u64) -> Self {
        Self {
            position,
            crc: 0,
            begun: false,
        }
    }

    /// Adds the next bytes and tells the CRC of each block that they end.
    pub(super) fn add(&mut self, bytes: &[u8], mut ended: impl FnMut(u32)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let boundary = (self.position + 1).next_multiple_of(SEGMENT_CRC_BLOCK_BYTES);
            let room = usize::try_from(boundary - self.position).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.crc = record::crc32c_append(self.crc, now);
            self.position += now.len() as u64;
            self.begun = self.position != boundary;
            if !self.begun {
                ended(std::mem::take(&mut self.crc));
            }
            rest = later;
        }
    }

    /// The CRC of the last block, if the bytes end inside one.
    pub(super) fn rest(&self) -> Option<u32> {
        self.begun.then_some(self.crc)
    }
}

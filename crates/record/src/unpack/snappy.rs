//! Snappy: snappy-java's framing, which Kafka's clients write, or one bare block.

use snap::raw::{Decoder, decompress_len};

use super::{Output, malformed};
use crate::cursor::Cursor;
use crate::{BatchError, Codec};

/// What snappy-java's framing starts with.
pub(crate) const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// Magic, version and the oldest version that can read it.
pub(crate) const FRAMING_BYTES: usize = 16;

pub(crate) struct Snappy<'a> {
    rest: Cursor<'a>,
    framed: bool,
}

impl<'a> Snappy<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Result<Self, BatchError> {
        let framed = body.starts_with(&MAGIC);
        let mut rest = Cursor::new(body);
        if body.is_empty() || framed && rest.take(FRAMING_BYTES).is_none() {
            return Err(malformed(Codec::Snappy));
        }
        Ok(Self { rest, framed })
    }

    pub(crate) fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        while !self.rest.rest().is_empty() {
            let block = self.block().ok_or(malformed(Codec::Snappy))?;
            let written = unpack_block(block, output)?;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }

    fn block(&mut self) -> Option<&'a [u8]> {
        let len = if self.framed {
            usize::try_from(i32::from_be_bytes(self.rest.array()?)).ok()?
        } else {
            self.rest.rest().len()
        };
        self.rest.take(len)
    }
}

fn unpack_block(block: &[u8], output: &mut Output) -> Result<usize, BatchError> {
    let claimed = decompress_len(block).map_err(|_| malformed(Codec::Snappy))?;
    // A copy element of 3 bytes gives 64 at most, so no block grows more than 22 times: a larger
    // claim is false, and refused before memory is taken for it.
    if claimed > block.len().saturating_mul(22) {
        return Err(malformed(Codec::Snappy));
    }
    if claimed > output.allowance() {
        return Err(output.too_large());
    }
    let written = Decoder::new()
        .decompress(block, output.room(claimed))
        .map_err(|_| malformed(Codec::Snappy))?;
    output.filled(written)
}

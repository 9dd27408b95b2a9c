//! One gzip member (RFC 1952), its trailer checked.

use std::io::Read;

use flate2::bufread::GzDecoder;
use types::limits;

use super::{Output, malformed};
use crate::{BatchError, Codec};

pub(crate) struct Gzip<'a> {
    decoder: GzDecoder<&'a [u8]>,
}

impl<'a> Gzip<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self {
            decoder: GzDecoder::new(body),
        }
    }

    pub(crate) fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        // One byte more than allowed, so that reaching the bound and exceeding it differ.
        let count = limits::UNPACK_STEP_BYTES.min(output.allowance().saturating_add(1));
        let read = self
            .decoder
            .read(output.room(count))
            .map_err(|_| malformed(Codec::Gzip))?;
        // A second member would be lost on readers that stop at the first one's end.
        if read == 0 && !self.decoder.get_ref().is_empty() {
            return Err(malformed(Codec::Gzip));
        }
        output.filled(read)
    }
}

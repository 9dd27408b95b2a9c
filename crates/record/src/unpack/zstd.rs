//! Zstandard frames (RFC 8878).

use types::limits;
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::{Output, malformed};
use crate::{BatchError, Codec};

pub(crate) struct Zstd<'a> {
    decoder: Decoder<'static>,
    rest: &'a [u8],
    frame_ended: bool,
}

impl<'a> Zstd<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Result<Self, BatchError> {
        let window = DParameter::WindowLogMax(limits::ZSTD_WINDOW_LOG_MAX);
        let decoder = Decoder::new()
            .and_then(|mut decoder| decoder.set_parameter(window).map(|()| decoder))
            .map_err(|_| malformed(Codec::Zstd))?;
        Ok(Self {
            decoder,
            rest: body,
            frame_ended: false,
        })
    }

    pub(crate) fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        loop {
            if self.frame_ended && self.rest.is_empty() {
                return Ok(0);
            }
            // One byte more than allowed, so that reaching the bound and exceeding it differ.
            let count = limits::UNPACK_STEP_BYTES.min(output.allowance().saturating_add(1));
            let room = output.room(count);
            let status = self
                .decoder
                .run_on_buffers(self.rest, room)
                .map_err(|_| malformed(Codec::Zstd))?;
            self.rest = self.rest.get(status.bytes_read..).unwrap_or_default();
            self.frame_ended = status.remaining == 0;
            if status.bytes_written > 0 {
                return output.filled(status.bytes_written);
            }
            if status.bytes_read == 0 && !self.frame_ended {
                return Err(malformed(Codec::Zstd));
            }
        }
    }
}

//! Snappy in snappy-java's framing.

use std::io::{Error, ErrorKind, Result, Write};

use snap::raw::Encoder;

use super::Sink;

/// Magic, version 1, readable from version 1 on.
const FRAMING: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
/// What snappy-java puts into one block by default.
const BLOCK_BYTES: usize = 32 << 10;

pub(crate) struct Snappy {
    sink: Sink,
    encoder: Encoder,
    block: Vec<u8>,
    started: bool,
}

impl Snappy {
    pub(crate) fn new(sink: Sink) -> Self {
        Self {
            sink,
            encoder: Encoder::new(),
            block: Vec::new(),
            started: false,
        }
    }

    pub(crate) fn finish(mut self) -> Result<Sink> {
        self.write_block()?;
        Ok(self.sink)
    }

    fn write_block(&mut self) -> Result<()> {
        if !self.started {
            self.started = true;
            self.sink.write_all(&FRAMING)?;
        }
        if self.block.is_empty() {
            return Ok(());
        }
        let packed = self.encoder.compress_vec(&self.block)?;
        let len = i32::try_from(packed.len()).map_err(|_| Error::from(ErrorKind::FileTooLarge))?;
        self.block.clear();
        self.sink.write_all(&len.to_be_bytes())?;
        self.sink.write_all(&packed)
    }
}

impl Write for Snappy {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let room = BLOCK_BYTES.saturating_sub(self.block.len());
        let (now, _) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.block.extend_from_slice(now);
        if self.block.len() >= BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(now.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

//! Where packed bytes go.

use std::io::{Error, ErrorKind, Result, Write};

/// Bytes in memory, up to a bound. Exceeding it is an error of the kind `FileTooLarge`.
pub(crate) struct Sink {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Sink {
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if bytes.len() > self.bytes_max.saturating_sub(self.bytes.len()) {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

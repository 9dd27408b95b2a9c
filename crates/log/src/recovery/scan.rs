//! Reading frames from a file.

use bytes::Bytes;
use types::limits::BLOCK_BYTES;

use crate::error::Error;
use crate::file::LogFile;
use crate::frame::{FrameFault, FrameHeader, PlacedHeader};

/// What stands at a position of a file.
#[derive(Debug)]
pub enum FrameAt {
    /// A frame with a good header.
    Frame(FrameHeader),
    /// Something else.
    Fault(FrameFault),
    /// Nothing: the file ends here.
    End,
}

/// Reads the frame header at `position`.
///
/// # Errors
/// Those of the device.
pub fn read_header(file: &LogFile, position: u64) -> Result<FrameAt, Error> {
    if position + BLOCK_BYTES > file.file_bytes {
        return Ok(FrameAt::End);
    }
    let mut bytes = read(file, position, BLOCK_BYTES)?;
    let mut parsed = FrameHeader::parse(&bytes, file.epoch, position);
    if let Err(FrameFault::Short { header_bytes }) = parsed {
        if position + header_bytes as u64 > file.file_bytes {
            return Ok(FrameAt::Fault(FrameFault::Length));
        }
        bytes = read(file, position, header_bytes as u64)?;
        parsed = FrameHeader::parse(&bytes, file.epoch, position);
    }
    Ok(match parsed {
        Ok(frame) if frame.end() > file.file_bytes => FrameAt::Fault(FrameFault::Length),
        Ok(frame) => FrameAt::Frame(frame),
        Err(fault) => FrameAt::Fault(fault),
    })
}

/// Reads a payload and checks its CRC; `None` when it does not match.
///
/// # Errors
/// Those of the device.
pub fn read_payload(file: &LogFile, entry: &PlacedHeader) -> Result<Option<Bytes>, Error> {
    let bytes = read(file, entry.position, u64::from(entry.payload_bytes))?;
    Ok((record::crc32c(&bytes) == entry.payload_crc).then(|| Bytes::from(bytes)))
}

/// Reads `len` bytes; what the file lacks comes as zeros, which no check takes for good.
fn read(file: &LogFile, position: u64, len: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    file.file.read_at(&mut bytes, position)?;
    Ok(bytes)
}

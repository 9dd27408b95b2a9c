//! What must hold for any bytes that are taken for the header of a log file.

use bytes::Bytes;
use log::file::FileHeader;

use crate::allocated::bounded;
use crate::fields::put_crc;

/// Where the CRC stands, and what it covers (docs/formats/log-file.md).
const CRC: (usize, usize, usize) = (4, 8, 128);

/// Reads one copy. The first byte says whether its CRC is put right before. True when there
/// was a header.
pub fn check(input: &Bytes) -> bool {
    let Some((choice, block)) = input.split_first() else {
        return false;
    };
    let mut block = block.to_vec();
    if choice % 2 == 1 {
        put_crc(&mut block, CRC.0, CRC.1, CRC.2);
    }
    let Some(header) = bounded(block.len(), 0, || FileHeader::parse(&block)) else {
        return false;
    };
    assert_eq!(FileHeader::parse(&header.encode()), Some(header));
    true
}

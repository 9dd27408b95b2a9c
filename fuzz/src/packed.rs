//! Codecs without compression: frames that hold their content as it is. They let a target choose
//! what a codec gives, byte by byte, and are valid for every decoder.

use record::Codec;

/// Content up to this size fits into one block of every codec.
const CONTENT_BYTES_MAX: usize = 60_000;

/// The front of `content` in a frame of the codec.
pub fn packed(codec: Codec, content: &[u8]) -> Vec<u8> {
    let content = content.get(..CONTENT_BYTES_MAX).unwrap_or(content);
    match codec {
        Codec::None => content.to_vec(),
        Codec::Gzip => gzip(content),
        Codec::Snappy => snappy(content),
        Codec::Lz4 => lz4(content),
        Codec::Zstd => zstd(content),
    }
}

fn len_u16(content: &[u8]) -> u16 {
    u16::try_from(content.len()).unwrap_or(u16::MAX)
}

/// RFC 1952 around one stored block of RFC 1951.
fn gzip(content: &[u8]) -> Vec<u8> {
    let len = len_u16(content);
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    out.extend(len.to_le_bytes());
    out.extend((!len).to_le_bytes());
    out.extend(content);
    out.extend(crc32(content).to_le_bytes());
    out.extend(u32::from(len).to_le_bytes());
    out
}

/// The CRC-32 of RFC 1952.
fn crc32(content: &[u8]) -> u32 {
    let step = |crc: u32| crc >> 1 ^ 0xedb8_8320 & 0u32.wrapping_sub(crc & 1);
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !content.iter().fold(!0, byte)
}

/// One bare block of literals.
fn snappy(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = content.len();
    while rest >= 0x80 {
        out.push(u8::try_from(rest & 0x7f).unwrap_or(0) | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap_or(0));
    for literal in content.chunks(60) {
        out.push(u8::try_from((literal.len() - 1) << 2).unwrap_or(0));
        out.extend(literal);
    }
    out
}

/// A frame with independent blocks of up to 64 KiB, of which one is stored.
fn lz4(content: &[u8]) -> Vec<u8> {
    let mut out = b"\x04\x22\x4d\x18\x60\x40\x82".to_vec();
    if !content.is_empty() {
        out.extend((u32::from(len_u16(content)) | 1 << 31).to_le_bytes());
        out.extend(content);
    }
    out.extend([0; 4]);
    out
}

/// A single segment whose size is told, with one raw block (RFC 8878).
fn zstd(content: &[u8]) -> Vec<u8> {
    let len = u32::from(len_u16(content));
    let mut out = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    out.extend(len.to_le_bytes());
    out.extend(&(len << 3 | 1).to_le_bytes()[..3]);
    out.extend(content);
    out
}

//! Positions of the fields of a frame header (docs/formats/frame.md).

/// "MLRF" in the order of the bytes.
pub const MAGIC: u32 = u32::from_le_bytes(*b"MLRF");
/// Version of the frame format.
pub const VERSION: u16 = 1;
/// Bytes of a frame header before the descriptors.
pub const FIXED_BYTES: usize = 80;
/// Bytes of the descriptor of one entry.
pub const DESCRIPTOR_BYTES: usize = 72;

/// Where the CRC of the header starts to count: after magic and CRC.
pub(super) const CRC_FROM: usize = 8;
/// Where the file epoch stands.
pub const EPOCH_AT: u64 = 24;

/// What frames are padded with, and spares marked.
pub(crate) static ZERO_BLOCK: [u8; 4096] = [0; 4096];

const _: () = assert!(ZERO_BLOCK.len() as u64 == types::limits::BLOCK_BYTES);

//! Constants of the checkpoint format (docs/formats/checkpoint.md).

use types::limits::CHECKPOINT_BLOCK_BYTES;

/// "MLRC" in the order of the bytes.
pub const MAGIC: u32 = u32::from_le_bytes(*b"MLRC");
/// Version of the checkpoint format.
pub const VERSION: u16 = 1;
/// Bytes of a header before the shards.
pub(super) const FIXED_BYTES: usize = 112;
/// Bytes of one shard in the header.
pub(super) const SHARD_BYTES: usize = 24;
/// Bytes of the header of a block.
pub(super) const BLOCK_HEADER_BYTES: usize = 16;
/// Bytes of the content of the end block.
pub(super) const END_BYTES: usize = 32;

/// Where the CRC of the header starts to count: after magic and CRC.
pub(super) const CRC_FROM: usize = 8;
/// A block of rows.
pub(super) const BLOCK_ROWS: u8 = 1;
/// The last block.
pub(super) const BLOCK_END: u8 = 2;
/// Content of a block of rows at most.
pub(super) const CONTENT_BYTES_MAX: usize = CHECKPOINT_BLOCK_BYTES - BLOCK_HEADER_BYTES;

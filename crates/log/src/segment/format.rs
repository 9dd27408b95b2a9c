//! Constants of the footer format (docs/formats/segment-footer.md).

/// "MLRG" in the order of the bytes.
pub const MAGIC: u32 = u32::from_le_bytes(*b"MLRG");
/// Version of the footer format.
pub const VERSION: u16 = 1;
/// Bytes of a footer header before the name of the data file.
pub(super) const FIXED_BYTES: usize = 168;
/// Bytes of one section in the table of sections.
pub const SECTION_BYTES: usize = 48;
/// Bytes of one extent.
pub const EXTENT_BYTES: usize = 56;
/// Bytes of one directory row.
pub const ROW_BYTES: usize = 168;
/// Bytes of one block CRC.
pub(super) const BLOCK_CRC_BYTES: usize = 4;

/// Where the CRC of the header starts to count: after magic and CRC.
pub(super) const CRC_FROM: usize = 8;

/// Flag of an extent: a payload in it did not match its CRC when the segment was sealed.
pub(super) const EXTENT_DAMAGED: u32 = 1;
/// Flag of an extent: it was dead when the segment was sealed and may read as zeros.
pub(super) const EXTENT_DEAD: u32 = 2;

/// Flag of a row: one of its extents is damaged.
pub(super) const ROW_DAMAGED: u8 = 1;
/// Flag of a row: the uncompressed bytes are not known.
pub(super) const ROW_RAW_UNKNOWN: u8 = 2;
/// Flag of a row: the smallest timestamp is not known.
pub(super) const ROW_MIN_TIMESTAMP_UNKNOWN: u8 = 4;
/// Flag of a row: the codecs of some batches are not known.
pub(super) const ROW_CODECS_UNKNOWN: u8 = 8;
/// Flag of a row in a segment's description: a second place follows.
pub(super) const ROW_HAS_SECOND: u8 = 0x80;

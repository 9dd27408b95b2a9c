//! Extents: what the offset and time index of a segment consists of.

use types::Offset;

use super::format::{EXTENT_BYTES, EXTENT_DAMAGED, EXTENT_DEAD};
use crate::decode::{Decoder, Malformed};

/// Batches of one partition that stand next to each other in the data file, as one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First offset.
    pub base_offset: Offset,
    /// The offset after the last.
    pub end_offset: Offset,
    /// Byte of the data file where the first batch starts.
    pub position: u64,
    /// Bytes of the batches, which follow one another without gaps.
    pub bytes: u32,
    /// How many batches.
    pub batches: u32,
    /// Largest record timestamp, -1 where there is none.
    pub max_timestamp_ms: i64,
    /// Largest append time.
    pub max_append_time_ms: i64,
    /// CRC-32C of the bytes as they were appended.
    pub crc: u32,
    /// The bytes did not match their CRC when the segment was sealed.
    pub damaged: bool,
    /// Nobody needed the bytes when the segment was sealed; they may read as zeros.
    pub dead: bool,
}

impl Extent {
    /// Byte of the data file after the last batch.
    #[must_use]
    pub fn end_position(&self) -> u64 {
        self.position.saturating_add(u64::from(self.bytes))
    }

    /// Whether these are the bytes of the extent as they were appended.
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.bytes as usize && record::crc32c(bytes) == self.crc
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let damaged = if self.damaged { EXTENT_DAMAGED } else { 0 };
        let dead = if self.dead { EXTENT_DEAD } else { 0 };
        out.extend_from_slice(&self.base_offset.0.to_le_bytes());
        out.extend_from_slice(&self.end_offset.0.to_le_bytes());
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.batches.to_le_bytes());
        out.extend_from_slice(&self.max_timestamp_ms.to_le_bytes());
        out.extend_from_slice(&self.max_append_time_ms.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        out.extend_from_slice(&(damaged | dead).to_le_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let fault = from.malformed("extent");
        let base_offset = Offset(from.i64("extent")?);
        let end_offset = Offset(from.i64("extent")?);
        let position = from.u64("extent")?;
        let bytes = from.u32("extent")?;
        let batches = from.u32("extent")?;
        let max_timestamp_ms = from.i64("extent")?;
        let max_append_time_ms = from.i64("extent")?;
        let crc = from.u32("extent")?;
        let flags = from.u32("extent")?;
        if base_offset < Offset::ZERO
            || end_offset <= base_offset
            || position.checked_add(u64::from(bytes)).is_none()
            || flags & !(EXTENT_DAMAGED | EXTENT_DEAD) != 0
        {
            return Err(fault);
        }
        Ok(Self {
            base_offset,
            end_offset,
            position,
            bytes,
            batches,
            max_timestamp_ms,
            max_append_time_ms,
            crc,
            damaged: flags & EXTENT_DAMAGED != 0,
            dead: flags & EXTENT_DEAD != 0,
        })
    }
}

/// Reads the extents of one partition: whole rows in the order of their offsets.
///
/// # Errors
/// When the bytes are not that.
pub(super) fn decode_extents(bytes: &[u8]) -> Result<Vec<Extent>, Malformed> {
    let mut from = Decoder::new(bytes);
    let mut extents: Vec<Extent> = Vec::with_capacity(bytes.len() / EXTENT_BYTES);
    while from.left() > 0 {
        let fault = from.malformed("order of extents");
        let extent = Extent::decode(&mut from)?;
        if extents
            .last()
            .is_some_and(|before| before.end_offset > extent.base_offset)
        {
            return Err(fault);
        }
        extents.push(extent);
    }
    Ok(extents)
}

/// Index of the extent that holds `offset`, or of the first one after it where none does.
/// `None` when all end before.
#[must_use]
pub fn find(extents: &[Extent], offset: Offset) -> Option<usize> {
    let index = extents.partition_point(|extent| extent.end_offset <= offset);
    (index < extents.len()).then_some(index)
}

/// Index of the first extent with a record timestamp of at least `timestamp_ms`. Timestamps are
/// the producers' and come in any order, so this looks at one extent after the other.
#[must_use]
pub fn find_by_time(extents: &[Extent], timestamp_ms: i64) -> Option<usize> {
    extents
        .iter()
        .position(|extent| extent.max_timestamp_ms >= timestamp_ms)
}

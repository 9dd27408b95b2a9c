//! Directory rows: what a segment holds of one partition.

use types::{Offset, PartitionId};

use super::format::{
    ROW_BYTES, ROW_CODECS_UNKNOWN, ROW_DAMAGED, ROW_HAS_SECOND, ROW_MIN_TIMESTAMP_UNKNOWN,
    ROW_RAW_UNKNOWN,
};
use crate::decode::{Decoder, Malformed, put_varint, put_zigzag};

/// Compression codecs that batches use: bit n stands for codec n of the record batch format
/// (0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codecs(pub u8);

impl Codecs {
    /// No compression.
    pub const NONE: Self = Self(1);

    /// The codec with this number (only three bits count, as in a batch).
    #[must_use]
    pub const fn of(codec: u8) -> Self {
        Self(1 << (codec & 7))
    }

    /// The codecs of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a batch uses the codec with this number.
    #[must_use]
    pub const fn has(self, codec: u8) -> bool {
        self.0 & (1 << (codec & 7)) != 0
    }
}

/// Where the bytes of a row stand a second time, for tiers. No version writes one yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondPlace(pub [u8; 32]);

/// What a segment holds of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRow {
    /// The partition.
    pub partition: PartitionId,
    /// First offset.
    pub first_offset: Offset,
    /// The offset after the last.
    pub end_offset: Offset,
    /// Records, those of dead batches by the offsets that they take.
    pub records: u64,
    /// Ordinal of the first record: they count from 0 in (partition, offset) order of the segment.
    pub first_ordinal: u64,
    /// Batches.
    pub batches: u64,
    /// Bytes of the batches as stored.
    pub stored_bytes: u64,
    /// Bytes of the batches without compression; `None` where only unpacking would tell.
    pub raw_bytes: Option<u64>,
    /// Part of the stored bytes that nobody needed when the segment was sealed.
    pub dead_bytes: u64,
    /// Smallest append time.
    pub first_append_time_ms: i64,
    /// Largest append time.
    pub last_append_time_ms: i64,
    /// Smallest record timestamp; `None` where only unpacking would tell.
    pub min_timestamp_ms: Option<i64>,
    /// Largest record timestamp, -1 where there is none.
    pub max_timestamp_ms: i64,
    /// Codecs that the batches use; `None` where not every batch told.
    pub codecs: Option<Codecs>,
    /// A batch did not match its CRC when the segment was sealed: quarantine.
    pub damaged: bool,
    /// Tier that the bytes are on, 0 for the first.
    pub tier: u8,
    /// Byte of the footer where the extents start.
    pub extents_position: u64,
    /// Number of extents.
    pub extents: u32,
    /// CRC-32C of the extents.
    pub extents_crc: u32,
    /// A second place of the bytes.
    pub second: Option<Box<SecondPlace>>,
}

/// The least that [`DirectoryRow::encode`] writes.
pub(super) const ROW_BYTES_LEAST: usize = 20;

/// What a row is told relative to: the end of the row before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowContext {
    partition: u64,
    ordinal: u64,
    extents_position: u64,
}

impl RowContext {
    fn after(row: &DirectoryRow) -> Self {
        Self {
            partition: u64::from(row.partition.0),
            ordinal: row.first_ordinal.wrapping_add(row.records),
            extents_position: row.extents_position.wrapping_add(row.extents_bytes()),
        }
    }
}

/// The step from one number to another, whatever they are.
const fn step(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

impl DirectoryRow {
    /// Bytes of the extents in the footer.
    #[must_use]
    pub fn extents_bytes(&self) -> u64 {
        u64::from(self.extents).saturating_mul(super::format::EXTENT_BYTES as u64)
    }

    pub(super) fn flags(&self) -> u8 {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        flag(self.damaged, ROW_DAMAGED)
            | flag(self.raw_bytes.is_none(), ROW_RAW_UNKNOWN)
            | flag(self.min_timestamp_ms.is_none(), ROW_MIN_TIMESTAMP_UNKNOWN)
            | flag(self.codecs.is_none(), ROW_CODECS_UNKNOWN)
    }

    /// Appends the row in its compact form (docs/formats/swap-entry.md).
    pub(super) fn encode(&self, out: &mut Vec<u8>, before: &mut RowContext) {
        let second = if self.second.is_some() {
            ROW_HAS_SECOND
        } else {
            0
        };
        put_zigzag(out, step(before.partition, u64::from(self.partition.0)));
        out.extend_from_slice(&[
            self.flags() | second,
            self.codecs.unwrap_or_default().0,
            self.tier,
        ]);
        put_varint(out, self.first_offset.0.cast_unsigned());
        put_zigzag(out, self.end_offset.0.wrapping_sub(self.first_offset.0));
        put_varint(out, self.records);
        put_zigzag(out, step(before.ordinal, self.first_ordinal));
        put_varint(out, self.batches);
        put_varint(out, self.stored_bytes);
        if let Some(raw) = self.raw_bytes {
            put_zigzag(out, step(self.stored_bytes, raw));
        }
        put_varint(out, self.dead_bytes);
        put_zigzag(out, self.first_append_time_ms);
        put_zigzag(
            out,
            self.last_append_time_ms
                .wrapping_sub(self.first_append_time_ms),
        );
        put_zigzag(
            out,
            self.max_timestamp_ms.wrapping_sub(self.last_append_time_ms),
        );
        if let Some(min) = self.min_timestamp_ms {
            put_zigzag(out, self.max_timestamp_ms.wrapping_sub(min));
        }
        put_zigzag(out, step(before.extents_position, self.extents_position));
        put_varint(out, u64::from(self.extents));
        out.extend_from_slice(&self.extents_crc.to_le_bytes());
        if let Some(second) = &self.second {
            out.extend_from_slice(&second.0);
        }
        *before = RowContext::after(self);
    }

    /// Reads one row in its compact form.
    pub(super) fn decode(
        from: &mut Decoder<'_>,
        before: &mut RowContext,
    ) -> Result<Self, Malformed> {
        const WHAT: &str = "segment row";
        let fault = from.malformed(WHAT);
        let partition = before.partition.wrapping_add_signed(from.zigzag(WHAT)?);
        let [flags, codecs, tier] = from.array(WHAT)?;
        let known = |bit: u8| flags & bit == 0;
        let first_offset = from.varint(WHAT)?.cast_signed();
        let end_offset = first_offset.wrapping_add(from.zigzag(WHAT)?);
        let records = from.varint(WHAT)?;
        let first_ordinal = before.ordinal.wrapping_add_signed(from.zigzag(WHAT)?);
        let batches = from.varint(WHAT)?;
        let stored_bytes = from.varint(WHAT)?;
        let raw_bytes = match known(ROW_RAW_UNKNOWN) {
            true => Some(stored_bytes.wrapping_add_signed(from.zigzag(WHAT)?)),
            false => None,
        };
        let dead_bytes = from.varint(WHAT)?;
        let first_append_time_ms = from.zigzag(WHAT)?;
        let last_append_time_ms = first_append_time_ms.wrapping_add(from.zigzag(WHAT)?);
        let max_timestamp_ms = last_append_time_ms.wrapping_add(from.zigzag(WHAT)?);
        let min_timestamp_ms = match known(ROW_MIN_TIMESTAMP_UNKNOWN) {
            true => Some(max_timestamp_ms.wrapping_sub(from.zigzag(WHAT)?)),
            false => None,
        };
        let extents_position = before
            .extents_position
            .wrapping_add_signed(from.zigzag(WHAT)?);
        let extents = from.varint_u32(WHAT)?;
        let extents_crc = from.u32(WHAT)?;
        let second = match known(ROW_HAS_SECOND) {
            true => None,
            false => Some(Box::new(SecondPlace(from.array(WHAT)?))),
        };
        let row = Self {
            partition: PartitionId(u32::try_from(partition).map_err(|_| fault)?),
            first_offset: Offset(first_offset),
            end_offset: Offset(end_offset),
            records,
            first_ordinal,
            batches,
            stored_bytes,
            raw_bytes,
            dead_bytes,
            first_append_time_ms,
            last_append_time_ms,
            min_timestamp_ms,
            max_timestamp_ms,
            codecs: known(ROW_CODECS_UNKNOWN).then_some(Codecs(codecs)),
            damaged: !known(ROW_DAMAGED),
            tier,
            extents_position,
            extents,
            extents_crc,
            second,
        };
        if !row.is_sound() {
            return Err(fault);
        }
        *before = RowContext::after(&row);
        Ok(row)
    }

    /// Appends the row as it stands in a footer.
    pub(super) fn encode_fixed(&self, out: &mut Vec<u8>) {
        let from = out.len();
        out.extend_from_slice(&self.partition.0.to_le_bytes());
        out.extend_from_slice(&[
            self.flags(),
            self.codecs.unwrap_or_default().0,
            self.tier,
            0,
        ]);
        out.extend_from_slice(&self.first_offset.0.to_le_bytes());
        out.extend_from_slice(&self.end_offset.0.to_le_bytes());
        for number in [
            self.records,
            self.first_ordinal,
            self.batches,
            self.stored_bytes,
            self.raw_bytes.unwrap_or_default(),
            self.dead_bytes,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for time in [
            self.first_append_time_ms,
            self.last_append_time_ms,
            self.min_timestamp_ms.unwrap_or_default(),
            self.max_timestamp_ms,
        ] {
            out.extend_from_slice(&time.to_le_bytes());
        }
        out.extend_from_slice(&self.extents_position.to_le_bytes());
        out.extend_from_slice(&self.extents.to_le_bytes());
        out.extend_from_slice(&self.extents_crc.to_le_bytes());
        out.extend_from_slice(&self.second.as_ref().map_or([0; 32], |second| second.0));
        out.resize(from + ROW_BYTES, 0);
    }

    /// Reads a row as it stands in a footer.
    pub(super) fn decode_fixed(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        const WHAT: &str = "directory row";
        let fault = from.malformed(WHAT);
        let start = from.position();
        let partition = PartitionId(from.u32(WHAT)?);
        let [flags, codecs, tier, _] = from.array(WHAT)?;
        let known = |bit: u8| flags & bit == 0;
        let mut row = Self {
            partition,
            first_offset: Offset(from.i64(WHAT)?),
            end_offset: Offset(from.i64(WHAT)?),
            records: from.u64(WHAT)?,
            first_ordinal: from.u64(WHAT)?,
            batches: from.u64(WHAT)?,
            stored_bytes: from.u64(WHAT)?,
            raw_bytes: Some(from.u64(WHAT)?),
            dead_bytes: from.u64(WHAT)?,
            first_append_time_ms: from.i64(WHAT)?,
            last_append_time_ms: from.i64(WHAT)?,
            min_timestamp_ms: Some(from.i64(WHAT)?),
            max_timestamp_ms: from.i64(WHAT)?,
            codecs: known(ROW_CODECS_UNKNOWN).then_some(Codecs(codecs)),
            damaged: !known(ROW_DAMAGED),
            tier,
            extents_position: from.u64(WHAT)?,
            extents: from.u32(WHAT)?,
            extents_crc: from.u32(WHAT)?,
            second: None,
        };
        let second = from.array(WHAT)?;
        row.second = (second != [0; 32]).then(|| Box::new(SecondPlace(second)));
        row.raw_bytes = row.raw_bytes.filter(|_| known(ROW_RAW_UNKNOWN));
        row.min_timestamp_ms = row
            .min_timestamp_ms
            .filter(|_| known(ROW_MIN_TIMESTAMP_UNKNOWN));
        from.take((start + ROW_BYTES).saturating_sub(from.position()), WHAT)?;
        if row.is_sound() { Ok(row) } else { Err(fault) }
    }

    /// What must hold in every row, so that nobody has to ask again.
    pub(super) fn is_sound(&self) -> bool {
        self.first_offset >= Offset::ZERO
            && self.end_offset >= self.first_offset
            && self.dead_bytes <= self.stored_bytes
            && self
                .extents_position
                .checked_add(self.extents_bytes())
                .is_some()
            && self.first_ordinal.checked_add(self.records).is_some()
    }
}

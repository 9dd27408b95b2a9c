//! Sections: the parts of a footer, which describe themselves.

use super::format::SECTION_BYTES;
use crate::decode::{Decoder, Malformed};

/// What a section is about. Numbers from 16 on are kept for indexes by what records hold (key,
/// message id, tag).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field(pub u16);

impl Field {
    /// The partitions.
    pub const PARTITION: Self = Self(1);
    /// Offsets and times.
    pub const OFFSET_AND_TIME: Self = Self(2);
    /// The bytes of the data file.
    pub const DATA: Self = Self(3);
}

/// How a section is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionKind(pub u16);

impl SectionKind {
    /// Rows of one size, sorted.
    pub const SORTED_ROWS: Self = Self(1);
    /// The CRC-32C of each block.
    pub const BLOCK_CRCS: Self = Self(2);
}

/// How much of the segment a section covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Coverage {
    /// Nothing: the section has no bytes.
    Absent = 0,
    /// A part: what it does not find may be there.
    Partial = 1,
    /// Everything.
    Complete = 2,
}

/// A section as the table of sections tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is about.
    pub field: Field,
    /// How it is built.
    pub kind: SectionKind,
    /// How much it covers.
    pub coverage: Coverage,
    /// Bytes of a row, 0 where they differ.
    pub row_bytes: u32,
    /// CRC-32C of its bytes.
    pub crc: u32,
    /// Where it starts in the footer.
    pub position: u64,
    /// Its length.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// How often it was replaced.
    pub generation: u64,
}

impl Section {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let from = out.len();
        out.extend_from_slice(&self.field.0.to_le_bytes());
        out.extend_from_slice(&self.kind.0.to_le_bytes());
        out.extend_from_slice(&[self.coverage as u8, 0, 0, 0]);
        out.extend_from_slice(&self.row_bytes.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        for number in [self.position, self.bytes, self.rows, self.generation] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        debug_assert_eq!(out.len() - from, SECTION_BYTES);
    }

    pub(super) fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let field = Field(from.u16("section field")?);
        let kind = SectionKind(from.u16("section kind")?);
        let fault = from.malformed("section coverage");
        let coverage = match from.u32("section coverage")? {
            0 => Coverage::Absent,
            1 => Coverage::Partial,
            2 => Coverage::Complete,
            _ => return Err(fault),
        };
        Ok(Self {
            field,
            kind,
            coverage,
            row_bytes: from.u32("section row bytes")?,
            crc: from.u32("section CRC")?,
            position: from.u64("section position")?,
            bytes: from.u64("section bytes")?,
            rows: from.u64("section rows")?,
            generation: from.u64("section generation")?,
        })
    }

    /// The bytes of the section in a whole footer, checked.
    pub(super) fn bytes_in<'a>(&self, footer: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let position = usize::try_from(self.position).unwrap_or(usize::MAX);
        let fault = Malformed {
            what: "section",
            position,
        };
        let len = usize::try_from(self.bytes).map_err(|_| fault)?;
        let end = position.checked_add(len).ok_or(fault)?;
        let bytes = footer.get(position..end).ok_or(fault)?;
        if record::crc32c(bytes) != self.crc {
            return Err(Malformed {
                what: "section CRC",
                position,
            });
        }
        Ok(bytes)
    }
}

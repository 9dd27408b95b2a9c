//! The header of a footer. docs/formats/segment-footer.md tells the bytes.

use types::limits::{FOOTER_SECTIONS_MAX, SEGMENT_CRC_BLOCK_BYTES};
use types::{FileEpoch, FileSequence, FrameNumber, SegmentId};

use super::collect::Totals;
use super::format::{CRC_FROM, FIXED_BYTES, MAGIC, SECTION_BYTES, VERSION};
use super::info::{Class, DataFile, check_name};
use super::section::Section;
use crate::decode::{Decoder, Malformed};

/// What a footer says of itself and of its segment as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FooterHeader {
    /// The segment.
    pub id: SegmentId,
    /// How it came about.
    pub class: Class,
    /// When it was sealed, milliseconds since 1970.
    pub created_ms: i64,
    /// Id of the data directory.
    pub directory: [u8; 16],
    /// Where the batches are.
    pub data: DataFile,
    /// Size of the footer.
    pub footer_bytes: u64,
    /// Partitions.
    pub partitions: u64,
    /// Records.
    pub records: u64,
    /// Bytes of their batches.
    pub stored_bytes: u64,
    /// What else the data file holds.
    pub totals: Totals,
    /// What follows.
    pub sections: Vec<Section>,
}

/// Bytes of a header.
pub(super) const fn header_bytes(name_bytes: usize, sections: usize) -> usize {
    FIXED_BYTES + name_bytes.next_multiple_of(8) + sections * SECTION_BYTES
}

impl FooterHeader {
    pub(super) fn encode(&self) -> Vec<u8> {
        let name = self.data.name.as_bytes();
        let len = header_bytes(name.len(), self.sections.len());
        let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let mut fields = Vec::with_capacity(len);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.extend_from_slice(&0u16.to_le_bytes());
        fields.extend_from_slice(&word(len));
        fields.extend_from_slice(&self.id.0.to_le_bytes());
        fields.extend_from_slice(&self.created_ms.to_le_bytes());
        fields.extend_from_slice(&[self.class as u8, 0, 0, 0]);
        fields.extend_from_slice(&word(self.sections.len()));
        fields.extend_from_slice(&self.directory);
        for number in [
            self.data.sequence.0,
            self.data.epoch.0,
            self.data.end,
            self.footer_bytes,
            self.partitions,
            self.records,
            self.stored_bytes,
            self.totals.other_entries,
            self.totals.other_bytes,
            self.totals.frames,
            self.totals.first_frame.0,
            SEGMENT_CRC_BLOCK_BYTES,
        ] {
            fields.extend_from_slice(&number.to_le_bytes());
        }
        fields.extend_from_slice(&word(name.len()));
        fields.resize(FIXED_BYTES - CRC_FROM, 0);
        fields.extend_from_slice(name);
        fields.resize((FIXED_BYTES + name.len().next_multiple_of(8)) - CRC_FROM, 0);
        for section in &self.sections {
            section.encode(&mut fields);
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(&MAGIC.to_le_bytes());
        bytes.extend_from_slice(&record::crc32c(&fields).to_le_bytes());
        bytes.extend_from_slice(&fields);
        bytes
    }

    /// Reads the header that starts `bytes`.
    ///
    /// # Errors
    /// When there is no whole, good header.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Decoder::new(bytes);
        if from.u32("footer magic")? != MAGIC {
            return Err(Malformed {
                what: "footer magic",
                position: 0,
            });
        }
        let crc = from.u32("footer header CRC")?;
        let version = from.u16("footer version")?;
        from.u16("footer flags")?;
        let claimed = from.u32("footer header bytes")? as usize;
        let fault = Malformed {
            what: "footer header CRC",
            position: 4,
        };
        let covered = bytes.get(CRC_FROM..claimed).ok_or(fault)?;
        if record::crc32c(covered) != crc {
            return Err(fault);
        }
        if version != VERSION {
            return Err(Malformed {
                what: "footer version",
                position: 8,
            });
        }
        Self::parse_fields(from, claimed)
    }

    fn parse_fields(mut from: Decoder<'_>, claimed: usize) -> Result<Self, Malformed> {
        let id = SegmentId(from.u64("segment id")?);
        let created_ms = from.i64("segment time")?;
        let fault = from.malformed("segment class");
        let class = Class::from_number(from.u8("segment class")?).ok_or(fault)?;
        from.take(3, "segment class")?;
        let sections = from.u32("sections")? as usize;
        let directory = from.array("directory id")?;
        let mut number = |what| from.u64(what);
        let sequence = FileSequence(number("data file sequence")?);
        let epoch = FileEpoch(number("data file epoch")?);
        let end = number("data file end")?;
        let footer_bytes = number("footer bytes")?;
        let partitions = number("partitions")?;
        let records = number("records")?;
        let stored_bytes = number("stored bytes")?;
        let totals = Totals {
            other_entries: number("other entries")?,
            other_bytes: number("other bytes")?,
            frames: number("frames")?,
            first_frame: FrameNumber(number("first frame")?),
        };
        if number("block bytes")? != SEGMENT_CRC_BLOCK_BYTES {
            return Err(from.malformed("block bytes"));
        }
        let name_bytes = from.u32("data file name")? as usize;
        let fits = name_bytes <= claimed
            && sections <= FOOTER_SECTIONS_MAX
            && header_bytes(name_bytes, sections) == claimed;
        if !fits {
            return Err(from.malformed("footer header bytes"));
        }
        from.take(FIXED_BYTES.saturating_sub(from.position()), "reserved")?;
        let fault = from.malformed("data file name");
        let name = check_name(from.take(name_bytes, "data file name")?).ok_or(fault)?;
        from.take(
            name_bytes.next_multiple_of(8) - name_bytes,
            "data file name",
        )?;
        let sections: Result<_, _> = (0..sections).map(|_| Section::decode(&mut from)).collect();
        Ok(Self {
            id,
            class,
            created_ms,
            directory,
            data: DataFile {
                name,
                sequence,
                epoch,
                end,
            },
            footer_bytes,
            partitions,
            records,
            stored_bytes,
            totals,
            sections: sections?,
        })
    }

    /// The section about `field`, if there is one that covers everything.
    pub(super) fn section(&self, field: super::section::Field) -> Result<&Section, Malformed> {
        let complete =
            |s: &&Section| s.field == field && s.coverage == super::section::Coverage::Complete;
        let missing = Malformed {
            what: "table of sections",
            position: FIXED_BYTES,
        };
        self.sections.iter().find(complete).ok_or(missing)
    }
}

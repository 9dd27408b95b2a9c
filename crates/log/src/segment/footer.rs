//! A footer read whole: for tools, verification and repair. Reads of the broker take the
//! directory's rows and one partition's extents instead.

use std::path::Path;

use disk::{Disk, File};
use types::limits::JOB_STEP_BYTES;
use types::{PartitionId, SegmentId};

use super::extent::{Extent, decode_extents};
use super::footer_header::FooterHeader;
use super::format::{BLOCK_CRC_BYTES, EXTENT_BYTES, ROW_BYTES};
use super::info::{SegmentInfo, footer_name};
use super::row::DirectoryRow;
use super::section::{Field, Section, SectionKind};
use crate::decode::{Decoder, Malformed};
use crate::error::Error;

/// Everything a footer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// What it says of the segment as a whole.
    pub header: FooterHeader,
    /// The directory, by partition.
    pub rows: Vec<DirectoryRow>,
    /// CRC of each block of the data file.
    pub block_crcs: Vec<u32>,
    /// The extents of all partitions in the order of the rows.
    extents: Vec<Extent>,
}

/// Reads a footer out of memory. Takes no more memory than a small multiple of `bytes`.
///
/// # Errors
/// When the bytes are not a whole, good footer.
pub fn parse_footer(bytes: &[u8]) -> Result<Footer, Malformed> {
    let header = FooterHeader::parse(bytes)?;
    if header.footer_bytes != bytes.len() as u64 {
        return Err(Malformed {
            what: "footer bytes",
            position: bytes.len(),
        });
    }
    for section in &header.sections {
        section.bytes_in(bytes)?;
    }
    let (directory, rows) = fixed_rows(&header, Field::PARTITION, ROW_BYTES, bytes)?;
    let rows = parse_rows(directory.position, rows)?;
    let (index, extents) = fixed_rows(&header, Field::OFFSET_AND_TIME, EXTENT_BYTES, bytes)?;
    let extents = parse_extents(&rows, index.position, extents, header.data.end)?;
    let crcs = header.section(Field::DATA)?;
    if crcs.kind != SectionKind::BLOCK_CRCS {
        return Err(Malformed {
            what: "section kind",
            position: 0,
        });
    }
    let mut from = Decoder::new(crcs.bytes_in(bytes)?);
    let mut block_crcs = Vec::with_capacity(from.left() / BLOCK_CRC_BYTES);
    while from.left() > 0 {
        block_crcs.push(from.u32("block CRC")?);
    }
    let total = |of: fn(&DirectoryRow) -> u64| rows.iter().map(of).fold(0, u64::wrapping_add);
    let agrees = header.partitions == rows.len() as u64
        && header.records == total(|row| row.records)
        && header.stored_bytes == total(|row| row.stored_bytes);
    if !agrees {
        return Err(Malformed {
            what: "totals of the footer",
            position: 0,
        });
    }
    Ok(Footer {
        header,
        rows,
        block_crcs,
        extents,
    })
}

/// The complete section of rows about `field`.
fn fixed_rows<'a>(
    header: &FooterHeader,
    field: Field,
    row_bytes: usize,
    footer: &'a [u8],
) -> Result<(Section, &'a [u8]), Malformed> {
    let section = *header.section(field)?;
    let bytes = section.bytes_in(footer)?;
    let fits = section.kind == SectionKind::SORTED_ROWS
        && section.row_bytes as usize == row_bytes
        && bytes.len().is_multiple_of(row_bytes)
        && section.rows == (bytes.len() / row_bytes) as u64;
    if !fits {
        let position = usize::try_from(section.position).unwrap_or(usize::MAX);
        return Err(Malformed {
            what: "rows of a section",
            position,
        });
    }
    Ok((section, bytes))
}

fn parse_rows(start: u64, bytes: &[u8]) -> Result<Vec<DirectoryRow>, Malformed> {
    let mut from = Decoder::new(bytes);
    let mut rows: Vec<DirectoryRow> = Vec::with_capacity(bytes.len() / ROW_BYTES);
    while from.left() > 0 {
        let fault = from.malformed("order of directory rows");
        let row = DirectoryRow::decode_fixed(&mut from).map_err(|fault| fault.shifted(start))?;
        if rows
            .last()
            .is_some_and(|before| before.partition >= row.partition)
        {
            return Err(fault.shifted(start));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The extents of all rows, which must follow one another without gaps through the section.
fn parse_extents(
    rows: &[DirectoryRow],
    start: u64,
    bytes: &[u8],
    data_end: u64,
) -> Result<Vec<Extent>, Malformed> {
    let mut extents = Vec::with_capacity(bytes.len() / EXTENT_BYTES);
    let mut rest = bytes;
    let mut position = start;
    for row in rows {
        let fault = Malformed {
            what: "extents of a row",
            position: 0,
        }
        .shifted(position);
        let len = usize::try_from(row.extents_bytes()).map_err(|_| fault)?;
        let (own, later) = rest.split_at_checked(len).ok_or(fault)?;
        if row.extents_position != position {
            return Err(fault);
        }
        let own = checked_extents(row, own, data_end).map_err(|fault| fault.shifted(position))?;
        extents.extend_from_slice(&own);
        rest = later;
        position += row.extents_bytes();
    }
    if rest.is_empty() {
        Ok(extents)
    } else {
        Err(Malformed {
            what: "extents without a row",
            position: 0,
        }
        .shifted(position))
    }
}

/// The extents of one row, checked against it and the data file.
pub(super) fn checked_extents(
    row: &DirectoryRow,
    bytes: &[u8],
    data_end: u64,
) -> Result<Vec<Extent>, Malformed> {
    if record::crc32c(bytes) != row.extents_crc {
        return Err(Malformed {
            what: "CRC of extents",
            position: 0,
        });
    }
    let extents = decode_extents(bytes)?;
    let first = extents
        .first()
        .is_none_or(|extent| extent.base_offset >= row.first_offset);
    let last = extents
        .last()
        .is_none_or(|extent| extent.end_offset <= row.end_offset);
    if !first
        || !last
        || extents
            .iter()
            .any(|extent| extent.end_position() > data_end)
    {
        return Err(Malformed {
            what: "extents of a row",
            position: 0,
        });
    }
    Ok(extents)
}

impl Malformed {
    fn shifted(self, start: u64) -> Self {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        Self {
            position: start.saturating_add(self.position),
            ..self
        }
    }
}

impl Footer {
    /// Reads the footer of a segment of the data directory `dir`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is damaged or another segment's; those of the device.
    pub fn load(disk: &dyn Disk, dir: &Path, id: SegmentId) -> Result<Self, Error> {
        let path = dir.join(footer_name(id));
        let file = disk.open(&path)?;
        let footer = read_whole(file.as_ref())?;
        let footer = parse_footer(&footer).and_then(|footer| match footer.header.id == id {
            true => Ok(footer),
            false => Err(Malformed {
                what: "segment id",
                position: 16,
            }),
        });
        footer.map_err(|fault| fault.in_file(&path, 0).into())
    }

    /// What the directory knows of the segment, as it was when it was sealed.
    #[must_use]
    pub fn info(&self) -> SegmentInfo {
        SegmentInfo {
            id: self.header.id,
            class: self.header.class,
            created_ms: self.header.created_ms,
            directory: self.header.directory,
            data: self.header.data.clone(),
            footer_bytes: self.header.footer_bytes,
            rows: self.rows.clone(),
        }
    }

    /// The extents of a partition; none where the segment holds nothing of it.
    #[must_use]
    pub fn extents(&self, partition: PartitionId) -> &[Extent] {
        let Ok(index) = self
            .rows
            .binary_search_by_key(&partition, |row| row.partition)
        else {
            return &[];
        };
        let before = self
            .rows
            .iter()
            .take(index)
            .map(|row| row.extents as usize)
            .sum::<usize>();
        let own = self.rows.get(index).map_or(0, |row| row.extents as usize);
        self.extents
            .get(before..before.saturating_add(own))
            .unwrap_or_default()
    }
}

/// Reads a file, one step's bytes at a time.
fn read_whole(file: &dyn File) -> Result<Vec<u8>, Error> {
    let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let from = bytes.len();
        bytes.resize(from + JOB_STEP_BYTES.min(len - from), 0);
        let got = file.read_at(bytes.get_mut(from..).unwrap_or_default(), from as u64)?;
        if got == 0 {
            bytes.truncate(from);
            break;
        }
        bytes.truncate(from + got);
    }
    Ok(bytes)
}

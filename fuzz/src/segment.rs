//! What must hold for any bytes that are taken for the footer of a segment, or for what the log
//! tells of one.

use bytes::Bytes;
use log::segment::{
    EXTENT_BYTES, Extent, Field, Footer, ROW_BYTES, SECTION_BYTES, SegmentInfo, SwapEntry, find,
    find_by_time, parse_footer,
};
use types::limits::FOOTER_SECTIONS_MAX;
use types::{Offset, PartitionId};

use crate::allocated::bounded;
use crate::fields::{put, put_crc, slice, u16_at, u32_at, u64_at};

/// Places of fields (docs/formats/segment-footer.md): in a header,
const HEADER_CRC: (usize, usize) = (4, 8);
const HEADER_BYTES_AT: usize = 12;
const SECTIONS_AT: usize = 36;
const FOOTER_BYTES_AT: usize = 80;
const NAME_BYTES_AT: usize = 152;
const NAME_AT: usize = 168;
/// in a row of the table of sections,
const SECTION_CRC: usize = 12;
const SECTION_POSITION: usize = 16;
const SECTION_BYTES_AT: usize = 24;
/// and in a row of the directory.
const ROW_EXTENTS_POSITION: usize = 104;
const ROW_EXTENTS: usize = 112;
const ROW_EXTENTS_CRC: usize = 116;

/// A footer's rows take in memory little more than in the file.
const FOOTER_ALLOCATED_PER_BYTE_MAX: usize = 8;
/// A row of a description takes 20 bytes at least and ten times that in memory.
const INFO_ALLOCATED_PER_BYTE_MAX: usize = 40;

/// Reads a footer. The first byte says whether its sizes and CRCs are put right before. True
/// when there was a footer.
pub fn check_footer(input: &Bytes) -> bool {
    let Some((choice, bytes)) = input.split_first() else {
        return false;
    };
    let mut bytes = bytes.to_vec();
    if choice % 2 == 1 {
        put_right(&mut bytes);
    }
    let parsed = bounded(bytes.len(), FOOTER_ALLOCATED_PER_BYTE_MAX, || {
        parse_footer(&bytes)
    });
    let Ok(footer) = parsed else { return false };
    check_parsed(&footer);
    bytes.push(0);
    assert!(parse_footer(&bytes).is_err());
    true
}

/// Reads a swap entry, or the description of a segment: the first byte says which. True
/// when there was one.
pub fn check_swap(input: &Bytes) -> bool {
    let Some((choice, bytes)) = input.split_first() else {
        return false;
    };
    if choice % 2 == 0 {
        let decode = || SwapEntry::decode(bytes);
        let Ok(entry) = bounded(bytes.len(), INFO_ALLOCATED_PER_BYTE_MAX, decode) else {
            return false;
        };
        assert_eq!(SwapEntry::decode(&entry.encode()), Ok(entry));
    } else {
        let decode = || SegmentInfo::decode(bytes);
        let Ok(info) = bounded(bytes.len(), INFO_ALLOCATED_PER_BYTE_MAX, decode) else {
            return false;
        };
        check_info(&info);
    }
    true
}

fn check_parsed(footer: &Footer) {
    let mut extents = 0;
    for row in &footer.rows {
        let own = footer.extents(row.partition);
        assert_eq!(own.len(), row.extents as usize);
        assert!(
            own.iter()
                .all(|extent| extent.end_position() <= footer.header.data.end)
        );
        check_finding(own);
        extents += own.len();
    }
    let after = footer
        .rows
        .last()
        .map_or(0, |row| row.partition.0.saturating_add(1));
    assert!(extents == 0 || footer.extents(PartitionId(after)).len() <= extents);
    check_info(&footer.info());
}

/// Looking for an offset or a time finds what looking at every extent finds.
fn check_finding(extents: &[Extent]) {
    let edges = extents.iter().flat_map(|e| [e.base_offset, e.end_offset]);
    for offset in edges.take(8).chain([Offset(0), Offset(i64::MAX)]) {
        let expected = extents.iter().position(|extent| extent.end_offset > offset);
        assert_eq!(find(extents, offset), expected);
    }
    let max = extents.iter().map(|extent| extent.max_timestamp_ms).max();
    assert!(max.is_none_or(|max| find_by_time(extents, max).is_some()));
}

fn check_info(info: &SegmentInfo) {
    let name = &info.data.name;
    let inside = |part: &str| !matches!(part, "" | "." | "..");
    assert!(
        name.split('/').all(inside) && !name.contains('\0'),
        "{name:?}"
    );
    assert!(info.rows.is_sorted_by(|a, b| a.partition < b.partition));
    for row in &info.rows {
        assert_eq!(info.row(row.partition), Some(row));
    }
    assert_eq!(SegmentInfo::decode(&info.encode()).as_ref(), Ok(info));
    let swap = SwapEntry::Sealed(info.clone());
    assert_eq!(SwapEntry::decode(&swap.encode()), Ok(swap));
}

/// Puts right what depends on other bytes, from the inside out.
fn put_right(bytes: &mut [u8]) {
    let sections = u32_at(bytes, SECTIONS_AT).unwrap_or(0) as usize;
    let name_bytes = u32_at(bytes, NAME_BYTES_AT).unwrap_or(0) as usize;
    let table = NAME_AT.saturating_add(name_bytes.next_multiple_of(8));
    for index in 0..sections.min(FOOTER_SECTIONS_MAX) {
        let at = table + index * SECTION_BYTES;
        let (Some(position), Some(len)) = (
            u64_at(bytes, at + SECTION_POSITION),
            u64_at(bytes, at + SECTION_BYTES_AT),
        ) else {
            break;
        };
        if u16_at(bytes, at) == Some(Field::PARTITION.0) {
            put_extents_crcs(bytes, position, len);
        }
        if let Some(crc) = slice(bytes, position, len).map(record::crc32c) {
            put(bytes, at + SECTION_CRC, &crc.to_le_bytes());
        }
    }
    let len = bytes.len() as u64;
    put(bytes, FOOTER_BYTES_AT, &len.to_le_bytes());
    let header_bytes = u32_at(bytes, HEADER_BYTES_AT).unwrap_or(0) as usize;
    put_crc(bytes, HEADER_CRC.0, HEADER_CRC.1, header_bytes);
}

fn put_extents_crcs(bytes: &mut [u8], position: u64, len: u64) {
    if slice(bytes, position, len).is_none() {
        return;
    }
    let start = usize::try_from(position).unwrap_or(usize::MAX);
    for index in 0..usize::try_from(len).unwrap_or(0) / ROW_BYTES {
        let row = start + index * ROW_BYTES;
        let position = u64_at(bytes, row + ROW_EXTENTS_POSITION).unwrap_or(u64::MAX);
        let extents = u64::from(u32_at(bytes, row + ROW_EXTENTS).unwrap_or(0));
        let crc = slice(bytes, position, extents * EXTENT_BYTES as u64).map(record::crc32c);
        if let Some(crc) = crc {
            put(bytes, row + ROW_EXTENTS_CRC, &crc.to_le_bytes());
        }
    }
}

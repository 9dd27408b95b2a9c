//! Headers of frames as they stand in a file.

use types::limits::{BLOCK_BYTES, ENTRY_BYTES_MAX, FRAME_BYTES_MAX, FRAME_ENTRIES_MAX};
use types::{FileEpoch, FrameNumber, LogIndex, Offset, PartitionId, ShardId, Term};

use super::format::{CRC_FROM, DESCRIPTOR_BYTES, FIXED_BYTES, MAGIC, VERSION};
use crate::entry::{EntryHeader, Kind, Origin};
use crate::mutant::{self, Mutant};

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// The block does not start a frame.
    Magic,
    /// More bytes are needed to judge: the header has this length.
    Short {
        /// Bytes of the whole header.
        header_bytes: usize,
    },
    /// A length is impossible.
    Length,
    /// The header's CRC does not match.
    HeaderCrc,
    /// The format version is unknown.
    Version,
    /// The frame belongs to another life of the file.
    Epoch,
    /// The frame was written for another place.
    Position,
    /// A descriptor has an unknown kind or origin.
    Descriptor,
    /// A payload's CRC does not match.
    PayloadCrc,
}

/// What an entry's descriptor says, with the place of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedHeader {
    /// The entry.
    pub header: EntryHeader,
    /// Byte of the file where the payload starts.
    pub position: u64,
    /// Length of the payload.
    pub payload_bytes: u32,
    /// CRC-32C of the payload, the file's epoch taken out.
    pub payload_crc: u32,
}

/// The header of a frame, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Its number.
    pub number: FrameNumber,
    /// The last frame known to be synced when it was written.
    pub synced: FrameNumber,
    /// Where it starts in its file.
    pub position: u64,
    /// Bytes up to the next frame.
    pub frame_bytes: u64,
    /// Its entries in the order of their payloads.
    pub entries: Vec<PlacedHeader>,
}

/// What the CRC of a payload is combined with, so that it holds in one life of a file only.
pub(super) const fn epoch_mask(epoch: FileEpoch) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    let folded = (epoch.0 ^ (epoch.0 >> 32)) as u32;
    folded
}

/// Bytes of the header of a frame with `entries` entries.
pub(super) const fn header_bytes(entries: usize) -> usize {
    FIXED_BYTES + entries * DESCRIPTOR_BYTES
}

/// The next block boundary at or after `bytes`.
pub(super) const fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    array(bytes, at).map(i64::from_le_bytes)
}

impl FrameHeader {
    /// Reads the header that starts `bytes`, which stand at `position` of a file in its life
    /// `epoch`.
    ///
    /// # Errors
    /// [`FrameFault::Short`] when `bytes` ends before the header does: call again with more.
    pub fn parse(bytes: &[u8], epoch: FileEpoch, position: u64) -> Result<Self, FrameFault> {
        let entries = check_envelope(bytes)?;
        let field = |at| u64_at(bytes, at).ok_or(FrameFault::Length);
        let epoch = match FileEpoch(field(24)?) {
            written if written == epoch || mutant::is(Mutant::FormerLife) => written,
            _ => return Err(FrameFault::Epoch),
        };
        if field(40)? != position {
            return Err(FrameFault::Position);
        }
        let frame_bytes = field(48)?;
        let mut parsed = Self {
            number: FrameNumber(field(32)?),
            synced: FrameNumber(field(56)?),
            position,
            frame_bytes,
            entries: Vec::with_capacity(entries),
        };
        let mut payload_at = header_bytes(entries) as u64;
        for i in 0..entries {
            let at = header_bytes(i);
            let descriptor = bytes
                .get(at..at + DESCRIPTOR_BYTES)
                .ok_or(FrameFault::Length)?;
            let placed = parse_descriptor(descriptor, epoch, position + payload_at)
                .ok_or(FrameFault::Descriptor)?;
            payload_at += u64::from(placed.payload_bytes);
            parsed.entries.push(placed);
        }
        if padded(payload_at) != frame_bytes {
            return Err(FrameFault::Length);
        }
        Ok(parsed)
    }

    /// Byte of the file after the frame.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.position + self.frame_bytes
    }

    /// Byte of the file where the first payload starts.
    #[must_use]
    pub fn payloads_start(&self) -> u64 {
        self.position + header_bytes(self.entries.len()) as u64
    }

    /// The entries in the order of their decision.
    #[must_use]
    pub fn decided_order(&self) -> Vec<PlacedHeader> {
        let mut entries = self.entries.clone();
        entries.sort_by_key(|e| (e.header.shard, e.header.index));
        entries
    }
}

/// Checks what must hold before any other field is trusted; gives the number of descriptors.
fn check_envelope(bytes: &[u8]) -> Result<usize, FrameFault> {
    if u32_at(bytes, 0) != Some(MAGIC) {
        return Err(FrameFault::Magic);
    }
    let claimed = u32_at(bytes, 12).ok_or(FrameFault::Length)? as usize;
    let entries = u32_at(bytes, 16).ok_or(FrameFault::Length)? as usize;
    if entries > FRAME_ENTRIES_MAX || claimed != header_bytes(entries) {
        return Err(FrameFault::Length);
    }
    let Some(covered) = bytes.get(CRC_FROM..claimed) else {
        return Err(FrameFault::Short {
            header_bytes: claimed,
        });
    };
    if u32_at(bytes, 4) != Some(record::crc32c(covered)) {
        return Err(FrameFault::HeaderCrc);
    }
    if u16_at(bytes, 8) != Some(VERSION) {
        return Err(FrameFault::Version);
    }
    let frame_bytes = u64_at(bytes, 48).ok_or(FrameFault::Length)?;
    let most = padded(FRAME_BYTES_MAX + ENTRY_BYTES_MAX + claimed as u64);
    if frame_bytes % BLOCK_BYTES != 0 || frame_bytes < claimed as u64 || frame_bytes > most {
        return Err(FrameFault::Length);
    }
    Ok(entries)
}

fn parse_descriptor(d: &[u8], epoch: FileEpoch, position: u64) -> Option<PlacedHeader> {
    let header = EntryHeader {
        shard: ShardId(u16_at(d, 8)?),
        kind: Kind::from_number(*d.get(10)?)?,
        origin: Origin::from_number(*d.get(11)?)?,
        partition: PartitionId(u32_at(d, 12)?),
        term: Term(u64_at(d, 16)?),
        index: LogIndex(u64_at(d, 24)?),
        base_offset: Offset(i64_at(d, 32)?),
        count: u32_at(d, 40)?,
        append_time_ms: i64_at(d, 48)?,
        max_timestamp_ms: i64_at(d, 56)?,
    };
    Some(PlacedHeader {
        header,
        position,
        payload_bytes: u32_at(d, 0)?,
        payload_crc: u32_at(d, 4)? ^ epoch_mask(epoch),
    })
}

/// Appends the descriptor of an entry to a header under construction.
pub(super) fn write_descriptor(
    out: &mut Vec<u8>,
    header: &EntryHeader,
    payload_bytes: u32,
    payload_crc: u32,
    epoch: FileEpoch,
) {
    out.extend_from_slice(&payload_bytes.to_le_bytes());
    out.extend_from_slice(&(payload_crc ^ epoch_mask(epoch)).to_le_bytes());
    out.extend_from_slice(&header.shard.0.to_le_bytes());
    out.push(header.kind as u8);
    out.push(header.origin as u8);
    out.extend_from_slice(&header.partition.0.to_le_bytes());
    out.extend_from_slice(&header.term.0.to_le_bytes());
    out.extend_from_slice(&header.index.0.to_le_bytes());
    out.extend_from_slice(&header.base_offset.0.to_le_bytes());
    out.extend_from_slice(&header.count.to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.extend_from_slice(&header.append_time_ms.to_le_bytes());
    out.extend_from_slice(&header.max_timestamp_ms.to_le_bytes());
    out.extend_from_slice(&0u64.to_le_bytes());
}

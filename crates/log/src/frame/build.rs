//! Building a frame out of entries.

use bytes::{Bytes, BytesMut};
use disk::Slabs;
use types::limits::{FRAME_BYTES_USUAL, FRAME_ENTRIES_MAX, FRAME_SLAB_BYTES, FRAME_SLABS_MAX};
use types::{FileEpoch, FileSequence, FrameNumber};

use super::format::{CRC_FROM, FIXED_BYTES, MAGIC, VERSION, ZERO_BLOCK};
use super::header::{header_bytes, padded, write_descriptor};
use crate::entry::{Entry, EntryHeader};

/// An entry and where its payload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedEntry {
    /// The entry.
    pub header: EntryHeader,
    /// Byte of the file where the payload starts.
    pub position: u64,
    /// Length of the payload.
    pub payload_bytes: u32,
    /// CRC-32C of the payload.
    pub payload_crc: u32,
}

/// A finished frame: what is written, and what stays in memory as the tail.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its number.
    pub number: FrameNumber,
    /// The log file that it is for.
    pub file: FileSequence,
    /// Where it starts in the file.
    pub position: u64,
    /// Bytes up to the next frame.
    pub frame_bytes: u64,
    /// Its entries in the order of their decision.
    pub entries: Vec<PlacedEntry>,
    /// Its bytes; they start at a block boundary of memory.
    pub bytes: Bytes,
}

/// Collects entries until a frame is full.
#[derive(Debug)]
pub struct FrameBuilder {
    entries: Vec<Entry>,
    payload_bytes: u64,
    slabs: Slabs,
}

impl Default for FrameBuilder {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            payload_bytes: 0,
            slabs: Slabs::new(FRAME_SLAB_BYTES, FRAME_SLABS_MAX),
        }
    }
}

impl FrameBuilder {
    /// Whether `entry` may go into this frame: the frame stays within `room` and the usual size,
    /// or the entry is the only one.
    #[must_use]
    pub fn takes(&self, entry: &Entry, room: u64) -> bool {
        let most = room.min(FRAME_BYTES_USUAL);
        self.entries.is_empty()
            || (self.entries.len() < FRAME_ENTRIES_MAX
                && self.frame_bytes_with(1, entry.payload.len() as u64) <= most)
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        self.payload_bytes += entry.payload.len() as u64;
        self.entries.push(entry);
    }

    fn frame_bytes_with(&self, entries: usize, payload_bytes: u64) -> u64 {
        let header = header_bytes(self.entries.len() + entries) as u64;
        padded(header + self.payload_bytes + payload_bytes)
    }

    /// Lays out a frame of what was collected, an empty one of nothing.
    #[must_use]
    pub fn lay_out(&mut self) -> LooseFrame {
        let frame_bytes = self.frame_bytes_with(0, 0);
        // Its room goes too, which a burst of small entries makes large.
        let mut entries = std::mem::take(&mut self.entries);
        self.payload_bytes = 0;
        // Stable: entries of one partition keep the order of their decision.
        entries.sort_by_key(|e| (e.header.shard, e.header.partition));
        let room = usize::try_from(frame_bytes).unwrap_or(usize::MAX);
        let mut buffer = self.slabs.take(room);
        buffer.resize(header_bytes(entries.len()), 0);
        let mut laid = Vec::with_capacity(entries.len());
        for entry in entries {
            buffer.extend_from_slice(entry.payload.head());
            buffer.extend_from_slice(entry.payload.body());
            laid.push(LaidEntry {
                header: entry.header,
                payload_bytes: payload_bytes(&entry),
                payload_crc: entry.payload.crc(),
            });
        }
        let padding = room.saturating_sub(buffer.len());
        buffer.extend_from_slice(ZERO_BLOCK.get(..padding).unwrap_or(&ZERO_BLOCK));
        LooseFrame {
            entries: laid,
            position: 0,
            number: FrameNumber(0),
            buffer,
        }
    }

    /// Builds a frame of what was collected, for a place.
    #[must_use]
    pub fn build(
        &mut self,
        file: FileSequence,
        epoch: FileEpoch,
        position: u64,
        number: FrameNumber,
        synced: FrameNumber,
    ) -> Frame {
        let mut loose = self.lay_out();
        loose.address(epoch, position, number, synced);
        loose.place(file)
    }
}

/// An entry of a frame that has no place yet.
#[derive(Clone, Copy, Debug)]
struct LaidEntry {
    header: EntryHeader,
    payload_bytes: u32,
    payload_crc: u32,
}

/// A frame that has no place yet: its payloads stand in memory as they will in the file, so that
/// this, which is most of the work, can be done while another frame is written. Only its header
/// depends on the place, and may be written for another one while the frame is not.
#[derive(Debug)]
pub struct LooseFrame {
    /// In the order of their payloads.
    entries: Vec<LaidEntry>,
    /// The place and number in its header.
    position: u64,
    number: FrameNumber,
    /// Starts at a block boundary of memory, as writes past the page cache want it.
    buffer: BytesMut,
}

impl LooseFrame {
    /// Bytes that it takes in a file.
    #[must_use]
    pub fn frame_bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Writes the header for a place, and gives what is to be written there.
    pub fn address(
        &mut self,
        epoch: FileEpoch,
        position: u64,
        number: FrameNumber,
        synced: FrameNumber,
    ) -> &[u8] {
        (self.position, self.number) = (position, number);
        let header = self.header(epoch, position, number, synced);
        if let Some(place) = self.buffer.get_mut(..header.len()) {
            place.copy_from_slice(&header);
        }
        &self.buffer
    }

    /// The frame, once it stands in this file where its header says.
    #[must_use]
    pub fn place(self, file: FileSequence) -> Frame {
        let mut next = self.position + header_bytes(self.entries.len()) as u64;
        let mut placed: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                let position = next;
                next += u64::from(entry.payload_bytes);
                PlacedEntry {
                    header: entry.header,
                    position,
                    payload_bytes: entry.payload_bytes,
                    payload_crc: entry.payload_crc,
                }
            })
            .collect();
        placed.sort_by_key(|e| (e.header.shard, e.header.index));
        Frame {
            number: self.number,
            file,
            position: self.position,
            frame_bytes: self.frame_bytes(),
            entries: placed,
            bytes: self.buffer.freeze(),
        }
    }

    fn header(
        &self,
        epoch: FileEpoch,
        position: u64,
        number: FrameNumber,
        synced: FrameNumber,
    ) -> Vec<u8> {
        let len = header_bytes(self.entries.len());
        let mut out = Vec::with_capacity(len);
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(
            &u32::try_from(self.entries.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        out.extend_from_slice(&0u32.to_le_bytes());
        out.extend_from_slice(&epoch.0.to_le_bytes());
        out.extend_from_slice(&number.0.to_le_bytes());
        out.extend_from_slice(&position.to_le_bytes());
        out.extend_from_slice(&self.frame_bytes().to_le_bytes());
        out.extend_from_slice(&synced.0.to_le_bytes());
        out.resize(FIXED_BYTES, 0);
        for entry in &self.entries {
            let (bytes, crc) = (entry.payload_bytes, entry.payload_crc);
            write_descriptor(&mut out, &entry.header, bytes, crc, epoch);
        }
        let crc = record::crc32c(out.get(CRC_FROM..).unwrap_or_default());
        if let Some(place) = out.get_mut(4..8) {
            place.copy_from_slice(&crc.to_le_bytes());
        }
        out
    }
}

/// Entries are bounded far below 4 GiB when they are accepted.
fn payload_bytes(entry: &Entry) -> u32 {
    u32::try_from(entry.payload.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

//! Building a frame out of entries.

use bytes::{Bytes, BytesMut};
use types::limits::{BLOCK_BYTES, FRAME_BYTES_USUAL, FRAME_ENTRIES_MAX};
use types::{FileEpoch, FileSequence, FrameNumber};

use super::format::{CRC_FROM, FIXED_BYTES, MAGIC, VERSION};
use super::header::{header_bytes, padded, write_descriptor};
use super::slabs::Slabs;
use crate::entry::{Entry, EntryHeader};

/// What a frame is padded with.
static ZEROS: [u8; 4096] = [0; 4096];

const _: () = assert!(ZEROS.len() as u64 == BLOCK_BYTES);

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
#[derive(Debug, Default)]
pub struct FrameBuilder {
    entries: Vec<Entry>,
    payload_bytes: u64,
    slabs: Slabs,
}

impl FrameBuilder {
    /// Lets the entries go.
    pub fn clear(&mut self) {
        // Not their room, which a burst of small entries makes large.
        self.entries = Vec::new();
        self.payload_bytes = 0;
    }

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

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that the frame takes in the file.
    #[must_use]
    pub fn frame_bytes(&self) -> u64 {
        self.frame_bytes_with(0, 0)
    }

    fn frame_bytes_with(&self, entries: usize, payload_bytes: u64) -> u64 {
        let header = header_bytes(self.entries.len() + entries) as u64;
        padded(header + self.payload_bytes + payload_bytes)
    }

    /// Builds the frame for a place. The builder keeps its entries, so that after a failed write
    /// the same frame can be built for another file.
    #[must_use]
    pub fn build(
        &mut self,
        file: FileSequence,
        epoch: FileEpoch,
        position: u64,
        number: FrameNumber,
        synced: FrameNumber,
    ) -> Frame {
        let frame_bytes = self.frame_bytes();
        // Stable: entries of one partition keep the order of their decision.
        self.entries
            .sort_by_key(|e| (e.header.shard, e.header.partition));
        let header = self.header(epoch, position, number, synced);
        let room = usize::try_from(frame_bytes).unwrap_or(usize::MAX);
        let mut assembler = Assembler {
            buffer: self.slabs.room_for(room),
            position,
        };
        assembler.buffer.extend_from_slice(&header);
        let mut placed = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            placed.push(PlacedEntry {
                header: entry.header,
                position: assembler.next(),
                payload_bytes: payload_bytes(entry),
                payload_crc: entry.payload.crc(),
            });
            assembler.add(entry);
        }
        placed.sort_by_key(|e| (e.header.shard, e.header.index));
        let bytes = assembler.finish(position + frame_bytes);
        Frame {
            number,
            file,
            position,
            frame_bytes,
            entries: placed,
            bytes,
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
            let bytes = payload_bytes(entry);
            write_descriptor(&mut out, &entry.header, bytes, entry.payload.crc(), epoch);
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

/// Lays a frame into one buffer that starts at a block boundary of memory, as writes past the page
/// cache want it.
struct Assembler<'a> {
    buffer: &'a mut BytesMut,
    /// Byte of the file where the frame starts.
    position: u64,
}

impl Assembler<'_> {
    /// Byte of the file where the next bytes go.
    fn next(&self) -> u64 {
        self.position + self.buffer.len() as u64
    }

    fn add(&mut self, entry: &Entry) {
        self.buffer.extend_from_slice(entry.payload.head());
        self.buffer.extend_from_slice(entry.payload.body());
    }

    fn finish(self, end: u64) -> Bytes {
        let padding = usize::try_from(end - self.next()).unwrap_or(usize::MAX);
        self.buffer
            .extend_from_slice(ZEROS.get(..padding).unwrap_or(&ZEROS));
        self.buffer.split().freeze()
    }
}

#[cfg(test)]
mod tests;

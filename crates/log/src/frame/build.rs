//! Building a frame out of entries.

use std::io::IoSlice;
use std::ops::Range;

use bytes::Bytes;
use types::limits::{BLOCK_BYTES, COPIED_RECORDS_BYTES_MAX, FRAME_BYTES_MAX, FRAME_ENTRIES_MAX};
use types::{FileEpoch, FileSequence, FrameNumber};

use super::format::{CRC_FROM, FIXED_BYTES, MAGIC, VERSION};
use super::header::{header_bytes, padded, write_descriptor};
use crate::entry::{Entry, EntryHeader};

/// What a frame is padded with.
static ZEROS: [u8; 4096] = [0; 4096];

const _: () = assert!(ZEROS.len() as u64 == BLOCK_BYTES);

/// A piece of a frame in memory.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Byte of the file where it stands.
    pub position: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// An entry and where its payload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedEntry {
    /// The entry.
    pub header: EntryHeader,
    /// Byte of the file where the payload starts.
    pub position: u64,
    /// Length of the payload.
    pub payload_bytes: u32,
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
    /// Its bytes, in the order of the file, without gaps.
    pub chunks: Vec<Chunk>,
}

impl Frame {
    /// What a vectored write takes.
    #[must_use]
    pub fn slices(&self) -> Vec<IoSlice<'_>> {
        self.chunks
            .iter()
            .map(|chunk| IoSlice::new(&chunk.bytes))
            .collect()
    }
}

/// Collects entries until a frame is full.
#[derive(Debug, Default)]
pub struct FrameBuilder {
    entries: Vec<Entry>,
    payload_bytes: u64,
}

impl FrameBuilder {
    /// Whether `entry` may go into this frame: the frame stays within `room` and the usual size,
    /// or the entry is the only one.
    #[must_use]
    pub fn takes(&self, entry: &Entry, room: u64) -> bool {
        let most = room.min(FRAME_BYTES_MAX);
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
        let mut assembler = Assembler::new(position, header, frame_bytes, &self.entries);
        let mut placed = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            placed.push(PlacedEntry {
                header: entry.header,
                position: assembler.next,
                payload_bytes: payload_bytes(entry),
            });
            assembler.add(entry);
        }
        placed.sort_by_key(|e| (e.header.shard, e.header.index));
        let chunks = assembler.finish(position + frame_bytes);
        Frame {
            number,
            file,
            position,
            frame_bytes,
            entries: placed,
            chunks,
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

/// Lays small payloads into one buffer and large bodies beside it.
struct Assembler {
    /// Byte of the file where the next payload starts.
    next: u64,
    buffer: Vec<u8>,
    pieces: Vec<Piece>,
}

enum Piece {
    Copied { position: u64, range: Range<usize> },
    Large(Chunk),
}

impl Assembler {
    fn new(position: u64, header: Vec<u8>, frame_bytes: u64, entries: &[Entry]) -> Self {
        let large: usize = entries
            .iter()
            .map(|e| {
                if is_large(e) {
                    e.payload.body().len()
                } else {
                    0
                }
            })
            .sum();
        let copied = usize::try_from(frame_bytes)
            .unwrap_or(usize::MAX)
            .saturating_sub(large);
        let mut buffer = Vec::with_capacity(copied);
        buffer.extend_from_slice(&header);
        let next = position + header.len() as u64;
        let pieces = vec![Piece::Copied {
            position,
            range: 0..header.len(),
        }];
        Self {
            next,
            buffer,
            pieces,
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.copy(entry.payload.head());
        let body = entry.payload.body();
        if is_large(entry) {
            self.pieces.push(Piece::Large(Chunk {
                position: self.next,
                bytes: body.clone(),
            }));
            self.next += body.len() as u64;
        } else {
            self.copy(body);
        }
    }

    fn copy(&mut self, bytes: &[u8]) {
        let from = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        let to = self.buffer.len();
        match self.pieces.last_mut() {
            Some(Piece::Copied { range, .. }) => range.end = to,
            _ => self.pieces.push(Piece::Copied {
                position: self.next,
                range: from..to,
            }),
        }
        self.next += bytes.len() as u64;
    }

    fn finish(mut self, end: u64) -> Vec<Chunk> {
        let padding = usize::try_from(end - self.next).unwrap_or(usize::MAX);
        self.copy(ZEROS.get(..padding).unwrap_or(&ZEROS));
        let buffer = Bytes::from(self.buffer);
        let chunk = |piece| match piece {
            Piece::Copied { position, range } => Chunk {
                position,
                bytes: buffer.slice(range),
            },
            Piece::Large(chunk) => chunk,
        };
        self.pieces.into_iter().map(chunk).collect()
    }
}

fn is_large(entry: &Entry) -> bool {
    entry.payload.body().len() >= COPIED_RECORDS_BYTES_MAX
}

#[cfg(test)]
mod tests;

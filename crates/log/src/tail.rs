//! The newest frames in memory, under one budget.

use std::collections::BTreeMap;

use bytes::Bytes;
use parking_lot::RwLock;
use smallvec::SmallVec;
use types::FileSequence;

use crate::frame::{Chunk, Frame};

/// Pieces of memory that together are the bytes asked for.
pub type Pieces = SmallVec<[Bytes; 2]>;

/// Keeps the last frames as they were written; a frame leaves as a whole.
#[derive(Debug)]
pub struct Tail {
    budget_bytes: u64,
    frames: RwLock<Frames>,
}

#[derive(Debug, Default)]
struct Frames {
    by_place: BTreeMap<(FileSequence, u64), (u64, Vec<Chunk>)>,
    bytes: u64,
}

impl Tail {
    /// A tail that keeps at most `budget_bytes`, and always the newest frame.
    #[must_use]
    pub fn new(budget_bytes: u64) -> Self {
        Self {
            budget_bytes,
            frames: RwLock::default(),
        }
    }

    /// Adds the newest frame and lets the oldest go.
    pub fn push(&self, frame: Frame) {
        if frame.entries.is_empty() {
            return;
        }
        let mut frames = self.frames.write();
        frames.bytes += frame.frame_bytes;
        let place = (frame.file, frame.position);
        frames
            .by_place
            .insert(place, (frame.frame_bytes, frame.chunks));
        while frames.bytes > self.budget_bytes && frames.by_place.len() > 1 {
            let Some((_, (bytes, _))) = frames.by_place.pop_first() else {
                break;
            };
            frames.bytes -= bytes;
        }
    }

    /// The `len` bytes at `position` of a file, if their frame is still here.
    #[must_use]
    pub fn get(&self, file: FileSequence, position: u64, len: u64) -> Option<Pieces> {
        let frames = self.frames.read();
        let (place, (_, chunks)) = frames.by_place.range(..=(file, position)).next_back()?;
        if place.0 != file {
            return None;
        }
        slice(chunks, position, len)
    }

    /// Bytes that it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.frames.read().bytes
    }
}

/// Cuts `[position, position + len)` out of chunks that follow each other without gaps.
fn slice(chunks: &[Chunk], position: u64, len: u64) -> Option<Pieces> {
    let mut at = chunks.partition_point(|c| c.position + c.bytes.len() as u64 <= position);
    let mut pieces = Pieces::new();
    let (mut next, end) = (position, position + len);
    while next < end {
        let chunk = chunks.get(at)?;
        let from = usize::try_from(next.checked_sub(chunk.position)?).ok()?;
        let to = usize::try_from(end - chunk.position)
            .ok()?
            .min(chunk.bytes.len());
        pieces.push(chunk.bytes.slice(from..to));
        next = chunk.position + to as u64;
        at += 1;
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::FrameNumber;

    fn frame(position: u64, chunks: &[&'static [u8]]) -> Frame {
        let mut at = position;
        let chunks: Vec<_> = chunks
            .iter()
            .map(|bytes| {
                let chunk = Chunk {
                    position: at,
                    bytes: Bytes::from_static(bytes),
                };
                at += bytes.len() as u64;
                chunk
            })
            .collect();
        let header = crate::entry::EntryHeader {
            shard: types::ShardId(1),
            kind: crate::entry::Kind::Metadata,
            origin: crate::entry::Origin::Internal,
            partition: types::PartitionId(0),
            term: types::Term(1),
            index: types::LogIndex(1),
            base_offset: types::Offset(0),
            count: 0,
            append_time_ms: 0,
            max_timestamp_ms: -1,
        };
        let entry = crate::frame::PlacedEntry {
            header,
            position,
            payload_bytes: 0,
        };
        Frame {
            number: FrameNumber(1),
            file: FileSequence(1),
            position,
            frame_bytes: at - position,
            entries: vec![entry],
            chunks,
        }
    }

    #[test]
    fn cuts_bytes_across_chunks() {
        let tail = Tail::new(100);
        tail.push(frame(10, &[b"abcd", b"efgh", b"ij"]));
        let pieces = tail.get(FileSequence(1), 12, 7).unwrap();
        assert_eq!(pieces.concat(), b"cdefghi");
        assert!(tail.get(FileSequence(1), 15, 9).is_none());
        assert!(tail.get(FileSequence(2), 12, 1).is_none());
    }

    #[test]
    fn lets_the_oldest_frame_go_over_budget() {
        let tail = Tail::new(8);
        tail.push(frame(0, &[b"aaaa"]));
        tail.push(frame(4, &[b"bbbb"]));
        tail.push(frame(8, &[b"cccc"]));
        assert!(tail.get(FileSequence(1), 0, 4).is_none());
        assert_eq!(tail.get(FileSequence(1), 8, 4).unwrap().concat(), b"cccc");
        assert_eq!(tail.bytes(), 8);
    }
}

//! The newest frames in memory, under one budget.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::RwLock;
use smallvec::SmallVec;
use types::FileSequence;
use types::limits::{TAIL_AGE_MS_MAX, TAIL_AGED_LEAVE_MAX, TAIL_AGED_PART};

use crate::frame::Frame;

const AGE_MAX: Duration = Duration::from_millis(TAIL_AGE_MS_MAX);

/// Keeps the last frames as they were written; a frame leaves as a whole. Those that came long ago
/// leave though there is room: who reads at the end has read them, and others read files.
#[derive(Debug)]
pub struct Tail {
    budget_bytes: u64,
    frames: RwLock<Frames>,
}

#[derive(Debug, Default)]
struct Frames {
    by_place: BTreeMap<(FileSequence, u64), Kept>,
    bytes: u64,
}

#[derive(Debug)]
struct Kept {
    bytes: Bytes,
    /// When it came.
    since: Duration,
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

    /// Adds the newest frame, now, and lets the oldest go. They are given to the caller: to free so
    /// much memory takes a while.
    pub fn push(&self, frame: Frame, now: Duration) -> SmallVec<[Bytes; 2]> {
        let mut gone = SmallVec::new();
        if frame.entries.is_empty() {
            return gone;
        }
        let mut frames = self.frames.write();
        frames.bytes += frame.bytes.len() as u64;
        let place = (frame.file, frame.position);
        let kept = Kept {
            bytes: frame.bytes,
            since: now,
        };
        frames.by_place.insert(place, kept);
        while frames.by_place.len() > 1
            && (frames.bytes > self.budget_bytes
                || gone.len() < TAIL_AGED_LEAVE_MAX && self.has_aged(&frames, now))
        {
            let Some((_, Kept { bytes, .. })) = frames.by_place.pop_first() else {
                break;
            };
            frames.bytes -= bytes.len() as u64;
            gone.push(bytes);
        }
        gone
    }

    /// Whether the oldest frame leaves for its age.
    fn has_aged(&self, frames: &Frames, now: Duration) -> bool {
        let oldest = frames.by_place.first_key_value();
        let is_old = oldest.is_some_and(|(_, kept)| now.saturating_sub(kept.since) > AGE_MAX);
        is_old && frames.bytes > self.budget_bytes / TAIL_AGED_PART
    }

    /// The `len` bytes at `position` of a file, if their frame is still here.
    #[must_use]
    pub fn get(&self, file: FileSequence, position: u64, len: u64) -> Option<Bytes> {
        let frames = self.frames.read();
        let (place, Kept { bytes, .. }) = frames.by_place.range(..=(file, position)).next_back()?;
        if place.0 != file {
            return None;
        }
        let from = usize::try_from(position - place.1).ok()?;
        let to = from.checked_add(usize::try_from(len).ok()?)?;
        (to <= bytes.len()).then(|| bytes.slice(from..to))
    }

    /// Where its oldest frame starts.
    #[must_use]
    pub fn start(&self) -> Option<(FileSequence, u64)> {
        let frames = self.frames.read();
        frames.by_place.keys().next().copied()
    }

    /// Bytes that it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.frames.read().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::FrameNumber;

    fn frame(position: u64, bytes: &'static [u8]) -> Frame {
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
            payload_crc: 0,
        };
        Frame {
            number: FrameNumber(1),
            file: FileSequence(1),
            position,
            frame_bytes: bytes.len() as u64,
            entries: vec![entry],
            bytes: Bytes::from_static(bytes),
        }
    }

    #[test]
    fn cuts_bytes_out_of_a_frame() {
        let tail = Tail::new(100);
        tail.push(frame(10, b"abcdefghij"), Duration::ZERO);
        assert_eq!(tail.get(FileSequence(1), 12, 7).unwrap(), "cdefghi");
        assert_eq!(tail.get(FileSequence(1), 10, 10).unwrap(), "abcdefghij");
        assert!(tail.get(FileSequence(1), 15, 6).is_none());
        assert!(tail.get(FileSequence(1), 9, 1).is_none());
        assert!(tail.get(FileSequence(2), 12, 1).is_none());
    }

    #[test]
    fn lets_the_oldest_frame_go_over_budget() {
        let tail = Tail::new(8);
        tail.push(frame(0, b"aaaa"), Duration::ZERO);
        tail.push(frame(4, b"bbbb"), Duration::ZERO);
        tail.push(frame(8, b"cccc"), Duration::ZERO);
        assert!(tail.get(FileSequence(1), 0, 4).is_none());
        assert_eq!(tail.get(FileSequence(1), 8, 4).unwrap(), "cccc");
        assert_eq!(tail.bytes(), 8);
    }

    #[test]
    fn lets_old_frames_go_but_for_a_part_of_the_budget() {
        let tail = Tail::new(8 * TAIL_AGED_PART);
        for at in 0..10 {
            tail.push(frame(4 * at, b"aaaa"), Duration::ZERO);
        }
        tail.push(frame(40, b"bbbb"), AGE_MAX);
        assert_eq!(tail.bytes(), 44, "none is older than that");
        tail.push(frame(44, b"cccc"), AGE_MAX + Duration::from_millis(1));
        assert_eq!(tail.bytes(), 8);
        assert_eq!(tail.start(), Some((FileSequence(1), 40)));
        tail.push(frame(48, b"dddd"), 3 * AGE_MAX);
        assert_eq!(tail.start(), Some((FileSequence(1), 44)));
    }
}

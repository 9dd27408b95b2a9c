//! Reading a log file from its first frame to its end, one bounded step at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::File;
use smallvec::SmallVec;
use types::FileEpoch;
use types::limits::{BLOCK_BYTES, JOB_STEP_BYTES};

use super::block_crcs::BlockCrcs;
use crate::error::{Corruption, Error};
use crate::file::HEADER_BYTES;
use crate::frame::{FIXED_BYTES, FrameFault, FrameHeader, PlacedHeader};

/// What became of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It matches its CRC.
    Good,
    /// It does not.
    Bad,
    /// Nobody asked: it is dead and may read as zeros.
    Unchecked,
}

/// Who is told what a scan finds, in the order of the file.
pub(super) trait Visitor {
    /// A frame with a good header; its payloads follow.
    fn frame(&mut self, frame: &FrameHeader) -> Result<(), Error>;

    /// Whether the bytes of the entry matter.
    fn wants(&self, entry: &PlacedHeader) -> bool;

    /// A payload and its first bytes, as many as a batch header has.
    fn payload(&mut self, entry: &PlacedHeader, outcome: Outcome, head: &[u8])
    -> Result<(), Error>;

    /// No frame where one should start. The scan goes on at the next block, if it is let.
    fn fault(&mut self, position: u64, fault: FrameFault) -> Result<(), Error>;

    /// The CRC of the next block of the file (docs/formats/segment-footer.md).
    fn block(&mut self, crc: u32) -> Result<(), Error>;
}

/// The first bytes of a payload.
type Head = SmallVec<[u8; 64]>;

#[derive(Debug)]
enum State {
    /// Between frames or inside a header, of which `needed` bytes are needed to go on.
    Header {
        start: u64,
        bytes: Vec<u8>,
        needed: usize,
    },
    /// Inside the payload of an entry, `done` bytes of it seen.
    Payload {
        frame: FrameHeader,
        entry: usize,
        wanted: bool,
        done: u32,
        crc: u32,
        head: Head,
    },
    /// On the way to the next frame.
    Skip { until: u64 },
}

impl State {
    const fn header(start: u64) -> Self {
        Self::Header {
            start,
            bytes: Vec::new(),
            needed: FIXED_BYTES,
        }
    }

    fn payload(frame: FrameHeader, entry: usize, wanted: bool) -> Self {
        Self::Payload {
            frame,
            entry,
            wanted,
            done: 0,
            crc: 0,
            head: Head::new(),
        }
    }
}

/// A scan of the frames of a log file.
#[derive(Debug)]
pub(super) struct FrameScan {
    file: Arc<dyn File>,
    path: PathBuf,
    epoch: FileEpoch,
    end: u64,
    /// The next byte to look at.
    position: u64,
    state: State,
    blocks: BlockCrcs,
}

impl FrameScan {
    /// A scan of the frames between the file's header and `end`.
    pub(super) fn new(file: Arc<dyn File>, path: &Path, epoch: FileEpoch, end: u64) -> Self {
        Self {
            file,
            path: path.to_path_buf(),
            epoch,
            end,
            position: HEADER_BYTES,
            state: State::header(HEADER_BYTES),
            blocks: BlockCrcs::new(HEADER_BYTES),
        }
    }

    /// Reads one step and tells `visitor` what is in it. False when nothing was left to read.
    pub(super) fn step(&mut self, visitor: &mut dyn Visitor) -> Result<bool, Error> {
        let left = self.end.saturating_sub(self.position);
        let len = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(JOB_STEP_BYTES);
        if len == 0 {
            return Ok(false);
        }
        let mut bytes = vec![0; len];
        let got = self.file.read_at(&mut bytes, self.position)?;
        if got < len {
            return Err(self.short(got).into());
        }
        self.file
            .prefetch(self.position + len as u64, JOB_STEP_BYTES as u64);
        self.blocks(&bytes, visitor)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let taken = self.feed(rest, visitor)?.min(rest.len());
            self.position += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
        }
        if self.position == self.end
            && let State::Header { start, bytes, .. } = &self.state
            && !bytes.is_empty()
        {
            visitor.fault(*start, FrameFault::Length)?;
        }
        Ok(true)
    }

    fn short(&self, got: usize) -> Corruption {
        Corruption {
            path: self.path.clone(),
            position: self.position + got as u64,
            what: "length of the file",
            expected: format!("frames up to byte {}", self.end),
            found: "the end of the file".to_owned(),
        }
    }

    /// Counts the next bytes into the CRCs of their blocks; the last block ends with the frames.
    fn blocks(&mut self, bytes: &[u8], visitor: &mut dyn Visitor) -> Result<(), Error> {
        let mut told = Ok(());
        self.blocks.add(bytes, |crc| {
            if told.is_ok() {
                told = visitor.block(crc);
            }
        });
        told?;
        match self.blocks.rest() {
            Some(crc) if self.position + bytes.len() as u64 == self.end => visitor.block(crc),
            _ => Ok(()),
        }
    }

    /// Takes bytes of the file from the present position; gives how many.
    fn feed(&mut self, rest: &[u8], visitor: &mut dyn Visitor) -> Result<usize, Error> {
        match &mut self.state {
            State::Header { bytes, needed, .. } => {
                let taken = needed.saturating_sub(bytes.len()).min(rest.len());
                bytes.extend_from_slice(rest.get(..taken).unwrap_or_default());
                if bytes.len() >= *needed {
                    self.header(taken, visitor)?;
                }
                Ok(taken)
            }
            State::Payload {
                frame,
                entry,
                wanted,
                done,
                crc,
                head,
            } => {
                let Some(placed) = frame.entries.get(*entry) else {
                    return Ok(rest.len());
                };
                let left = (placed.payload_bytes - *done) as usize;
                let now = rest.get(..left.min(rest.len())).unwrap_or_default();
                if *wanted {
                    *crc = record::crc32c_append(*crc, now);
                    let missing = record::HEADER_BYTES.saturating_sub(head.len());
                    head.extend_from_slice(now.get(..missing.min(now.len())).unwrap_or_default());
                }
                *done += u32::try_from(now.len()).unwrap_or(u32::MAX);
                let taken = now.len();
                if taken == left {
                    self.payload_ended(visitor)?;
                }
                Ok(taken)
            }
            State::Skip { until } => {
                let left = usize::try_from(*until - self.position).unwrap_or(usize::MAX);
                if left <= rest.len() {
                    self.state = State::header(*until);
                }
                Ok(left.min(rest.len()))
            }
        }
    }

    /// Judges a header that has as many bytes as it needed so far; `taken` of them came last.
    fn header(&mut self, taken: usize, visitor: &mut dyn Visitor) -> Result<(), Error> {
        let State::Header {
            start,
            bytes,
            needed,
        } = &mut self.state
        else {
            return Ok(());
        };
        let parsed = match FrameHeader::parse(bytes, self.epoch, *start) {
            Err(FrameFault::Short { header_bytes }) if header_bytes > *needed => {
                *needed = header_bytes;
                return Ok(());
            }
            Ok(frame) if frame.end() > self.end => Err(FrameFault::Length),
            parsed => parsed,
        };
        match parsed {
            Ok(frame) => {
                visitor.frame(&frame)?;
                self.enter(frame, 0, visitor)
            }
            Err(fault) => {
                let start = *start;
                let seen = self.position + taken as u64;
                let until = seen.next_multiple_of(BLOCK_BYTES).min(self.end);
                self.state = match until == seen {
                    true => State::header(seen),
                    false => State::Skip { until },
                };
                visitor.fault(start, fault)
            }
        }
    }

    fn payload_ended(&mut self, visitor: &mut dyn Visitor) -> Result<(), Error> {
        let state = std::mem::replace(&mut self.state, State::header(self.position));
        let State::Payload {
            frame,
            entry,
            wanted,
            crc,
            head,
            ..
        } = state
        else {
            return Ok(());
        };
        if let Some(placed) = frame.entries.get(entry) {
            let outcome = match wanted {
                false => Outcome::Unchecked,
                true if crc == placed.payload_crc => Outcome::Good,
                true => Outcome::Bad,
            };
            visitor.payload(placed, outcome, &head)?;
        }
        self.enter(frame, entry + 1, visitor)
    }

    /// Goes to the next payload of the frame that has bytes, or to its end.
    fn enter(
        &mut self,
        frame: FrameHeader,
        first: usize,
        visitor: &mut dyn Visitor,
    ) -> Result<(), Error> {
        let mut next = first;
        while let Some(placed) = frame.entries.get(next)
            && placed.payload_bytes == 0
        {
            let outcome = if placed.payload_crc == 0 {
                Outcome::Good
            } else {
                Outcome::Bad
            };
            visitor.payload(placed, outcome, &[])?;
            next += 1;
        }
        let last = frame.entries.last();
        let used = last.map_or(frame.payloads_start(), |e| {
            e.position + u64::from(e.payload_bytes)
        });
        let wanted = frame.entries.get(next).map(|placed| visitor.wants(placed));
        self.state = match wanted {
            Some(wanted) => State::payload(frame, next, wanted),
            None if used == frame.end() => State::header(frame.end()),
            None => State::Skip { until: frame.end() },
        };
        Ok(())
    }
}

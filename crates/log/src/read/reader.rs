//! The reader: plans under the index's lock, reads without it.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use types::limits::{READ_AHEAD_BYTES, READ_POOL_BYTES};
use types::{BufferPool, FileSequence, Offset, PartitionId, PooledBuffer};

use super::batches::{Batches, cut};
use crate::error::{Corruption, Error};
use crate::file::LogFile;
use crate::index::{PartitionIndex, SegmentPart};
use crate::segment::{Extent, ExtentCache};
use crate::tail::Tail;

/// Whether a read may wait for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only what is in memory: for callers that must not block.
    Cached,
    /// Whatever it takes: for reader threads.
    Blocking,
}

/// What came of a read.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The batches.
    Batches(Batches),
    /// The device would have to be waited for.
    NotCached,
}

impl Outcome {
    /// The batches; none when they were not in memory.
    #[must_use]
    pub fn into_batches(self) -> Batches {
        match self {
            Self::Batches(batches) => batches,
            Self::NotCached => Batches::default(),
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// The partition.
    pub partition: PartitionId,
    /// The first offset.
    pub from: Offset,
    /// Where what may be seen ends.
    pub until: Offset,
    /// Most bytes.
    pub max_bytes: usize,
    /// Give one batch even if it is larger.
    pub at_least_one: bool,
}

/// Reads partitions. One for the whole node.
#[derive(Debug)]
pub struct Reader {
    tail: Arc<Tail>,
    extents: ExtentCache,
    buffers: Arc<BufferPool>,
}

/// Where the bytes of a read are. It is made under the index's lock and holds what it names: no file
/// is reused or removed before it is gone (I5).
#[derive(Debug)]
pub struct Plan {
    want: Want,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Sealed(SegmentPart),
    Unsealed(Vec<Planned>),
}

impl Plan {
    /// The plan of a read from an index.
    #[must_use]
    pub fn new(index: &RwLock<PartitionIndex>, want: Want) -> Self {
        let index = index.read();
        let source = match index.segment_at(want.from) {
            Some(part) => Source::Sealed(part.clone()),
            None => Source::Unsealed(neighbours(&index, want)),
        };
        Self { want, source }
    }
}

/// Bytes of a file to read.
struct Range<'a> {
    file: &'a dyn disk::File,
    sequence: FileSequence,
    position: u64,
    bytes: u64,
}

impl Reader {
    /// A reader over the tail, with room for `extents_bytes` of segment indexes.
    #[must_use]
    pub fn new(tail: Arc<Tail>, extents_bytes: usize) -> Self {
        Self {
            tail,
            extents: ExtentCache::new(extents_bytes),
            buffers: BufferPool::new(READ_POOL_BYTES),
        }
    }

    /// Reads whole batches from the one that holds `want.from` on (or the first one after it).
    /// Nothing when there is none.
    ///
    /// # Errors
    /// Those of the device, and damage.
    pub fn read(
        &self,
        index: &RwLock<PartitionIndex>,
        want: Want,
        mode: Mode,
    ) -> Result<Outcome, Error> {
        self.carry_out(&Plan::new(index, want), mode)
    }

    /// Reads what a plan names. No lock of the index is held meanwhile.
    ///
    /// # Errors
    /// Those of the device, and damage.
    pub fn carry_out(&self, plan: &Plan, mode: Mode) -> Result<Outcome, Error> {
        match &plan.source {
            Source::Sealed(part) => self.read_sealed(part, plan.want, mode),
            Source::Unsealed(planned) => self.read_unsealed(planned, mode),
        }
    }

    fn read_unsealed(&self, planned: &[Planned], mode: Mode) -> Result<Outcome, Error> {
        let ranges = planned.iter().map(|planned| Range {
            file: planned.file.file.as_ref(),
            sequence: planned.file.sequence,
            position: planned.position,
            bytes: planned.bytes,
        });
        let (batches, complete) = self.gather(&ranges.collect::<Vec<_>>(), mode)?;
        Ok(if complete {
            Outcome::Batches(batches)
        } else {
            short(batches)
        })
    }

    fn read_sealed(&self, part: &SegmentPart, want: Want, mode: Mode) -> Result<Outcome, Error> {
        let Some(extents) = self.extents_of(part, want.partition, mode)? else {
            return Ok(Outcome::NotCached);
        };
        let first = extents.partition_point(|extent| extent.end_offset <= want.from);
        let mut ranges = Vec::new();
        let mut bytes = 0;
        for extent in extents.iter().skip(first) {
            let enough = bytes >= want.max_bytes as u64 && !(want.at_least_one && bytes == 0);
            if enough || extent.base_offset >= want.until {
                break;
            }
            if extent.damaged && ranges.is_empty() {
                return Err(damaged_extent(part, extent));
            }
            if extent.damaged {
                // What stands before damage is given; the damage itself is an error.
                break;
            }
            bytes += u64::from(extent.bytes);
            ranges.push(range_of(part, extent));
        }
        let (found, _) = self.gather(&ranges, mode)?;
        if found.is_empty() && !ranges.is_empty() {
            return Ok(Outcome::NotCached);
        }
        let offsets = want.from..want.until;
        let found = cut(&found.concat(), offsets, want.max_bytes, want.at_least_one)?;
        let mut batches = Batches::default();
        if !found.is_empty() {
            batches.push(found);
        }
        Ok(Outcome::Batches(batches))
    }

    /// The extents of a partition in a segment; `None` when they would have to be read.
    ///
    /// # Errors
    /// Those of the device, and damage.
    pub fn extents_of(
        &self,
        part: &SegmentPart,
        partition: PartitionId,
        mode: Mode,
    ) -> Result<Option<Arc<[Extent]>>, Error> {
        if let Some(extents) = self.extents.get(part.segment.id(), partition) {
            return Ok(Some(extents));
        }
        if mode == Mode::Cached {
            return Ok(None);
        }
        let extents = part.segment.extents(partition)?;
        self.extents
            .insert(part.segment.id(), partition, Arc::clone(&extents));
        Ok(Some(extents))
    }

    /// Reads one extent whole.
    ///
    /// # Errors
    /// Those of the device, and damage.
    pub fn read_extent(&self, part: &SegmentPart, extent: &Extent) -> Result<Bytes, Error> {
        let (batches, _) = self.gather(&[range_of(part, extent)], Mode::Blocking)?;
        Ok(batches.concat())
    }

    /// The bytes of ranges, one after the other: what is not in the tail is read into one buffer.
    /// False when it ends before a range that is not in memory and may not be waited for.
    fn gather(&self, ranges: &[Range<'_>], mode: Mode) -> Result<(Batches, bool), Error> {
        let mut gathered = Gathered::default();
        for (at, range) in ranges.iter().enumerate() {
            if let Some(bytes) = self.tail.get(range.sequence, range.position, range.bytes) {
                gathered.pieces.push(Piece::Tail(bytes));
                continue;
            }
            let room = || ranges.iter().skip(at).map(|range| range.bytes).sum();
            let target = gathered.room_for(range, room, &self.buffers);
            if !read(range, target, mode)? {
                gathered.give_up(range.bytes);
                return Ok((gathered.finish(), false));
            }
        }
        Ok((gathered.finish(), true))
    }
}

/// Fills a buffer with a range; false when it is not in memory and may not be waited for.
fn read(range: &Range<'_>, buffer: &mut [u8], mode: Mode) -> Result<bool, Error> {
    let cached = range.file.read_cached_at(buffer, range.position)?;
    if cached == Some(buffer.len()) {
        return Ok(true);
    }
    if mode == Mode::Cached {
        return Ok(false);
    }
    range
        .file
        .prefetch(range.position, range.bytes + READ_AHEAD_BYTES);
    range.file.read_exact_at(buffer, range.position)?;
    Ok(true)
}

/// Pieces of an answer while they are gathered.
#[derive(Default)]
struct Gathered {
    pieces: Vec<Piece>,
    buffer: Option<PooledBuffer>,
    /// Bytes of the buffer that pieces take.
    used: usize,
}

enum Piece {
    Tail(Bytes),
    /// A part of the buffer.
    Read(std::ops::Range<usize>),
}

impl Gathered {
    /// Where a range is read to. The buffer is made with the first one, for it and all after it.
    fn room_for(
        &mut self,
        range: &Range<'_>,
        all: impl FnOnce() -> u64,
        buffers: &Arc<BufferPool>,
    ) -> &mut [u8] {
        let bytes = usize::try_from(range.bytes).unwrap_or(usize::MAX);
        let buffer = self.buffer.get_or_insert_with(|| {
            buffers.take_filled(usize::try_from(all()).unwrap_or(usize::MAX))
        });
        let from = self.used;
        self.used += bytes;
        match self.pieces.last_mut() {
            Some(Piece::Read(last)) => last.end = self.used,
            _ => self.pieces.push(Piece::Read(from..self.used)),
        }
        buffer.get_mut(from..self.used).unwrap_or_default()
    }

    /// The last range of `bytes` was not read.
    fn give_up(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(Piece::Read(last)) = self.pieces.last_mut() {
            last.end = last.end.saturating_sub(bytes);
        }
        self.pieces
            .pop_if(|piece| matches!(piece, Piece::Read(range) if range.start == range.end));
    }

    fn finish(self) -> Batches {
        let buffer = self.buffer.map(Bytes::from_owner).unwrap_or_default();
        let mut batches = Batches::default();
        for piece in self.pieces {
            batches.push(match piece {
                Piece::Tail(bytes) => bytes,
                Piece::Read(range) => buffer.slice(range),
            });
        }
        batches
    }
}

/// What was found before something had to be waited for; nothing at all means waiting.
fn short(batches: Batches) -> Outcome {
    if batches.is_empty() {
        Outcome::NotCached
    } else {
        Outcome::Batches(batches)
    }
}

fn damaged_extent(part: &SegmentPart, extent: &Extent) -> Error {
    Error::Corrupt(Corruption {
        path: part.segment.data_path(),
        position: extent.position,
        what: "records",
        expected: format!("bytes with CRC {:08x}", extent.crc),
        found: "other bytes, when the segment was sealed".to_owned(),
    })
}

fn range_of<'a>(part: &'a SegmentPart, extent: &Extent) -> Range<'a> {
    Range {
        file: part.segment.data().as_ref(),
        sequence: part.segment.info().data.sequence,
        position: extent.position,
        bytes: u64::from(extent.bytes),
    }
}

/// Neighbouring batches of a log file, read at once.
#[derive(Debug)]
struct Planned {
    file: Arc<LogFile>,
    position: u64,
    bytes: u64,
}

fn neighbours(index: &PartitionIndex, want: Want) -> Vec<Planned> {
    let mut plan: Vec<Planned> = Vec::new();
    let mut total = 0;
    for (file, batch) in index.batches_from(want.from) {
        let bytes = u64::from(batch.bytes);
        let full = total + bytes > want.max_bytes as u64 && !(want.at_least_one && total == 0);
        if full || batch.base_offset >= want.until {
            break;
        }
        total += bytes;
        match plan.last_mut() {
            Some(last)
                if last.file.sequence == file.sequence
                    && last.position + last.bytes == batch.position =>
            {
                last.bytes += bytes;
            }
            _ => {
                plan.push(Planned {
                    file: Arc::clone(file),
                    position: batch.position,
                    bytes,
                });
            }
        }
    }
    plan
}

//! The reader: plans under the index's lock, reads without it.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use types::limits::READ_AHEAD_BYTES;
use types::{FileSequence, Offset, PartitionId};

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
        let mut batches = Batches::default();
        for planned in planned {
            let range = Range {
                file: planned.file.file.as_ref(),
                sequence: planned.file.sequence,
                position: planned.position,
                bytes: planned.bytes,
            };
            if !self.fetch(&range, mode, &mut batches)? {
                return Ok(short(batches));
            }
        }
        Ok(Outcome::Batches(batches))
    }

    fn read_sealed(&self, part: &SegmentPart, want: Want, mode: Mode) -> Result<Outcome, Error> {
        let Some(extents) = self.extents_of(part, want.partition, mode)? else {
            return Ok(Outcome::NotCached);
        };
        let mut batches = Batches::default();
        let first = extents.partition_point(|extent| extent.end_offset <= want.from);
        for extent in extents.iter().skip(first) {
            let left = want.max_bytes.saturating_sub(batches.bytes);
            let needed = want.at_least_one && batches.is_empty();
            if (left == 0 && !needed) || extent.base_offset >= want.until {
                break;
            }
            if extent.damaged {
                return damaged_extent(part, extent, batches);
            }
            let mut found = Batches::default();
            if !self.fetch(&range_of(part, extent), mode, &mut found)? {
                return Ok(short(batches));
            }
            let found = cut(&found.concat(), want.from..want.until, left, needed)?;
            if !found.batches.is_empty() {
                batches.push(found.batches);
            }
            if !found.to_the_end {
                break;
            }
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
        let mut batches = Batches::default();
        self.fetch(&range_of(part, extent), Mode::Blocking, &mut batches)?;
        Ok(batches.concat())
    }

    /// Adds the bytes of a range to `into`; false when they are not in memory and may not be
    /// waited for.
    fn fetch(&self, range: &Range<'_>, mode: Mode, into: &mut Batches) -> Result<bool, Error> {
        if let Some(bytes) = self.tail.get(range.sequence, range.position, range.bytes) {
            into.push(bytes);
            return Ok(true);
        }
        let len = usize::try_from(range.bytes).unwrap_or(usize::MAX);
        let mut buffer = vec![0; len];
        match mode {
            Mode::Cached => match range.file.read_cached_at(&mut buffer, range.position)? {
                Some(got) if got == len => {}
                _ => return Ok(false),
            },
            Mode::Blocking => {
                range
                    .file
                    .prefetch(range.position, range.bytes + READ_AHEAD_BYTES);
                range.file.read_exact_at(&mut buffer, range.position)?;
            }
        }
        into.push(Bytes::from(buffer));
        Ok(true)
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

/// What stands before damage is given; the damage itself is an error.
fn damaged_extent(part: &SegmentPart, extent: &Extent, before: Batches) -> Result<Outcome, Error> {
    if !before.is_empty() {
        return Ok(Outcome::Batches(before));
    }
    Err(Error::Corrupt(Corruption {
        path: part.segment.data_path(),
        position: extent.position,
        what: "records",
        expected: format!("bytes with CRC {:08x}", extent.crc),
        found: "other bytes, when the segment was sealed".to_owned(),
    }))
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

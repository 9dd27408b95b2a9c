//! The reader: plans under the index's lock, reads without it.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use types::limits::READ_WINDOWS_BYTES;
use types::{Offset, PartitionId};

use super::batches::{Batches, cut};
use super::position::LogPosition;
use super::windows::{Found, Range, Windows};
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

/// Where a read begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// In the tail, or there is nothing to read.
    InMemory,
    /// In a file.
    At(LogPosition),
    /// The device would have to be waited for to know it.
    NotCached,
}

impl Begin {
    /// The place in a file, if it is known to be in one.
    #[must_use]
    pub const fn position(self) -> Option<LogPosition> {
        match self {
            Self::At(position) => Some(position),
            Self::InMemory | Self::NotCached => None,
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
    windows: Windows,
}

/// Where the bytes of a read are. It is made under the index's lock and holds what it names: no file
/// is reused or removed before it is gone (I5).
#[derive(Debug)]
pub struct Plan {
    want: Want,
    /// Nothing is read that stands here or behind, one batch aside.
    before: Option<LogPosition>,
    /// What is found in files is copied.
    copies: bool,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Sealed(SegmentPart),
    Unsealed(Unsealed),
}

/// Batches of log files that are not sealed.
#[derive(Debug)]
struct Unsealed {
    stretches: Vec<Planned>,
    /// There are more.
    is_cut: bool,
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
        Self {
            want,
            before: None,
            copies: false,
            source,
        }
    }

    /// The same, but what is found in files is copied, if `copies`: a small piece of a window keeps all
    /// of it in memory, and a read of much that stands far apart would keep many.
    #[must_use]
    pub const fn copying(mut self, copies: bool) -> Self {
        self.copies = copies;
        self
    }

    /// The same, but of what stands at `position` or behind it in the log nothing is read, one batch
    /// aside.
    #[must_use]
    pub const fn before(mut self, position: Option<LogPosition>) -> Self {
        self.before = position;
        self
    }

    fn is_far(&self, position: LogPosition) -> bool {
        self.before.is_some_and(|before| position >= before)
    }
}

impl Reader {
    /// A reader over the tail, with room for `extents_bytes` of segment indexes.
    #[must_use]
    pub fn new(tail: Arc<Tail>, extents_bytes: usize) -> Self {
        Self {
            tail,
            extents: ExtentCache::new(extents_bytes),
            windows: Windows::new(READ_WINDOWS_BYTES),
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
            Source::Sealed(part) => self.read_sealed(part, plan, mode),
            Source::Unsealed(unsealed) => self.read_unsealed(unsealed, plan, mode),
        }
    }

    /// Where what a plan names begins.
    ///
    /// # Errors
    /// Those of the device, and damage.
    pub fn begin_of(&self, plan: &Plan, mode: Mode) -> Result<Begin, Error> {
        let (file, position, bytes) = match &plan.source {
            Source::Sealed(part) => {
                let Some(extents) = self.extents_of(part, plan.want.partition, mode)? else {
                    return Ok(Begin::NotCached);
                };
                let Some(extent) = from_offset(&extents, plan.want.from).next() else {
                    return Ok(Begin::InMemory);
                };
                let file = part.segment.info().data.sequence;
                (file, extent.position, u64::from(extent.bytes))
            }
            Source::Unsealed(unsealed) => match unsealed.stretches.first() {
                Some(planned) => (planned.file.sequence, planned.position, planned.bytes),
                None => return Ok(Begin::InMemory),
            },
        };
        Ok(match self.tail.get(file, position, bytes) {
            Some(_) => Begin::InMemory,
            None => Begin::At(LogPosition::new(file, position)),
        })
    }

    /// Reads what stands behind the beginning of a plan in its file, for those who read on. It may
    /// wait for the device.
    pub fn read_ahead(&self, plan: &Plan) {
        match &plan.source {
            Source::Sealed(part) => {
                let extents = self.extents_of(part, plan.want.partition, Mode::Blocking);
                let Ok(Some(extents)) = extents else { return };
                if let Some(extent) = from_offset(&extents, plan.want.from).next() {
                    self.windows.read_ahead(&range_of(part, extent));
                }
            }
            Source::Unsealed(unsealed) => {
                if let Some(planned) = unsealed.stretches.first() {
                    self.windows.read_ahead(&self.unsealed_range(planned));
                }
            }
        }
    }

    fn unsealed_range<'a>(&self, planned: &'a Planned) -> Range<'a> {
        Range {
            file: planned.file.file.as_ref(),
            sequence: planned.file.sequence,
            position: planned.position,
            bytes: planned.bytes,
            readable_end: self.readable_end(planned),
        }
    }

    fn read_unsealed(
        &self,
        unsealed: &Unsealed,
        plan: &Plan,
        mode: Mode,
    ) -> Result<Outcome, Error> {
        let mut batches = Batches {
            is_cut: unsealed.is_cut,
            ..Batches::default()
        };
        for planned in &unsealed.stretches {
            let is_far = plan.is_far(LogPosition::new(planned.file.sequence, planned.position));
            if is_far && !(plan.want.at_least_one && batches.is_empty()) {
                batches.is_cut = true;
                break;
            }
            match self.fetch(&self.unsealed_range(planned), mode, plan.copies) {
                Ok(Some(found)) => batches.take(found),
                Ok(None) => return Ok(short(batches)),
                Err(error) => return before_error(batches, error),
            }
        }
        Ok(Outcome::Batches(batches))
    }

    /// Frames are in the tail in the order of the log: what is before the first of them is written.
    fn readable_end(&self, planned: &Planned) -> u64 {
        let (file, end) = (&planned.file, planned.position + planned.bytes);
        match self.tail.start() {
            Some((sequence, position)) if sequence == file.sequence => position.max(end),
            Some((sequence, _)) if sequence > file.sequence => file.file_bytes,
            // Recovery may have begun the file, and this life goes on in it.
            _ => end,
        }
    }

    fn read_sealed(&self, part: &SegmentPart, plan: &Plan, mode: Mode) -> Result<Outcome, Error> {
        let want = plan.want;
        let file = part.segment.info().data.sequence;
        let Some(extents) = self.extents_of(part, want.partition, mode)? else {
            return Ok(Outcome::NotCached);
        };
        let mut batches = Batches::default();
        for extent in from_offset(&extents, want.from) {
            let left = want.max_bytes.saturating_sub(batches.bytes);
            let needed = want.at_least_one && batches.is_empty();
            let is_far = plan.is_far(LogPosition::new(file, extent.position));
            if ((left == 0 || is_far) && !needed) || extent.base_offset >= want.until {
                batches.is_cut = extent.base_offset < want.until;
                return Ok(Outcome::Batches(batches));
            }
            if extent.damaged {
                return damaged_extent(part, extent, batches);
            }
            let found = match self.fetch(&range_of(part, extent), mode, plan.copies) {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(short(batches)),
                Err(error) => return before_error(batches, error),
            };
            if is_whole(extent, &want, left) {
                batches.take(found);
                continue;
            }
            batches.reads_on |= found.is_new;
            let offsets = want.from..want.until;
            let found = cut(&one(found.pieces), offsets, left, needed)?;
            if !found.batches.is_empty() {
                batches.push(found.batches);
            }
            if !found.to_the_end {
                batches.is_cut = true;
                return Ok(Outcome::Batches(batches));
            }
        }
        batches.is_cut = part.run.end_offset < want.until;
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
        let found = self.fetch(&range_of(part, extent), Mode::Blocking, false)?;
        Ok(one(found.unwrap_or_default().pieces))
    }

    /// The bytes of a range in pieces, those of files copied if `copies`; `None` when they are not in
    /// memory and may not be waited for.
    fn fetch(&self, range: &Range<'_>, mode: Mode, copies: bool) -> Result<Option<Found>, Error> {
        if let Some(bytes) = self.tail.get(range.sequence, range.position, range.bytes) {
            return Ok(Some(Found {
                pieces: vec![bytes],
                is_new: false,
            }));
        }
        let found = match mode {
            Mode::Cached => self.windows.get(range)?,
            Mode::Blocking => Some(self.windows.read(range)?),
        };
        Ok(if copies {
            found.map(Found::copied)
        } else {
            found
        })
    }
}

/// The extents that hold `from` or come after it.
fn from_offset(extents: &[Extent], from: Offset) -> std::slice::Iter<'_, Extent> {
    let first = extents.partition_point(|extent| extent.end_offset <= from);
    extents.get(first..).unwrap_or_default().iter()
}

/// Whether all of an extent is wanted.
fn is_whole(extent: &Extent, want: &Want, left: usize) -> bool {
    let wanted = want.from..=want.until;
    let offsets = wanted.contains(&extent.base_offset) && wanted.contains(&extent.end_offset);
    offsets && extent.bytes as usize <= left
}

fn one(mut pieces: Vec<Bytes>) -> Bytes {
    match pieces.len() {
        0 | 1 => pieces.pop().unwrap_or_default(),
        _ => Bytes::from(pieces.concat()),
    }
}

/// What was found before something that had to be waited for or is damaged; nothing at all means
/// waiting.
fn short(mut batches: Batches) -> Outcome {
    if batches.is_empty() {
        Outcome::NotCached
    } else {
        batches.is_cut = true;
        Outcome::Batches(batches)
    }
}

/// What stands before an error is given; the error comes to who begins at it.
fn before_error(before: Batches, error: Error) -> Result<Outcome, Error> {
    if before.is_empty() {
        return Err(error);
    }
    Ok(short(before))
}

fn damaged_extent(part: &SegmentPart, extent: &Extent, before: Batches) -> Result<Outcome, Error> {
    let damage = Error::Corrupt(Corruption {
        path: part.segment.data_path(),
        position: extent.position,
        what: "records",
        expected: format!("bytes with CRC {:08x}", extent.crc),
        found: "other bytes, when the segment was sealed".to_owned(),
    });
    before_error(before, damage)
}

fn range_of<'a>(part: &'a SegmentPart, extent: &Extent) -> Range<'a> {
    Range {
        file: part.segment.data().as_ref(),
        sequence: part.segment.info().data.sequence,
        position: extent.position,
        bytes: u64::from(extent.bytes),
        readable_end: part.segment.info().data.end,
    }
}

/// Neighbouring batches of a log file, read at once.
#[derive(Debug)]
struct Planned {
    file: Arc<LogFile>,
    position: u64,
    bytes: u64,
}

fn neighbours(index: &PartitionIndex, want: Want) -> Unsealed {
    let mut plan: Vec<Planned> = Vec::new();
    let mut is_cut = false;
    let mut total = 0;
    for (file, batch) in index.batches_from(want.from) {
        let bytes = u64::from(batch.bytes);
        let full = total + bytes > want.max_bytes as u64 && !(want.at_least_one && total == 0);
        if full || batch.base_offset >= want.until {
            is_cut = batch.base_offset < want.until;
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
    Unsealed {
        stretches: plan,
        is_cut,
    }
}

//! What a sealer gathers while it reads: per partition a directory row and its extents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use types::limits::EXTENT_BYTES_MAX;
use types::{FrameNumber, Offset, PartitionId};

use super::extent::Extent;
use super::row::{Codecs, DirectoryRow};
use super::scan::{Outcome, Visitor};
use crate::entry::Kind;
use crate::error::{Corruption, Error};
use crate::frame::{FrameFault, FrameHeader, PlacedHeader};
use crate::mutant::{self, Mutant};

/// Says which payloads nobody needs any more: those of records below the log start of both kept
/// checkpoints. They are not checked and may read as zeros.
pub type IsDead = Box<dyn Fn(&PlacedHeader) -> bool + Send>;

/// What a segment holds besides its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames.
    pub frames: u64,
    /// Number of the first frame, 0 where there is none.
    pub first_frame: FrameNumber,
    /// Entries that are not records.
    pub other_entries: u64,
    /// Bytes of their payloads.
    pub other_bytes: u64,
}

/// One partition of a segment under construction.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) row: DirectoryRow,
    pub(super) extents: Vec<Extent>,
}

/// Gathers what a footer holds.
pub(super) struct Collector {
    path: PathBuf,
    is_dead: IsDead,
    pub(super) runs: BTreeMap<PartitionId, Run>,
    pub(super) block_crcs: Vec<u32>,
    pub(super) totals: Totals,
    last_frame: Option<FrameNumber>,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collector")
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

impl Collector {
    pub(super) fn new(path: &Path, is_dead: IsDead) -> Self {
        Self {
            path: path.to_path_buf(),
            is_dead,
            runs: BTreeMap::new(),
            block_crcs: Vec::new(),
            totals: Totals::default(),
            last_frame: None,
        }
    }

    pub(super) fn set_dead(&mut self, is_dead: IsDead) {
        self.is_dead = is_dead;
    }

    fn corrupt(&self, position: u64, what: &'static str, expected: String, found: String) -> Error {
        Corruption {
            path: self.path.clone(),
            position,
            what,
            expected,
            found,
        }
        .into()
    }

    fn check_order(&self, entry: &PlacedHeader) -> Result<(), Error> {
        let header = &entry.header;
        let run = self.runs.get(&header.partition);
        let least = run.map_or(Offset::ZERO, |run| run.row.end_offset);
        let counts = header.end_offset().minus(header.base_offset) == i64::from(header.count);
        if header.base_offset >= least && header.count > 0 && counts {
            return Ok(());
        }
        let expected = format!("a batch of partition {} from {least} on", header.partition);
        let found = format!("{} offsets from {} on", header.count, header.base_offset);
        Err(self.corrupt(entry.position, "offsets", expected, found))
    }
}

impl Visitor for Collector {
    fn frame(&mut self, frame: &FrameHeader) -> Result<(), Error> {
        if let Some(last) = self.last_frame
            && frame.number != last.next()
        {
            let (expected, found) = (format!("frame {}", last.next()), frame.number.to_string());
            return Err(self.corrupt(frame.position, "frame number", expected, found));
        }
        if self.last_frame.is_none() {
            self.totals.first_frame = frame.number;
        }
        self.last_frame = Some(frame.number);
        self.totals.frames += 1;
        Ok(())
    }

    fn wants(&self, entry: &PlacedHeader) -> bool {
        let dead = (self.is_dead)(entry) && !mutant::is(Mutant::CheckPunched);
        entry.header.kind != Kind::Records || !dead
    }

    fn payload(
        &mut self,
        entry: &PlacedHeader,
        outcome: Outcome,
        head: &[u8],
    ) -> Result<(), Error> {
        if entry.header.kind != Kind::Records {
            self.totals.other_entries += 1;
            self.totals.other_bytes += u64::from(entry.payload_bytes);
            return Ok(());
        }
        self.check_order(entry)?;
        let batch = Batch::new(entry, outcome, head);
        match self.runs.get_mut(&entry.header.partition) {
            Some(run) => run.add(&batch),
            None => {
                self.runs.insert(entry.header.partition, Run::start(&batch));
            }
        }
        Ok(())
    }

    fn fault(&mut self, position: u64, fault: FrameFault) -> Result<(), Error> {
        let found = format!("{fault:?}");
        Err(self.corrupt(position, "frame header", "a frame".to_owned(), found))
    }

    fn block(&mut self, crc: u32) -> Result<(), Error> {
        self.block_crcs.push(crc);
        Ok(())
    }
}

/// What a batch says of itself without being unpacked.
struct Told {
    codec: u8,
    records: u64,
    /// All its records have the largest timestamp.
    one_timestamp: bool,
}

struct Batch<'a> {
    entry: &'a PlacedHeader,
    outcome: Outcome,
    /// `None` of a batch that is dead, damaged, or no record batch of version 2.
    told: Option<Told>,
}

impl<'a> Batch<'a> {
    fn new(entry: &'a PlacedHeader, outcome: Outcome, head: &[u8]) -> Self {
        let header = match outcome {
            Outcome::Good => record::BatchHeader::parse(head).ok(),
            Outcome::Bad | Outcome::Unchecked => None,
        };
        let told = header.map(|batch| {
            let appended =
                batch.attributes.timestamp_type() == record::TimestampType::LogAppendTime;
            Told {
                codec: batch.attributes.codec_bits(),
                // No batch has more records than it takes offsets; compaction leaves fewer.
                records: u64::try_from(batch.count)
                    .unwrap_or(0)
                    .min(u64::from(entry.header.count)),
                one_timestamp: batch.count <= 1 || appended,
            }
        });
        Self {
            entry,
            outcome,
            told,
        }
    }

    fn extent(&self) -> Extent {
        let header = &self.entry.header;
        Extent {
            base_offset: header.base_offset,
            end_offset: header.end_offset(),
            position: self.entry.position,
            bytes: self.entry.payload_bytes,
            batches: 1,
            max_timestamp_ms: header.max_timestamp_ms,
            max_append_time_ms: header.append_time_ms,
            crc: self.entry.payload_crc,
            damaged: self.outcome == Outcome::Bad,
            dead: self.outcome == Outcome::Unchecked,
        }
    }

    fn records(&self) -> u64 {
        self.told
            .as_ref()
            .map_or(u64::from(self.entry.header.count), |told| told.records)
    }

    fn raw_bytes(&self) -> Option<u64> {
        let is_raw = self
            .told
            .as_ref()
            .is_some_and(|told| Codecs::NONE.has(told.codec));
        is_raw.then_some(u64::from(self.entry.payload_bytes))
    }

    fn min_timestamp_ms(&self) -> Option<i64> {
        let known = self.told.as_ref().is_some_and(|told| told.one_timestamp);
        known.then_some(self.entry.header.max_timestamp_ms)
    }

    /// Dead batches add nothing: nobody will unpack them.
    fn codecs(&self) -> Option<Codecs> {
        match (&self.told, self.outcome) {
            (Some(told), _) => Some(Codecs::of(told.codec)),
            (None, Outcome::Unchecked) => Some(Codecs::default()),
            (None, _) => None,
        }
    }
}

impl Run {
    fn start(batch: &Batch<'_>) -> Self {
        let header = &batch.entry.header;
        let row = DirectoryRow {
            partition: header.partition,
            first_offset: header.base_offset,
            end_offset: header.base_offset,
            records: 0,
            first_ordinal: 0,
            batches: 0,
            stored_bytes: 0,
            raw_bytes: Some(0),
            dead_bytes: 0,
            first_append_time_ms: header.append_time_ms,
            last_append_time_ms: header.append_time_ms,
            min_timestamp_ms: batch.min_timestamp_ms(),
            max_timestamp_ms: header.max_timestamp_ms,
            codecs: Some(Codecs::default()),
            damaged: false,
            tier: 0,
            extents_position: 0,
            extents: 0,
            extents_crc: 0,
            second: None,
        };
        let mut run = Self {
            row,
            extents: Vec::new(),
        };
        run.add(batch);
        run
    }

    fn add(&mut self, batch: &Batch<'_>) {
        let extent = batch.extent();
        let (header, bytes) = (&batch.entry.header, u64::from(extent.bytes));
        let row = &mut self.row;
        row.end_offset = extent.end_offset;
        row.records += batch.records();
        row.batches += 1;
        row.stored_bytes += bytes;
        row.raw_bytes = both(row.raw_bytes, batch.raw_bytes()).map(|(a, b)| a + b);
        row.dead_bytes += if extent.dead { bytes } else { 0 };
        row.first_append_time_ms = row.first_append_time_ms.min(header.append_time_ms);
        row.last_append_time_ms = row.last_append_time_ms.max(header.append_time_ms);
        row.min_timestamp_ms =
            both(row.min_timestamp_ms, batch.min_timestamp_ms()).map(|(a, b)| a.min(b));
        row.max_timestamp_ms = row.max_timestamp_ms.max(header.max_timestamp_ms);
        row.codecs = both(row.codecs, batch.codecs()).map(|(a, b)| a.and(b));
        row.damaged |= extent.damaged;
        match self.extents.last_mut() {
            Some(last) if goes_on(last, &extent) => join(last, &extent),
            _ => self.extents.push(extent),
        }
    }
}

fn both<T>(a: Option<T>, b: Option<T>) -> Option<(T, T)> {
    a.zip(b)
}

/// Whether `next` may become part of `last`. A damaged batch stays alone, so that its neighbours
/// are served.
fn goes_on(last: &Extent, next: &Extent) -> bool {
    last.end_position() == next.position
        && last.end_offset == next.base_offset
        && last.dead == next.dead
        && !last.damaged
        && !next.damaged
        && last.bytes.saturating_add(next.bytes) <= EXTENT_BYTES_MAX
}

fn join(last: &mut Extent, next: &Extent) {
    last.crc = record::crc32c_combine(last.crc, next.crc, u64::from(next.bytes));
    last.end_offset = next.end_offset;
    last.bytes += next.bytes;
    last.batches += next.batches;
    last.max_timestamp_ms = last.max_timestamp_ms.max(next.max_timestamp_ms);
    last.max_append_time_ms = last.max_append_time_ms.max(next.max_append_time_ms);
}

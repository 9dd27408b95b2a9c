//! Verifying a segment.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::File;
use parking_lot::Mutex;
use types::limits::{BLOCK_BYTES, SEGMENT_CRC_BLOCK_BYTES, VERIFY_DAMAGES_MAX};
use types::{Offset, PartitionId};

use super::collect::IsDead;
use super::footer::Footer;
use super::handle::Segment;
use super::row::DirectoryRow;
use super::scan::{FrameScan, Outcome, Visitor};
use crate::commit_log::error_chain;
use crate::entry::Kind;
use crate::error::{Corruption, Error};
use crate::frame::{FrameFault, FrameHeader, PlacedHeader};
use crate::mutant::{self, Mutant};

/// Something in a segment that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentDamage {
    /// The partition that is hurt, where that is known.
    pub partition: Option<PartitionId>,
    /// What is wrong.
    pub corruption: Corruption,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Frames with a good header.
    pub frames: u64,
    /// Payloads that match their CRC.
    pub good_payloads: u64,
    /// Payloads that nobody needs, not checked.
    pub dead_payloads: u64,
    /// Blocks that match their CRC.
    pub good_blocks: u64,
    /// Blocks that do not, and hold dead payloads that may have been punched.
    pub punched_blocks: u64,
    /// All damage.
    pub damage_count: u64,
    /// The first of it, at most [`VERIFY_DAMAGES_MAX`].
    pub damages: Vec<SegmentDamage>,
}

impl VerifyReport {
    fn damage(&mut self, partition: Option<PartitionId>, corruption: Corruption) {
        self.damage_count += 1;
        if self.damages.len() < VERIFY_DAMAGES_MAX {
            self.damages.push(SegmentDamage {
                partition,
                corruption,
            });
        }
    }
}

/// What a step of a verification did.
#[derive(Debug)]
pub enum VerifyStep {
    /// A part of the work.
    More,
    /// The last part.
    Done(VerifyReport),
}

/// Verifies a segment: its footer, every frame header, every payload that is alive, every block
/// of the data file, and that the directory says what the frames hold.
///
/// Of a block with dead payloads only headers and live payloads count: the dead ones may have been
/// punched.
#[derive(Debug)]
pub struct Verifier<'a> {
    segment: &'a Segment,
    data: Arc<ReadAround>,
    scan: Option<FrameScan>,
    inspector: Inspector,
}

impl<'a> Verifier<'a> {
    /// A verification of `segment`; `is_dead` must be what allowed punching, or say more.
    #[must_use]
    pub fn new(segment: &'a Segment, is_dead: IsDead) -> Self {
        let inspector = Inspector {
            path: segment.data_path(),
            is_dead,
            footer: None,
            report: VerifyReport::default(),
            tallies: BTreeMap::new(),
            dead_blocks: BTreeSet::new(),
            block_crcs: Vec::new(),
            lost: false,
        };
        Self {
            segment,
            data: Arc::new(ReadAround::new(Arc::clone(segment.data()))),
            scan: None,
            inspector,
        }
    }

    /// Does one step: the first reads the footer, the others one step's bytes of the data file.
    ///
    /// # Errors
    /// Those that say nothing of the segment. Damage is a result, and what cannot be read is damage.
    pub fn step(&mut self) -> Result<VerifyStep, Error> {
        let Some(scan) = &mut self.scan else {
            self.inspector.footer = self.read_footer()?;
            let data = &self.segment.info().data;
            let (file, path) = (Arc::clone(&self.data), self.segment.data_path());
            self.scan = Some(FrameScan::new(file, &path, data.epoch, data.end));
            return Ok(VerifyStep::More);
        };
        let stepped = scan.step(&mut self.inspector);
        for error in self.data.unreadable.lock().told.drain(..) {
            let unreadable = unreadable(&error, "data file of a segment");
            self.inspector.report.damage(None, unreadable);
        }
        match stepped {
            Ok(true) => Ok(VerifyStep::More),
            Ok(false) => Ok(VerifyStep::Done(self.inspector.end())),
            Err(Error::Corrupt(corruption)) => {
                self.inspector.report.damage(None, corruption);
                Ok(VerifyStep::Done(self.inspector.end()))
            }
            Err(error) => Err(error),
        }
    }

    fn read_footer(&mut self) -> Result<Option<Footer>, Error> {
        let (info, dir) = (self.segment.info(), self.segment.dir());
        let path = info.footer_path(dir);
        let footer = match Footer::load(self.segment.disk(), dir, info.id) {
            Ok(footer) => footer,
            Err(Error::Corrupt(corruption)) => {
                self.inspector.report.damage(None, corruption);
                return Ok(None);
            }
            Err(Error::Disk(error)) if error.is_of_the_file() => {
                let unreadable = unreadable(&error, "footer of a segment");
                self.inspector.report.damage(None, unreadable);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if footer.header.data != info.data {
            let found = format!("{:?}", footer.header.data);
            let wrong = wrong(&path, 0, "data file of the footer", &info.data, found);
            self.inspector.report.damage(None, wrong);
        }
        // The directory may have lost rows since (a deleted topic), never gained any.
        for row in &info.rows {
            let own = footer
                .rows
                .binary_search_by_key(&row.partition, |own| own.partition);
            let own = own.ok().and_then(|index| footer.rows.get(index));
            if own.is_none_or(|own| identity(own) != identity(row)) {
                let what = "directory row of the footer";
                let wrong = wrong(&path, 0, what, row, format!("{own:?}"));
                self.inspector.report.damage(Some(row.partition), wrong);
            }
        }
        Ok(Some(footer))
    }
}

fn unreadable(error: &disk::Error, what: &'static str) -> Corruption {
    Corruption {
        path: error.path.clone(),
        position: error.position,
        what,
        expected: "bytes that can be read".to_owned(),
        found: error_chain(error),
    }
}

/// A file whose blocks that cannot be read come as zeros, which no check takes for good: so the
/// rest of the file is still looked at.
#[derive(Debug)]
struct ReadAround {
    file: Arc<dyn File>,
    unreadable: Mutex<Unreadable>,
}

#[derive(Debug, Default)]
struct Unreadable {
    /// The first error of each stretch.
    told: Vec<disk::Error>,
    /// Where the last stretch ends.
    end: u64,
}

impl ReadAround {
    fn new(file: Arc<dyn File>) -> Self {
        Self {
            file,
            unreadable: Mutex::default(),
        }
    }

    fn read_by_blocks(&self, buf: &mut [u8], position: u64) -> Result<usize, disk::Error> {
        let block = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
        let mut done = 0;
        for piece in buf.chunks_mut(block) {
            let at = position + done as u64;
            match self.file.read_at(piece, at) {
                Ok(got) if got < piece.len() => return Ok(done + got),
                Ok(_) => {}
                Err(error) if error.is_of_the_file() => {
                    piece.fill(0);
                    let mut unreadable = self.unreadable.lock();
                    if unreadable.end != at {
                        unreadable.told.push(error);
                    }
                    unreadable.end = at + piece.len() as u64;
                }
                Err(error) => return Err(error),
            }
            done += piece.len();
        }
        Ok(done)
    }
}

impl File for ReadAround {
    fn read_at(&self, buf: &mut [u8], position: u64) -> Result<usize, disk::Error> {
        match self.file.read_at(buf, position) {
            Err(error) if error.is_of_the_file() => self.read_by_blocks(buf, position),
            read => read,
        }
    }

    fn read_cached_at(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, disk::Error> {
        self.file.read_cached_at(buf, position)
    }

    fn write_at(&self, bufs: &[IoSlice<'_>], position: u64) -> Result<(), disk::Error> {
        self.file.write_at(bufs, position)
    }

    fn sync_data(&self) -> Result<(), disk::Error> {
        self.file.sync_data()
    }

    fn allocate(&self, position: u64, len: u64) -> Result<(), disk::Error> {
        self.file.allocate(position, len)
    }

    fn set_len(&self, len: u64) -> Result<(), disk::Error> {
        self.file.set_len(len)
    }

    fn punch(&self, position: u64, len: u64) -> Result<(), disk::Error> {
        self.file.punch(position, len)
    }

    fn len(&self) -> Result<u64, disk::Error> {
        self.file.len()
    }

    fn prefetch(&self, position: u64, len: u64) {
        self.file.prefetch(position, len);
    }

    fn path(&self) -> &Path {
        self.file.path()
    }
}

/// What of a row never changes.
fn identity(row: &DirectoryRow) -> (PartitionId, Offset, Offset, u64, u64, u32) {
    (
        row.partition,
        row.first_offset,
        row.end_offset,
        row.stored_bytes,
        row.extents_position,
        row.extents_crc,
    )
}

fn wrong(
    path: &Path,
    position: u64,
    what: &'static str,
    expected: &dyn std::fmt::Debug,
    found: String,
) -> Corruption {
    Corruption {
        path: path.to_path_buf(),
        position,
        what,
        expected: format!("{expected:?}"),
        found,
    }
}

/// What the frames hold of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tally {
    first_offset: Offset,
    end_offset: Offset,
    batches: u64,
    stored_bytes: u64,
}

impl Tally {
    fn of(row: &DirectoryRow) -> Self {
        Self {
            first_offset: row.first_offset,
            end_offset: row.end_offset,
            batches: row.batches,
            stored_bytes: row.stored_bytes,
        }
    }
}

struct Inspector {
    path: PathBuf,
    is_dead: IsDead,
    /// `None` where it is damaged.
    footer: Option<Footer>,
    report: VerifyReport,
    tallies: BTreeMap<PartitionId, Tally>,
    /// Blocks that dead payloads touch.
    dead_blocks: BTreeSet<u64>,
    /// CRCs of the blocks as they are. They are judged in the end: a block is read before the
    /// headers in it tell what is dead.
    block_crcs: Vec<u32>,
    /// A frame header was bad, so that frames may have been missed.
    lost: bool,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl Inspector {
    fn note_dead_blocks(&mut self, entry: &PlacedHeader) {
        let last = entry.position + u64::from(entry.payload_bytes.saturating_sub(1));
        let blocks = entry.position / SEGMENT_CRC_BLOCK_BYTES..=last / SEGMENT_CRC_BLOCK_BYTES;
        self.dead_blocks.extend(blocks);
    }

    fn tally(&mut self, entry: &PlacedHeader) {
        let header = &entry.header;
        let tally = self.tallies.entry(header.partition).or_insert(Tally {
            first_offset: header.base_offset,
            end_offset: header.base_offset,
            batches: 0,
            stored_bytes: 0,
        });
        tally.end_offset = header.end_offset();
        tally.batches += 1;
        tally.stored_bytes += u64::from(entry.payload_bytes);
    }

    /// Compares the footer with what the data file held, and gives the report.
    fn end(&mut self) -> VerifyReport {
        if let Some(footer) = self.footer.take() {
            self.judge_blocks(&footer.block_crcs);
            if !self.lost {
                self.judge_rows(&footer.rows);
            }
        }
        std::mem::take(&mut self.report)
    }

    fn judge_blocks(&mut self, told: &[u32]) {
        let found = std::mem::take(&mut self.block_crcs);
        for block in 0..told.len().max(found.len()) {
            let (told, found) = (told.get(block), found.get(block));
            let block = block as u64;
            if told == found {
                self.report.good_blocks += 1;
            } else if self.dead_blocks.contains(&block) {
                self.report.punched_blocks += 1;
            } else {
                let position = block * SEGMENT_CRC_BLOCK_BYTES;
                let wrong = wrong(
                    &self.path,
                    position,
                    "block CRC",
                    &told,
                    format!("{found:?}"),
                );
                self.report.damage(None, wrong);
            }
        }
    }

    fn judge_rows(&mut self, rows: &[DirectoryRow]) {
        let told: BTreeMap<_, _> = rows
            .iter()
            .map(|row| (row.partition, Tally::of(row)))
            .collect();
        let all: BTreeSet<_> = told.keys().chain(self.tallies.keys()).copied().collect();
        for partition in all {
            let (told, found) = (told.get(&partition), self.tallies.get(&partition));
            if told != found {
                let what = "batches of a partition";
                let wrong = wrong(&self.path, 0, what, &told, format!("{found:?}"));
                self.report.damage(Some(partition), wrong);
            }
        }
    }
}

impl Visitor for Inspector {
    fn frame(&mut self, frame: &FrameHeader) -> Result<(), Error> {
        self.report.frames += 1;
        for entry in &frame.entries {
            if !self.wants(entry) {
                self.note_dead_blocks(entry);
            }
        }
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
        _head: &[u8],
    ) -> Result<(), Error> {
        if entry.header.kind == Kind::Records {
            self.tally(entry);
        }
        match outcome {
            Outcome::Good => self.report.good_payloads += 1,
            Outcome::Unchecked => self.report.dead_payloads += 1,
            Outcome::Bad => {
                let expected = format!("CRC {:08x}", entry.payload_crc);
                let found = "other bytes".to_owned();
                let path = self.path.clone();
                let position = entry.position;
                let wrong = Corruption {
                    path,
                    position,
                    what: "payload",
                    expected,
                    found,
                };
                let partition =
                    (entry.header.kind == Kind::Records).then_some(entry.header.partition);
                self.report.damage(partition, wrong);
            }
        }
        Ok(())
    }

    fn fault(&mut self, position: u64, fault: FrameFault) -> Result<(), Error> {
        // One report for each stretch, not for each block of it.
        if !std::mem::replace(&mut self.lost, true) {
            let path = self.path.clone();
            let (expected, found) = ("a frame".to_owned(), format!("{fault:?}"));
            let wrong = Corruption {
                path,
                position,
                what: "frame header",
                expected,
                found,
            };
            self.report.damage(None, wrong);
        }
        Ok(())
    }

    fn block(&mut self, crc: u32) -> Result<(), Error> {
        self.block_crcs.push(crc);
        Ok(())
    }
}

//! What must hold for any bytes that are found as log files: recovery ends, with what it found or
//! with an error, and a second recovery finds what the first one left. Each file can be sealed, or
//! is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use disk::{Disk, SimDisk};
use log::file::{FileHeader, FileState, Provisioner};
use log::frame::{DESCRIPTOR_BYTES, FIXED_BYTES};
use log::recovery::{
    ChainedFile, FoundFiles, Replay, Survey, chain, lost_files, replay, rewrite, survey,
};
use log::segment::{Footer, SealStep, Sealer, Segment, Verifier, VerifyStep};
use log::{Corruption, Error};

use types::{FileEpoch, FrameNumber, LogIndex, SeededRandom, SegmentId, ShardId};

use crate::allocated::within;
use crate::fields::{put, put_crc, slice, u32_at, u64_at};
use crate::source::Source;

const DIR: &str = "/data";
const DIRECTORY: [u8; 16] = *b"0123456789abcdef";
const BLOCK: usize = 4_096;
/// Blocks of a file, and files, that an input can lay out.
const BLOCKS_MAX: usize = 16;
const FILES_MAX: usize = 4;
/// What the simulated disk and recovery hold at most.
const HELD_BYTES_MAX: usize = 8 << 20;

/// Places of fields: in the header of a file (docs/formats/log-file.md),
const FILE_EPOCH_AT: usize = 24;
const FILE_BYTES_AT: usize = 72;
const DIRECTORY_AT: usize = 80;
const FILE_FIELDS_END: usize = 128;
/// and in the header of a frame (docs/formats/frame.md).
const HEADER_BYTES_AT: usize = 12;
const ENTRIES_AT: usize = 16;
const EPOCH_AT: usize = 24;
const POSITION_AT: usize = 40;

/// Lays out files as the input says and recovers the log that they are. The first byte says whether
/// sizes, places and CRCs are put right before; the second which frame is known to be synced. True
/// when there was a log.
pub fn check(input: &Bytes) -> bool {
    let mut source = Source::new(input);
    let (choice, proven) = (source.u8(), FrameNumber(source.u8().into()));
    let mut files = lay_out(&mut source);
    if choice % 2 == 1 {
        files.iter_mut().for_each(|file| put_right(file));
    }
    let first = files.first().and_then(|file| header_of(file));
    let Some(first) = first.filter(|header| header.state == FileState::Live) else {
        return false;
    };
    within(HELD_BYTES_MAX, || {
        let disk = SimDisk::new(1);
        let log = Path::new(DIR).join("log");
        disk.create_dir(&log).expect("a disk");
        for (file, number) in files.iter().zip(1..) {
            disk.place(&path(number), file);
        }
        let first = (first.sequence, first.epoch);
        recover(&disk, first, proven).is_ok()
    })
}

/// Pieces of files, each at the start of a block; the rest are zeros.
fn lay_out(source: &mut Source) -> Vec<Vec<u8>> {
    let mut files = vec![Vec::new(); FILES_MAX];
    while !source.is_empty() {
        let (file, block) = (usize::from(source.u8()), usize::from(source.u8()));
        let len = source.u16();
        let bytes = source.bytes(len.into());
        let at = block % BLOCKS_MAX * BLOCK;
        let file: &mut Vec<u8> = &mut files[file % FILES_MAX];
        let end = (at + bytes.len())
            .next_multiple_of(BLOCK)
            .min(BLOCKS_MAX * BLOCK);
        file.resize(file.len().max(end), 0);
        let room = (end - at).min(bytes.len());
        put(file, at, &bytes[..room]);
    }
    files.retain(|file| !file.is_empty());
    files
}

fn path(number: u64) -> PathBuf {
    Path::new(DIR).join(format!("log/{number:020}.log"))
}

fn header_of(file: &[u8]) -> Option<FileHeader> {
    let copies = file.chunks(BLOCK).take(2).filter_map(FileHeader::parse);
    copies.max_by_key(|header| header.generation)
}

type First = (types::FileSequence, FileEpoch);

fn find(disk: &SimDisk, first: First) -> Result<(FoundFiles, Vec<ChainedFile>), Error> {
    let log = Path::new(DIR).join("log");
    let found = FoundFiles::read(disk, &log, DIRECTORY)?;
    let files = chain(&found, &log, first)?;
    Ok((found, files))
}

fn recover(disk: &SimDisk, first: First, proven: FrameNumber) -> Result<(), Error> {
    let (found, files) = find(disk, first)?;
    let mut seen = Seen::default();
    let mut survey = survey(&files, proven)?;
    lost_files(&found, &files, &mut survey)?;
    replay(&files, &mut survey, &mut seen)?;
    seal(disk, &files, &survey);
    if survey.damage.is_some() {
        return Ok(());
    }
    assert!(survey.proven <= survey.last && survey.proven_end <= survey.end);

    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let log = Path::new(DIR).join("log");
    let file_bytes = (BLOCKS_MAX * BLOCK) as u64;
    let (last_name, generation) = (found.last_name, found.last_generation);
    let provisioner = Provisioner::new(shared, log, DIRECTORY, file_bytes, last_name, generation);
    let provisioner = Arc::new(provisioner);
    let spare = provisioner.make()?;
    let random = Box::new(SeededRandom::new(1));
    let next = rewrite(&files, &survey, &provisioner, random, spare, &mut seen)?;
    assert_eq!(next.last, survey.last);

    // What was read is on the disk by now, whoever looks and whatever they know.
    disk.crash();
    let (_, files) = find(disk, first)?;
    let mut again = Seen::default();
    let mut survey = self::survey(&files, proven)?;
    assert!(survey.damage.is_none(), "{:?}", survey.damage);
    assert_eq!(survey.last, next.last);
    replay(&files, &mut survey, &mut again)?;
    assert_eq!(again.entries[..], seen.entries[..again.entries.len()]);
    Ok(())
}

/// What a recovery read, in its order.
#[derive(Debug, Default)]
struct Seen {
    entries: Vec<(ShardId, LogIndex, Option<Bytes>)>,
}

impl Replay for Seen {
    fn wants_payload(&self, _: &log::frame::PlacedHeader) -> bool {
        true
    }

    fn entry(
        &mut self,
        _: &Arc<log::file::LogFile>,
        entry: &log::frame::PlacedHeader,
        payload: Option<Bytes>,
    ) -> Result<(), Error> {
        assert!(payload.is_some());
        let header = entry.header;
        self.entries.push((header.shard, header.index, payload));
        Ok(())
    }

    fn bad_payload(
        &mut self,
        _: &Arc<log::file::LogFile>,
        entry: &log::frame::PlacedHeader,
        _: &Corruption,
    ) -> bool {
        let header = entry.header;
        self.entries.push((header.shard, header.index, None));
        true
    }
}

/// Seals each file up to where it ends. A footer says what was told of the segment, and a segment
/// that was just made is whole.
fn seal(disk: &SimDisk, files: &[ChainedFile], survey: &Survey) {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let dir = Path::new(DIR);
    for (chained, id) in files.iter().zip(1..) {
        let (file, id) = (Arc::clone(&chained.file), SegmentId(id));
        let end = chained.end.unwrap_or(survey.end);
        let sealer = Sealer::new(Arc::clone(&shared), dir, id, file, end, DIRECTORY, 0);
        let Ok(mut sealer) = sealer else { continue };
        let info = loop {
            match sealer.step() {
                Ok(SealStep::More) => {}
                Ok(SealStep::Done(info)) => break Some(info),
                Err(_) => break None,
            }
        };
        let Some(info) = info else { continue };
        let footer = Footer::load(disk, dir, id).expect("a footer that was just written");
        assert_eq!(footer.info(), info);
        let damaged = info.rows.iter().any(|row| row.damaged);
        let segment = Segment::open(Arc::clone(&shared), dir, info).expect("a segment");
        let mut verifier = Verifier::new(&segment, Box::new(|_| false));
        let report = loop {
            match verifier.step().expect("a disk") {
                VerifyStep::More => {}
                VerifyStep::Done(report) => break report,
            }
        };
        // Payloads that are no records may be bad without a row that says so.
        assert!(!damaged || report.damage_count > 0, "{report:?}");
    }
}

/// Puts right what depends on other bytes of the file.
fn put_right(file: &mut [u8]) {
    let len = file.len() as u64;
    for at in [0, BLOCK] {
        put(file, at + FILE_BYTES_AT, &len.to_le_bytes());
        put(file, at + DIRECTORY_AT, &DIRECTORY);
        put_crc(file, at + 4, at + 8, at + FILE_FIELDS_END);
    }
    let epoch = header_of(file).map_or(0, |header| header.epoch.0);
    let own = u64_at(file, FILE_EPOCH_AT).unwrap_or(epoch);
    let epoch = if header_of(file).is_some() {
        epoch
    } else {
        own
    };
    for at in (2 * BLOCK..file.len()).step_by(BLOCK) {
        if u32_at(file, at) == Some(log::frame::MAGIC) {
            put(file, at + EPOCH_AT, &epoch.to_le_bytes());
            put(file, at + POSITION_AT, &(at as u64).to_le_bytes());
            put_payload_crcs(file, at, epoch);
            let header_bytes = u32_at(file, at + HEADER_BYTES_AT).unwrap_or(0) as usize;
            put_crc(file, at + 4, at + 8, at.saturating_add(header_bytes));
        }
    }
}

fn put_payload_crcs(file: &mut [u8], frame: usize, epoch: u64) {
    let mask = u32::try_from((epoch ^ epoch >> 32) & u64::from(u32::MAX)).unwrap_or(0);
    let entries = u32_at(file, frame + ENTRIES_AT).unwrap_or(0) as usize;
    let descriptor = |index: usize| frame + FIXED_BYTES + index * DESCRIPTOR_BYTES;
    let most = file.len() / DESCRIPTOR_BYTES;
    let mut payload = descriptor(entries.min(most)) as u64;
    for index in 0..entries.min(most) {
        let len = u64::from(u32_at(file, descriptor(index)).unwrap_or(0));
        // A first byte of this value leaves the CRC as it is, so that bad payloads are met too.
        let kept = slice(file, payload, 1) == Some(&[0xbd]);
        let crc = slice(file, payload, len).map(record::crc32c);
        if let Some(crc) = crc.filter(|_| !kept) {
            put(file, descriptor(index) + 4, &(crc ^ mask).to_le_bytes());
        }
        payload = payload.saturating_add(len);
    }
}

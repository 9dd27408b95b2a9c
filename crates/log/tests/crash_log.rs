//! Power cuts at every operation of the log's writer, syncer and recovery.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]
#![expect(clippy::indexing_slicing, reason = "tests outside of test functions")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk::{Disk, SimDisk, When};
use millrace_log as log;

use log::file::{LogFile, Provisioner, Writer};
use log::frame::PlacedHeader;
use log::recovery::{Replay, chain, replay, rewrite, survey};
use log::{
    CommitLog, Corruption, Entry, EntryHeader, Error, Kind, Origin, Payload, Progress, Queued,
    SyncerMachine, WriterMachine,
};
use types::limits::LOG_FILE_BYTES_MIN;
use types::{
    Clock, FileEpoch, FileSequence, FrameNumber, LogIndex, ManualClock, Offset, PartitionId,
    Random, SeededRandom, ShardId, Term,
};

const DIRECTORY: [u8; 16] = [7; 16];

fn dir() -> &'static Path {
    Path::new("/data/log")
}

/// Entries as they come back.
#[derive(Debug, Default)]
struct Found(Vec<(LogIndex, Bytes)>);

impl Replay for Found {
    fn wants_payload(&self, _entry: &PlacedHeader) -> bool {
        true
    }

    fn entry(
        &mut self,
        _file: &Arc<LogFile>,
        entry: &PlacedHeader,
        payload: Option<Bytes>,
    ) -> Result<(), Error> {
        self.0.push((entry.header.index, payload.unwrap()));
        Ok(())
    }

    fn bad_payload(
        &mut self,
        _file: &Arc<LogFile>,
        _entry: &PlacedHeader,
        _corruption: &Corruption,
    ) -> bool {
        false
    }
}

/// What the `index`th entry holds.
fn payload(index: u64) -> Bytes {
    let mut random = SeededRandom::new(index);
    let len = [10, 900, 5_000, 18_000][usize::try_from(random.below(4)).unwrap()];
    (0..len)
        .map(|n| u8::try_from((n + index) % 251).unwrap())
        .collect()
}

fn entry(index: u64) -> Queued {
    let header = EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Internal,
        partition: PartitionId(u32::try_from(index % 3).unwrap()),
        term: Term(1),
        index: LogIndex(index),
        base_offset: Offset(0),
        count: 1,
        append_time_ms: 0,
        max_timestamp_ms: -1,
    };
    let entry = Entry {
        header,
        payload: Payload::from_body(payload(index)),
    };
    Queued {
        entry,
        sync_within: Duration::ZERO,
    }
}

/// A log that runs until the power goes.
struct Life {
    log: Arc<CommitLog>,
    writer: WriterMachine,
    syncer: SyncerMachine,
    provisioner: Arc<Provisioner>,
    clock: Arc<ManualClock>,
    random: SeededRandom,
    /// The last index in each frame that was written, and the last that is synced.
    frames: Vec<(FrameNumber, u64)>,
    synced: u64,
    next: u64,
}

impl Life {
    fn new(writer: Writer, last: FrameNumber, provisioner: Arc<Provisioner>, next: u64) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let same: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let log = Arc::new(CommitLog::new(&writer, last, false, same));
        Self {
            writer: WriterMachine::new(Arc::clone(&log), writer),
            syncer: SyncerMachine::new(Arc::clone(&log)),
            log,
            provisioner,
            clock,
            random: SeededRandom::new(next + 1),
            frames: Vec::new(),
            synced: next - 1,
            next,
        }
    }

    /// Steps at random until `steps` are done or the power is off.
    fn run(&mut self, disk: &SimDisk, steps: u32) {
        for _ in 0..steps {
            match self.random.below(5) {
                0 => {
                    let more = 1 + self.random.below(4);
                    self.log.append((0..more).map(|n| entry(self.next + n)));
                    self.next += more;
                }
                1 | 2 => {
                    if self.writer.step() == Progress::NoFile && self.log.spare_count() < 3 {
                        self.provisioner
                            .make()
                            .into_iter()
                            .for_each(|s| self.log.add_spare(s));
                    }
                }
                3 => {
                    self.syncer.step();
                }
                _ => self.clock.advance(Duration::from_millis(30)),
            }
            self.hear();
            if disk.is_off() {
                return;
            }
        }
    }

    fn hear(&mut self) {
        let (events, synced) = self.log.take_events();
        for event in events {
            if let log::LogEvent::Written { frame, .. } = event {
                let last = frame.entries.last().map(|e| e.header.index.0);
                self.frames.extend(last.map(|last| (frame.number, last)));
            }
        }
        for (_, last) in self.frames.iter().filter(|(number, _)| *number <= synced) {
            self.synced = self.synced.max(*last);
        }
    }
}

fn provisioner(disk: &SimDisk, name: u64, generation: u64) -> Arc<Provisioner> {
    let disk = Arc::new(disk.clone());
    let dir = dir().to_path_buf();
    Arc::new(Provisioner::new(
        disk,
        dir,
        DIRECTORY,
        LOG_FILE_BYTES_MIN,
        name,
        generation,
    ))
}

/// A first life on an empty disk, and which file the log begins with.
fn first_life(disk: &SimDisk) -> (Life, (FileSequence, FileEpoch)) {
    disk.create_dir(dir()).unwrap();
    let provisioner = provisioner(disk, 0, 0);
    let spare = provisioner.make().unwrap();
    let random = Box::new(SeededRandom::new(disk.trace_hash()));
    let first = FrameNumber(1);
    let writer = Writer::start(Arc::clone(&provisioner), random, spare, None, first).unwrap();
    let begin = (writer.file().sequence, writer.file().epoch);
    (Life::new(writer, FrameNumber(0), provisioner, 1), begin)
}

/// Recovers the log: what is in it, and a life that goes on. An error is that of the device.
fn recover(
    disk: &SimDisk,
    begin: (FileSequence, FileEpoch),
    seed: u64,
) -> Result<(Found, Life), Error> {
    let mut found = log::recovery::FoundFiles::read(disk, dir(), DIRECTORY)?;
    let files = chain(&found, dir(), begin)?;
    let mut survey = survey(&files, FrameNumber(0))?;
    assert!(survey.damage.is_none(), "a cut is no damage: {survey:?}");
    let mut entries = Found::default();
    replay(&files, &mut survey, &mut entries)?;
    let provisioner = provisioner(disk, found.last_name, found.last_generation);
    let spare = match found.spares.pop() {
        Some(spare) => spare,
        None => provisioner.make()?,
    };
    let random = Box::new(SeededRandom::new(seed));
    let next = rewrite(&files, &survey, &provisioner, random, spare, &mut entries)?;
    let after = entries.0.last().map_or(0, |(index, _)| index.0) + 1;
    Ok((
        entries,
        Life::new(next.writer, next.last, provisioner, after),
    ))
}

/// What came back is a prefix of what was appended and holds all that was synced.
fn check(found: &Found, synced: u64, appended: u64) {
    for (at, (index, bytes)) in (1..).zip(&found.0) {
        assert_eq!(index.0, at, "entries are dense");
        assert_eq!(*bytes, payload(at), "entry {at} has its bytes");
    }
    let last = found.0.len() as u64;
    assert!(
        last >= synced,
        "{last} entries came back, {synced} were synced"
    );
    assert!(
        last < appended,
        "{last} entries came back, {appended} is the next"
    );
}

const STEPS: u32 = 120;

#[test]
fn a_cut_at_any_operation_leaves_a_prefix_with_all_that_was_synced() {
    for seed in 0..3 {
        let whole = SimDisk::new(seed);
        let (mut life, _) = first_life(&whole);
        let begin = whole.op_count();
        life.run(&whole, STEPS);
        for number in begin + 1..=whole.op_count() {
            for when in [When::Before, When::After] {
                let disk = SimDisk::new(seed);
                let (mut life, first) = first_life(&disk);
                disk.cut_at(number, when);
                life.run(&disk, STEPS);
                assert!(disk.is_off());
                disk.crash();
                let (found, _) = recover(&disk, first, number).unwrap();
                check(&found, life.synced, life.next);
            }
        }
    }
}

#[test]
fn a_cut_at_any_operation_of_a_recovery_loses_nothing() {
    for seed in 0..8 {
        let disk = SimDisk::new(100 + seed);
        let (mut life, first) = first_life(&disk);
        life.run(&disk, STEPS);
        disk.crash();
        let probe = disk.crashed_copy(seed);
        let begin = probe.op_count();
        let (all, _) = recover(&probe, first, seed).unwrap();
        for number in begin + 1..=probe.op_count() {
            for when in [When::Before, When::After] {
                let copy = disk.crashed_copy(seed);
                copy.cut_at(number, when);
                assert!(recover(&copy, first, seed).is_err() || copy.is_off());
                copy.crash();
                let (found, mut again) = recover(&copy, first, seed + 1).unwrap();
                // Nothing was written meanwhile, so nothing may be lost or gained.
                assert_eq!(found.0, all.0, "cut {when:?} operation {number}");
                again.run(&copy, STEPS);
                copy.crash();
                let (found, _) = recover(&copy, first, seed + 2).unwrap();
                check(&found, again.synced, again.next);
            }
        }
    }
}

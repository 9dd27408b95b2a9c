use std::path::PathBuf;
use std::time::Duration;

use disk::{Fault, FaultKind, Op, SimDisk};
use log::checkpoint::{CheckpointHeader, CheckpointWriter, ReplayPosition, checkpoint_path};
use log::file::{HEADER_BYTES, LogFile, Provisioner, Writer};
use log::segment::SegmentDamage;
use log::{
    CommitLog, Corruption, Entry, EntryHeader, LogEvent, Origin, Payload, Queued, SyncerMachine,
    WriterMachine,
};
use types::limits::{LOG_FILE_BYTES_MIN, VERIFY_DAMAGES_MAX};
use types::{Clock, FrameNumber, LogIndex, ManualClock, SeededRandom, SegmentId, ShardId, Term};

use super::*;

/// A data directory whose log has several files, and two checkpoints from before all of them.
struct Fixture {
    disk: SimDisk,
    dir: DataDir,
    /// Path of each file and where its first entry has its payload.
    files: Vec<(PathBuf, u64)>,
    entries: u64,
}

fn entry(index: u64) -> Queued {
    let header = EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Internal,
        partition: PartitionId(7),
        term: Term(1),
        index: LogIndex(index),
        base_offset: Offset(0),
        count: 1,
        append_time_ms: 0,
        max_timestamp_ms: -1,
    };
    Queued {
        entry: Entry {
            header,
            payload: Payload::from_body(vec![7; 12_000].into()),
        },
        sync_within: Duration::ZERO,
    }
}

fn begin(dir: &DataDir) -> (Arc<Provisioner>, Writer) {
    let provisioner = Arc::new(Provisioner::new(
        Arc::clone(&dir.disk),
        dir.log(),
        dir.id,
        LOG_FILE_BYTES_MIN,
        0,
        0,
    ));
    let spare = provisioner.make().expect("room");
    let random = Box::new(SeededRandom::new(3));
    let first = FrameNumber(1);
    let writer = Writer::start(Arc::clone(&provisioner), random, spare, None, first);
    (provisioner, writer.expect("a file"))
}

fn checkpoint(dir: &DataDir, file: &LogFile, number: u64, previous: Option<u64>) {
    let header = CheckpointHeader {
        number,
        directory: dir.id,
        created_ms: 0,
        replay: ReplayPosition {
            sequence: file.sequence,
            epoch: file.epoch,
            position: 0,
            frame: FrameNumber(1),
        },
        proven: FrameNumber(0),
        shards: Vec::new(),
    };
    let disk = Arc::clone(&dir.disk);
    let writer = CheckpointWriter::begin(disk, &dir.root, &header, previous);
    writer.expect("begun").finish().expect("finished");
}

impl Fixture {
    fn new() -> Self {
        let disk = SimDisk::new(1);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let dir = DataDir::open(shared, Path::new("/data"), &mut SeededRandom::new(2));
        let dir = dir.expect("a directory");
        dir.finish().expect("a format file");
        let (provisioner, writer) = begin(&dir);
        checkpoint(&dir, writer.file(), 1, None);
        checkpoint(&dir, writer.file(), 2, Some(1));
        let clock = Arc::new(ManualClock::new(0));
        let log = Arc::new(CommitLog::new(
            &writer,
            FrameNumber(0),
            false,
            Arc::clone(&clock) as Arc<dyn Clock>,
        ));
        let mut writer = WriterMachine::new(Arc::clone(&log), writer);
        let mut syncer = SyncerMachine::new(Arc::clone(&log));
        let mut fixture = Self {
            disk,
            dir,
            files: Vec::new(),
            entries: 0,
        };
        while fixture.files.len() < 4 {
            // The last is for recovery.
            while log.spare_count() < 2 {
                log.add_spare(provisioner.make().expect("room"));
            }
            fixture.entries += 1;
            log.append([entry(fixture.entries)]);
            assert!(fixture.entries < 100, "the log does not go on");
            for _ in 0..4 {
                writer.step();
                syncer.step();
                clock.advance(Duration::from_millis(30));
            }
            for event in log.take_events().0 {
                let LogEvent::Written { file, frame } = event else {
                    continue;
                };
                let is_known = |(path, _): &(PathBuf, u64)| *path == file.path;
                if let Some(first) = frame.entries.first()
                    && !fixture.files.iter().any(is_known)
                {
                    fixture.files.push((file.path.clone(), first.position));
                }
            }
        }
        fixture
    }

    fn corrupt(&self, path: &Path, position: u64) {
        assert!(self.disk.corrupt(path, position, 1), "{}", path.display());
    }

    fn report(&self) -> Report {
        verify(&self.dir).expect("a report")
    }

    fn damages(&self) -> Vec<String> {
        self.report().damages().to_vec()
    }
}

#[test]
fn a_good_directory_has_no_damage() {
    let fixture = Fixture::new();
    let report = fixture.report();
    assert_eq!(report.damages(), [""; 0]);
    assert_eq!(report.checkpoints_count, 2);
    assert_eq!(report.log_files_count, 4);
    assert_eq!(report.entries_count, fixture.entries);
}

#[test]
fn damage_of_either_checkpoint_is_told() {
    for number in [1, 2] {
        let fixture = Fixture::new();
        let path = checkpoint_path(&fixture.dir.root, number);
        fixture.corrupt(&path, 20);
        let said = fixture.damages();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(&path.display().to_string()), "{said:?}");

        let fixture = Fixture::new();
        let name = format!("{number}.checkpoint");
        let unreadable = Fault::new(Op::Read, FaultKind::Io).on(name.clone());
        fixture.disk.inject(unreadable);
        let said = fixture.damages();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(&name), "{said:?}");
    }
}

#[test]
fn without_a_good_checkpoint_there_is_a_report_all_the_same() {
    let fixture = Fixture::new();
    for number in [1, 2] {
        fixture.corrupt(&checkpoint_path(&fixture.dir.root, number), 20);
    }
    let said = fixture.damages();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[2].starts_with("no checkpoint in /data is good"));
}

#[test]
fn a_first_file_that_is_missing_or_has_no_header_is_damage() {
    let fixture = Fixture::new();
    let older = checkpoint_path(&fixture.dir.root, 1);
    fixture.corrupt(&older, 20);
    let (first, _) = &fixture.files[0];
    for position in [40, 4_096 + 40] {
        fixture.corrupt(first, position);
    }
    let said = fixture.damages();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with(&older.display().to_string()));
    assert!(said[1].contains("a live file with sequence 1"), "{said:?}");
    assert!(said[2].starts_with(&first.display().to_string()));

    fixture.disk.remove(first).expect("removed");
    let said = fixture.damages();
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn what_cannot_be_read_is_damage_and_the_rest_is_looked_at() {
    let fixture = Fixture::new();
    let name = |index: usize| {
        let name = fixture.files[index].0.file_name();
        name.expect("a name").to_string_lossy().into_owned()
    };
    let (behind, at) = &fixture.files[2];
    fixture.corrupt(behind, at + 5);
    // The copies of the header are read first, then frames.
    for nth in [3, 5] {
        let unreadable = Fault::new(Op::Read, FaultKind::Io).on(name(1)).nth(nth);
        fixture.disk.clear_faults();
        fixture.disk.inject(unreadable.times(2));
        let said = fixture.damages();
        assert!(said.len() >= 2, "{said:?}");
        assert!(
            said.iter().any(|damage| damage.contains(&name(1))),
            "{said:?}"
        );
        let last = said.last().expect("damage");
        assert!(
            last.contains(&name(2)) && last.contains("offset 0"),
            "{said:?}"
        );
    }
    let unreadable = Fault::new(Op::Open, FaultKind::Io).on(name(1));
    fixture.disk.clear_faults();
    fixture.disk.inject(unreadable);
    let said = fixture.damages();
    assert!(said[0].contains(&name(1)), "{said:?}");
}

#[test]
fn a_bad_header_in_one_file_leaves_the_others_to_their_ends() {
    let fixture = Fixture::new();
    fixture.corrupt(&fixture.files[1].0, HEADER_BYTES + 40);
    let frames = |report: &Report| report.frames_count;
    let good = frames(&Fixture::new().report());
    let report = fixture.report();
    assert_eq!(report.damages().len(), 1, "{:?}", report.damages());
    assert_eq!(frames(&report), good - 1);

    let (last, at) = &fixture.files[2];
    fixture.corrupt(last, at + 5);
    let said = fixture.damages();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].starts_with(&last.display().to_string()), "{said:?}");
}

#[test]
fn a_file_that_is_missing_from_the_middle_is_damage() {
    let fixture = Fixture::new();
    fixture.disk.remove(&fixture.files[1].0).expect("removed");
    let said = fixture.damages();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("a live file with sequence 2"), "{said:?}");
}

#[test]
fn all_damages_of_a_segment_are_counted() {
    let damage = SegmentDamage {
        partition: None,
        corruption: Corruption {
            path: "/data/x".into(),
            position: 0,
            what: "payload",
            expected: String::new(),
            found: String::new(),
        },
    };
    let found = VerifyReport {
        damage_count: 5_000,
        damages: vec![damage; VERIFY_DAMAGES_MAX],
        ..VerifyReport::default()
    };
    let mut report = Report::default();
    report.segment(SegmentId(1), &found);
    report.damage("another");
    assert_eq!(report.damages_count(), 5_001);
    assert_eq!(report.damages().len(), VERIFY_DAMAGES_MAX + 1);
}

/// A shortage of the process is no damage of the directory.
#[test]
fn an_error_that_says_nothing_of_a_file_is_no_damage() {
    let shortage = std::io::Error::from_raw_os_error(24);
    let error = disk::Error::new(Op::Open, Path::new("/data/x"), 0, shortage);
    let mut report = Report::default();
    assert!(report.error(error.into()).is_err());
    assert_eq!(report.damages_count(), 0);
}

//! Who is to write what is queued: any thread, or only the writer's.
#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use disk::{Disk, FaultKind, Hook, HookedDisk, Op, Operation, SimDisk};
use millrace_log as log;

use log::file::{Provisioner, Writer};
use log::{
    AssemblerMachine, CommitLog, Entry, EntryHeader, HandOver, Kind, LogEvent, Origin, Payload,
    Progress, Queued, SyncerMachine, WhoWrites, WriterMachine,
};
use types::limits::{
    FRAMES_PER_FILE_MIN, LOG_FILE_BYTES_MIN, QUICK_SYNC_MS_MAX, SPARES_RESERVED,
    WRITER_SYNC_BYTES_MAX,
};
use types::{
    Clock, FileSequence, FrameNumber, LogIndex, ManualClock, Offset, PartitionId, SeededRandom,
    ShardId, Term,
};

/// A device whose syncs take a while.
#[derive(Debug)]
struct SlowSyncs {
    clock: Arc<ManualClock>,
    takes_ms: Arc<AtomicU64>,
    meanwhile: Arc<Mutex<Meanwhile>>,
}

/// Somebody else who is to sync while a sync is under way.
#[derive(Debug, Default)]
struct Meanwhile {
    syncer: Option<SyncerMachine>,
    did: Option<Progress>,
    /// A file that is told to end while a frame is written.
    ends: Option<(Arc<CommitLog>, FileSequence)>,
}

impl Hook for SlowSyncs {
    fn before(&self, operation: &Operation) -> Option<FaultKind> {
        if operation.op == Op::SyncData {
            let takes = Duration::from_millis(self.takes_ms.load(Ordering::Relaxed));
            self.clock.advance(takes);
            let mut meanwhile = self.meanwhile.lock().unwrap();
            if let Some(mut syncer) = meanwhile.syncer.take() {
                meanwhile.did = Some(syncer.step());
            }
        }
        if operation.op == Op::Write
            && let Some((log, file)) = self.meanwhile.lock().unwrap().ends.take()
        {
            log.end_file(file);
        }
        None
    }

    fn after(&self, _operation: &Operation, _ok: bool) {}
}

struct Node {
    log: Arc<CommitLog>,
    writer: WriterMachine,
    assembler: AssemblerMachine,
    syncer: SyncerMachine,
    provisioner: Arc<Provisioner>,
    sync_takes_ms: Arc<AtomicU64>,
    meanwhile: Arc<Mutex<Meanwhile>>,
    next: u64,
}

impl Node {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let sync_takes_ms = Arc::new(AtomicU64::new(0));
        let meanwhile = Arc::new(Mutex::new(Meanwhile::default()));
        let hook = SlowSyncs {
            clock: Arc::clone(&clock),
            takes_ms: Arc::clone(&sync_takes_ms),
            meanwhile: Arc::clone(&meanwhile),
        };
        let disk = Arc::new(HookedDisk::around(Arc::new(SimDisk::new(1)), hook));
        let dir = Path::new("/data/log");
        disk.create_dir(dir).unwrap();
        let file_bytes = 8 * LOG_FILE_BYTES_MIN;
        let provisioner = Provisioner::new(disk, dir.to_path_buf(), [7; 16], file_bytes, 0, 0);
        let provisioner = Arc::new(provisioner);
        let spare = provisioner.make().unwrap();
        let random = Box::new(SeededRandom::new(1));
        let first = FrameNumber(1);
        let writer = Writer::start(Arc::clone(&provisioner), random, spare, None, first).unwrap();
        let clock = clock as Arc<dyn Clock>;
        let log = Arc::new(CommitLog::new(&writer, FrameNumber(0), false, clock));
        let writer = WriterMachine::new(Arc::clone(&log), writer);
        Self {
            assembler: writer.assembler(),
            writer,
            syncer: SyncerMachine::new(Arc::clone(&log)),
            log,
            provisioner,
            sync_takes_ms,
            meanwhile,
            next: 1,
        }
    }

    fn append(&mut self, bytes: usize) {
        let header = EntryHeader {
            shard: ShardId(1),
            kind: Kind::Records,
            origin: Origin::Internal,
            partition: PartitionId(1),
            term: Term(1),
            index: LogIndex(self.next),
            base_offset: Offset(0),
            count: 1,
            append_time_ms: 0,
            max_timestamp_ms: -1,
        };
        self.next += 1;
        let payload = Payload::from_body(Bytes::from(vec![7; bytes]));
        let entry = Entry { header, payload };
        let sync_within = Duration::ZERO;
        self.log.append([Queued { entry, sync_within }]);
    }

    fn write(&mut self) -> HandOver {
        assert_eq!(self.writer.step(), Progress::Worked);
        self.log.hand_over_sync()
    }
}

#[test]
fn little_is_anybodys_and_much_is_the_writers() {
    let mut node = Node::new();
    assert_eq!(node.log.who_writes(), WhoWrites::Nobody);
    node.append(1000);
    assert_eq!(node.log.who_writes(), WhoWrites::Anybody);
    node.append(usize::try_from(WRITER_SYNC_BYTES_MAX).unwrap());
    assert_eq!(node.log.who_writes(), WhoWrites::Writer);
    assert_eq!(node.write(), HandOver::Syncer);
    assert_eq!(node.log.who_writes(), WhoWrites::Nobody);
}

#[test]
fn a_slow_device_is_left_to_the_writer_until_it_is_quick_again() {
    let mut node = Node::new();
    for (takes_ms, then) in [
        (QUICK_SYNC_MS_MAX, WhoWrites::Anybody),
        (QUICK_SYNC_MS_MAX + 1, WhoWrites::Writer),
        (0, WhoWrites::Anybody),
    ] {
        node.sync_takes_ms.store(takes_ms, Ordering::Relaxed);
        node.append(1000);
        assert_eq!(node.write(), HandOver::Writer);
        assert_eq!(node.syncer.step(), Progress::Worked);
        node.append(1000);
        assert_eq!(node.log.who_writes(), then, "after {takes_ms} ms");
        assert_eq!(node.write(), HandOver::Writer);
        node.sync_takes_ms.store(0, Ordering::Relaxed);
        assert_eq!(node.syncer.step(), Progress::Worked);
    }
}

// The kernel tells a failed write-back to one of two syncs that run at once on a file: the other one
// would confirm what is lost.
#[test]
fn no_two_syncs_are_under_way_at_once() {
    let mut node = Node::new();
    node.append(1000);
    assert_eq!(node.write(), HandOver::Writer);
    node.log.request_sync();
    let syncer = Some(SyncerMachine::new(Arc::clone(&node.log)));
    node.meanwhile.lock().unwrap().syncer = syncer;
    assert_eq!(node.syncer.step(), Progress::Worked);
    let did = node.meanwhile.lock().unwrap().did;
    assert_eq!(did, Some(Progress::Idle(None)));
    assert_eq!(node.log.progress(), (FrameNumber(1), FrameNumber(1)));
}

#[test]
fn a_file_that_is_told_to_end_does_so_with_an_empty_frame_where_spares_are_enough() {
    let mut node = Node::new();
    node.append(1000);
    assert_eq!(node.write(), HandOver::Writer);
    assert_eq!(node.syncer.step(), Progress::Worked);
    let (events, _) = node.log.take_events();
    let [LogEvent::Written { file, .. }] = events.as_slice() else {
        panic!("{events:?}");
    };
    let first = file.sequence;
    node.log.end_file(first);
    assert!(matches!(node.writer.step(), Progress::Idle(_)), "no spare");
    for _ in 0..=SPARES_RESERVED {
        node.log.add_spare(node.provisioner.make().unwrap());
    }
    node.log.end_file(FileSequence(first.0 + 1));
    assert!(matches!(node.writer.step(), Progress::Idle(_)), "another");
    node.log.end_file(first);
    assert_eq!(node.writer.step(), Progress::Worked, "the new file");
    assert_eq!(node.writer.step(), Progress::Worked, "the empty frame");
    let (events, _) = node.log.take_events();
    let [
        LogEvent::Ended { file, .. },
        LogEvent::Written { frame, .. },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!((file.sequence, frame.entries.len()), (first, 0));
}

#[test]
fn a_file_that_is_told_to_end_while_a_frame_is_written_ends_behind_that() {
    let mut node = Node::new();
    for _ in 0..=SPARES_RESERVED {
        node.log.add_spare(node.provisioner.make().unwrap());
    }
    node.append(1000);
    let first = FileSequence(1);
    node.meanwhile.lock().unwrap().ends = Some((Arc::clone(&node.log), first));
    assert_eq!(node.write(), HandOver::Writer);
    let spare = node.log.spare_room_bytes(0);
    assert_eq!(node.log.room_bytes(0), spare, "its room counts no more");
    assert_eq!(node.syncer.step(), Progress::Worked);
    assert_eq!(node.writer.step(), Progress::Worked, "the new file");
    let (events, _) = node.log.take_events();
    let [LogEvent::Written { .. }, LogEvent::Ended { file, .. }] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(file.sequence, first);
}

#[test]
fn what_the_writer_took_and_could_not_write_stays_the_writers() {
    let mut node = Node::new();
    let mut frames = 0;
    while node.log.who_writes() == WhoWrites::Nobody {
        node.append(60_000);
        if node.writer.step() == Progress::NoFile {
            break;
        }
        node.syncer.step();
        frames += 1;
        assert!(frames < 100, "the file is full by now");
    }
    assert_eq!(node.log.who_writes(), WhoWrites::Writer);
    for _ in 0..4 {
        node.log.add_spare(node.provisioner.make().unwrap());
    }
    assert_eq!(node.writer.step(), Progress::Worked, "the new file");
    assert_eq!(node.log.who_writes(), WhoWrites::Writer);
    assert_eq!(node.writer.step(), Progress::Worked, "the frame");
    assert_eq!(node.log.who_writes(), WhoWrites::Nobody);
}

#[test]
fn a_closed_log_is_drained_once_what_came_before_is_proven_and_takes_nothing_more() {
    let mut node = Node::new();
    node.append(1000);
    node.log.close();
    assert!(!node.log.is_drained(), "it is not written");
    assert_eq!(node.write(), HandOver::Writer);
    assert!(!node.log.is_drained(), "it is not synced");
    assert_eq!(node.syncer.step(), Progress::Worked);
    assert!(!node.log.is_drained(), "it is not proven");
    assert_eq!(node.write(), HandOver::Writer);
    assert_eq!(node.syncer.step(), Progress::Worked);
    assert!(node.log.is_drained());
    node.append(1000);
    assert!(node.log.is_drained());
    assert!(matches!(node.writer.step(), Progress::Idle(_)));
}

#[test]
fn a_full_frame_is_made_ahead_and_written_in_its_turn() {
    let mut node = Node::new();
    node.append(1000);
    assert_eq!(
        node.assembler.step(),
        Progress::Idle(None),
        "it is not full"
    );
    let full = usize::try_from(8 * LOG_FILE_BYTES_MIN / FRAMES_PER_FILE_MIN).unwrap();
    (0..3).for_each(|_| node.append(full));
    assert_eq!(node.assembler.step(), Progress::Worked);
    assert_eq!(node.assembler.step(), Progress::Idle(None), "one is made");
    assert_eq!(node.log.who_writes(), WhoWrites::Writer);
    node.append(1000);
    while node.log.who_writes() != WhoWrites::Nobody {
        assert_eq!(node.writer.step(), Progress::Worked);
        node.assembler.step();
    }
    let (events, _) = node.log.take_events();
    let indexes = |frame: &log::frame::Frame| {
        let entries = frame.entries.iter();
        entries.map(|entry| entry.header.index.0).collect()
    };
    let written: Vec<Vec<u64>> = events
        .iter()
        .filter_map(|event| match event {
            LogEvent::Written { frame, .. } => Some(indexes(frame)),
            LogEvent::Ended { .. } => None,
        })
        .collect();
    assert_eq!(written, [vec![1, 2, 3, 4], vec![5]]);
}

//! No answer and no reader is ahead of the disk: a recorder around the real disk notes when each
//! write and each sync ended, and every answer and every visible end is held against that. (A
//! killed process shows nothing of this: the page cache survives it.)

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

mod node;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use disk::{Disk, Op, Operation, Phase, RealDisk, RecordingDisk};
use log::file::{FileHeader, FileState, HEADER_BYTES, LogFile};
use log::recovery::{FrameAt, read_header};
use millrace_broker as broker;

use broker::Broker;
use broker::metadata::CreateTopicRequest;
use broker::owner::AppendPart;
use types::PartitionId;

use node::{batch, start};

/// What the disk did, in the order in which it was seen.
#[derive(Debug, Default)]
struct Recording {
    events: Mutex<Vec<(Operation, Phase)>>,
}

impl Recording {
    /// How many events there are: a moment between them.
    fn now(&self) -> usize {
        self.events.lock().unwrap().len()
    }
}

/// An offset that somebody was told of at a moment.
struct Told {
    partition: PartitionId,
    end: i64,
    at: usize,
}

/// For every file, the moments at which bytes up to a position were written, and from when to when
/// a sync ran.
struct FileHistory {
    writes: Vec<(u64, u64, usize)>,
    syncs: Vec<(usize, usize)>,
}

impl FileHistory {
    /// The moment from which the byte range is on the disk.
    fn synced_at(&self, from: u64, to: u64) -> Option<usize> {
        let holds = |w: &&(u64, u64, usize)| w.0 <= from && to <= w.1;
        let written = self.writes.iter().find(holds)?.2;
        self.syncs
            .iter()
            .find(|(start, _)| *start > written)
            .map(|(_, end)| *end)
    }
}

fn histories(events: &[(Operation, Phase)]) -> BTreeMap<PathBuf, FileHistory> {
    let mut files: BTreeMap<PathBuf, FileHistory> = BTreeMap::new();
    let mut sync_starts: BTreeMap<u64, usize> = BTreeMap::new();
    for (moment, (operation, phase)) in events.iter().enumerate() {
        let history = files
            .entry(operation.path.to_path_buf())
            .or_insert_with(|| FileHistory {
                writes: Vec::new(),
                syncs: Vec::new(),
            });
        match (operation.op, phase) {
            (Op::Write, Phase::End(true)) => {
                let (from, to) = (operation.position, operation.position + operation.len);
                history.writes.push((from, to, moment));
            }
            (Op::SyncData, Phase::Start) => {
                sync_starts.insert(operation.number, moment);
            }
            (Op::SyncData, Phase::End(true)) => {
                history.syncs.push((sync_starts[&operation.number], moment));
            }
            _ => {}
        }
    }
    files
}

/// Where each batch stands: partition, end offset, file, first and last byte of its frame.
fn batches(root: &Path) -> Vec<(PartitionId, i64, PathBuf, u64, u64)> {
    let disk = RealDisk::new();
    let dir = root.join("log");
    let mut found = Vec::new();
    for name in disk.list(&dir).unwrap() {
        let path = dir.join(name);
        let file = disk.open(&path).unwrap();
        let header = FileHeader::load(file.as_ref(), &path).unwrap();
        if header.state != FileState::Live {
            continue;
        }
        let (sequence, epoch, file_bytes) = (header.sequence, header.epoch, header.file_bytes);
        let log_file = LogFile {
            sequence,
            epoch,
            path: path.clone(),
            file_bytes,
            file,
        };
        let mut at = HEADER_BYTES;
        while let FrameAt::Frame(frame) = read_header(&log_file, at).unwrap() {
            for entry in frame
                .entries
                .iter()
                .filter(|e| e.header.kind == log::Kind::Records)
            {
                let (id, end) = (entry.header.partition, entry.header.end_offset().0);
                found.push((id, end, path.clone(), frame.position, frame.end()));
            }
            at = frame.end();
        }
    }
    found
}

async fn produce(broker: &Broker, recording: &Recording, partition: i32, count: i64) -> Vec<Told> {
    let topic = broker.shared().topic("orders").unwrap();
    let id = topic.partition(partition).unwrap().id;
    let mut told = Vec::new();
    for _ in 0..count {
        let part = AppendPart {
            partition: id,
            batch: batch(&[7; 700], 5),
            origin: log::Origin::Kafka,
        };
        let answer = broker.append(vec![part], None);
        broker.write();
        let results = answer.await.unwrap();
        let end = results[0].as_ref().unwrap().base_offset.0 + 5;
        told.push(Told {
            partition: id,
            end,
            at: recording.now(),
        });
    }
    told
}

/// Looks at the visible ends again and again.
fn watch(broker: &Broker, recording: &Recording, stop: &AtomicBool) -> Vec<Told> {
    let topic = broker.shared().topic("orders").unwrap();
    let mut seen = BTreeMap::new();
    let mut told = Vec::new();
    while !stop.load(Ordering::Acquire) {
        for partition in &topic.partitions {
            let end = partition.end().0;
            if seen.insert(partition.id, end) != Some(end) && end > 0 {
                told.push(Told {
                    partition: partition.id,
                    end,
                    at: recording.now(),
                });
            }
        }
        std::thread::yield_now();
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_answered_or_visible_before_the_sync_that_covers_it() {
    let dir = tempfile::tempdir().unwrap();
    let recording = Arc::new(Recording::default());
    let observer = {
        let recording = Arc::clone(&recording);
        move |operation: &Operation, phase: Phase| {
            recording
                .events
                .lock()
                .unwrap()
                .push((operation.clone(), phase));
        }
    };
    let disk = Arc::new(RecordingDisk::new(Arc::new(RealDisk::new()), observer));
    let (running, broker) = start(dir.path(), disk);
    let mut request = CreateTopicRequest::with_defaults("orders");
    request.partitions = 3;
    broker.create_topic(request, false).await.unwrap();

    let stop = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (broker, recording) = (broker.clone(), Arc::clone(&recording));
        let stop = Arc::clone(&stop);
        #[expect(
            clippy::disallowed_methods,
            reason = "the watcher is a thread of this test"
        )]
        std::thread::Builder::new()
            .spawn(move || watch(&broker, &recording, &stop))
            .unwrap()
    };
    let producers = (0..3).map(|partition| {
        let (broker, recording) = (broker.clone(), Arc::clone(&recording));
        tokio::spawn(async move { produce(&broker, &recording, partition, 400).await })
    });
    let mut told = Vec::new();
    for producer in producers.collect::<Vec<_>>() {
        told.extend(producer.await.unwrap());
    }
    stop.store(true, Ordering::Release);
    let seen = watcher.join().unwrap();
    assert!(seen.len() > 100, "the watcher saw only {} ends", seen.len());
    told.extend(seen);
    tokio::task::block_in_place(|| running.stop()).unwrap();

    let files = histories(&recording.events.lock().unwrap());
    let batches = batches(dir.path());
    assert!(
        batches
            .iter()
            .map(|b| &b.2)
            .collect::<std::collections::BTreeSet<_>>()
            .len()
            > 2
    );
    let mut durable_at: BTreeMap<(PartitionId, i64), usize> = BTreeMap::new();
    for (partition, end, path, from, to) in batches {
        let at = files[&path]
            .synced_at(from, to)
            .expect("every batch is synced in the end");
        durable_at.insert((partition, end), at);
    }
    for told in &told {
        let synced = durable_at[&(told.partition, told.end)];
        assert!(
            synced < told.at,
            "{} of {} was told before its sync",
            told.end,
            told.partition
        );
    }
}

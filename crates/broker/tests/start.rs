//! What a start costs: of segments that were sealed before the replay begins nothing is read.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

mod node;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use disk::{Op, Operation, Phase, RealDisk, RecordingDisk};
use millrace_broker as broker;

use broker::Machines;
use broker::metadata::CreateTopicRequest;
use broker::owner::AppendPart;
use types::{SystemClock, SystemRandom};

use node::{batch, config, start};

/// Opens a node and gives the files that were read meanwhile.
fn open(root: &Path) -> (Machines, BTreeSet<PathBuf>) {
    let read = Arc::new(Mutex::new(BTreeSet::new()));
    let observer = {
        let read = Arc::clone(&read);
        move |operation: &Operation, _: Phase| {
            if operation.op == Op::Read {
                read.lock().unwrap().insert(operation.path.to_path_buf());
            }
        }
    };
    let disk = Arc::new(RecordingDisk::new(Arc::new(RealDisk::new()), observer));
    let (clock, random) = (Arc::new(SystemClock::new()), Box::new(SystemRandom::new()));
    let machines = broker::open(&config(root), disk, clock, random).unwrap();
    let read = read.lock().unwrap().clone();
    (machines, read)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_reads_nothing_of_what_was_sealed_before_the_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    let request = CreateTopicRequest::with_defaults("orders");
    broker.create_topic(request, false).await.unwrap();
    let topic = broker.shared().topic("orders").unwrap();
    for _ in 0..500 {
        let part = AppendPart {
            partition: topic.partition(0).unwrap().id,
            batch: batch(&[7; 1_000], 10),
            origin: log::Origin::Kafka,
        };
        let answer = broker.append(vec![part], None);
        broker.write();
        let results = answer.await.unwrap();
        results[0].as_ref().unwrap();
    }
    tokio::task::block_in_place(|| running.stop()).unwrap();

    let (machines, read) = open(dir.path());
    let segments: Vec<_> = machines.owner.segments().cloned().collect();
    assert!(segments.len() >= 3, "{} segments", segments.len());
    // The last ones may have been sealed while the checkpoint was written.
    for segment in &segments[..2] {
        assert!(!read.contains(&segment.data_path()), "{segment:?}");
        assert!(!read.contains(&segment.info().footer_path(dir.path())));
    }
    let log = dir.path().join("log");
    assert!(read.iter().any(|path| path.starts_with(&log)), "{read:?}");
}

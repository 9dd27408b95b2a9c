//! A segment is lost under a node on the real disk: the node starts, serves the rest, says what is
//! lost, and takes records again once that is deleted.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

mod node;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::RealDisk;
use millrace_broker as broker;

use broker::metadata::CreateTopicRequest;
use broker::owner::AppendPart;
use broker::{AppendError, Broker, FetchError, ReadLimits};
use types::{Offset, SystemClock, SystemRandom};

use node::{batch, config, start};

/// Records of a batch.
const COUNT: i64 = 10;

async fn append(broker: &Broker, topic: &str) -> Result<Offset, AppendError> {
    let topic = broker.shared().topic(topic).unwrap();
    let part = AppendPart {
        partition: topic.partition(0).unwrap().id,
        batch: batch(&[7; 1_000], usize::try_from(COUNT).unwrap()),
        origin: log::Origin::Kafka,
    };
    let answer = broker.append(vec![part], None);
    broker.write();
    let results = answer.await.unwrap();
    let appended = results.into_iter().next().unwrap()?;
    Ok(appended.base_offset)
}

const ONE: ReadLimits = ReadLimits {
    max_bytes: 1,
    at_least_one: true,
    before: None,
    must_fill: false,
    copies: false,
};

/// First offset of the batch that is read at each batch's first offset; none where it is lost.
async fn read_each(broker: &Broker, topic: &str) -> Vec<Option<i64>> {
    let topic = broker.shared().topic(topic).unwrap();
    let partition = topic.partition(0).unwrap();
    let mut found = Vec::new();
    for offset in (partition.log_start().0..partition.end().0).step_by(10) {
        found.push(match broker.read(partition, Offset(offset), ONE).await {
            Ok(batches) => {
                let batches = log::read::split(&batches.concat()).unwrap();
                Some(batches[0].0.base_offset.0)
            }
            Err(FetchError::Storage(_)) => None,
            Err(other) => panic!("{other}"),
        });
    }
    found
}

/// The data file of the second segment, and what it holds of the only partition that it has.
fn second_segment(root: &Path) -> (PathBuf, std::ops::Range<i64>) {
    let (clock, random) = (Arc::new(SystemClock::new()), Box::new(SystemRandom::new()));
    let disk = Arc::new(RealDisk::new());
    let machines = broker::open(&config(root), disk, clock, random).unwrap();
    let segment = machines.owner.segments().nth(1).unwrap();
    let [row] = &segment.info().rows[..] else {
        panic!("{:?}", segment.info())
    };
    (segment.data_path(), row.first_offset.0..row.end_offset.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_segment_keeps_neither_the_node_nor_other_partitions_from_serving() {
    let dir = tempfile::tempdir().unwrap();
    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    for topic in ["orders", "bills"] {
        let request = CreateTopicRequest::with_defaults(topic);
        broker.create_topic(request, false).await.unwrap();
    }
    append(&broker, "bills").await.unwrap();
    for _ in 0..300 {
        append(&broker, "orders").await.unwrap();
    }
    tokio::task::block_in_place(|| running.stop()).unwrap();
    let (data, lost) = second_segment(dir.path());
    disk::Disk::remove(&RealDisk::new(), &data).unwrap();

    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    let expected: Vec<_> = (0..3_000)
        .step_by(10)
        .map(|offset| (!lost.contains(&offset)).then_some(offset))
        .collect();
    assert!(expected.iter().filter(|found| found.is_none()).count() > 10);
    assert_eq!(read_each(&broker, "orders").await, expected);
    let refused = append(&broker, "orders").await.unwrap_err();
    assert_eq!(refused, AppendError::Damaged);
    assert!(refused.to_string().contains("DeleteRecords"), "{refused}");
    let damaged = broker.shared().damaged_partitions();
    let [only] = &damaged[..] else {
        panic!("{damaged:?}")
    };
    assert_eq!((&*only.topic, only.partition), ("orders", 0));
    let hole = &only.holes[0];
    assert_eq!(hole.first_offset.0..hole.end_offset.0, lost);
    assert_eq!(hole.corruption.path, data);
    assert_eq!(append(&broker, "bills").await.unwrap(), Offset(10));
    assert_eq!(read_each(&broker, "bills").await, [Some(0), Some(10)]);

    let topic = broker.shared().topic("orders").unwrap();
    let partition = topic.partition(0).unwrap();
    let start_at = broker.trim(partition, Some(hole.end_offset)).await.unwrap();
    assert_eq!(start_at.0, lost.end);
    assert_eq!(broker.shared().damaged_partitions(), []);
    assert_eq!(append(&broker, "orders").await.unwrap(), Offset(3_000));
    tokio::task::block_in_place(|| running.stop()).unwrap();

    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    let rest: Vec<_> = (lost.end..3_010).step_by(10).map(Some).collect();
    assert_eq!(read_each(&broker, "orders").await, rest);
    assert_eq!(append(&broker, "orders").await.unwrap(), Offset(3_010));
    tokio::task::block_in_place(|| running.stop()).unwrap();
}

//! A node's life on the real disk: create, append, read, stop, open again.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

mod node;

use std::sync::Arc;

use disk::RealDisk;
use millrace_broker as broker;

use broker::metadata::CreateTopicRequest;
use broker::owner::AppendPart;
use broker::{Broker, OffsetQuery, ReadLimits};
use bytes::Bytes;
use record::{BatchBuilder, CheckedBatch, Codec, Rules, check};
use types::Offset;

use node::{batch, start};

const LIMITS: ReadLimits = ReadLimits {
    max_bytes: 100_000,
    at_least_one: true,
    before: None,
    must_fill: false,
    copies: false,
};

async fn read_all(broker: &Broker, topic: &str) -> Vec<i64> {
    let topic = broker.shared().topic(topic).unwrap();
    let partition = topic.partition(0).unwrap();
    let mut offsets = Vec::new();
    let mut at = partition.log_start();
    while at < partition.end() {
        let batches = broker.read(partition, at, LIMITS).await.unwrap();
        let batches = log::read::split(&batches.concat()).unwrap();
        assert!(
            !batches.is_empty(),
            "nothing at {at} before {}",
            partition.end()
        );
        for (header, bytes) in batches {
            record::verify_crc(&bytes).unwrap();
            offsets.extend((0..header.count).map(|i| header.base_offset.0 + i64::from(i)));
            at = header.last_offset().plus(1);
        }
    }
    offsets
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_confirmed_is_there_after_stops_and_seals() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = 0;
    for life in 0..4 {
        let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
        if life == 0 {
            let request = CreateTopicRequest::with_defaults("orders");
            broker.create_topic(request, false).await.unwrap();
        }
        for _ in 0..300 {
            let id = broker
                .shared()
                .topic("orders")
                .unwrap()
                .partition(0)
                .unwrap()
                .id;
            let part = AppendPart {
                partition: id,
                batch: batch(&[7; 1000], 10),
                origin: log::Origin::Kafka,
            };
            let answer = broker.append(vec![part], None);
            broker.write();
            let results = answer.await.unwrap();
            assert_eq!(results[0].as_ref().unwrap().base_offset, Offset(expected));
            expected += 10;
        }
        assert_eq!(
            read_all(&broker, "orders").await,
            (0..expected).collect::<Vec<_>>()
        );
        tokio::task::block_in_place(|| running.stop()).unwrap();
    }
}

/// A batch of records at these times.
fn batch_at(timestamps: &[i64]) -> CheckedBatch {
    let mut builder = BatchBuilder::new();
    for ms in timestamps {
        builder.append(*ms, None, Some(b"value"), &[]).unwrap();
    }
    let bytes: Bytes = builder.build(Codec::None).unwrap();
    check(&bytes, &Rules::at(10_000)).unwrap()
}

/// The record with the largest time that can be read.
async fn latest(broker: &Broker) -> Option<(i64, i64)> {
    let topic = broker.shared().topic("orders").unwrap();
    let query = OffsetQuery::MaxTimestamp;
    let found = broker.find_offset(topic.partition(0).unwrap(), query);
    let found = found.await.unwrap()?;
    Some((found.offset.0, found.timestamp_ms))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trimmed_record_does_not_hide_the_latest_one() {
    let dir = tempfile::tempdir().unwrap();
    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    let request = CreateTopicRequest::with_defaults("orders");
    broker.create_topic(request, false).await.unwrap();
    let topic = broker.shared().topic("orders").unwrap();
    let partition = topic.partition(0).unwrap();
    assert_eq!(latest(&broker).await, None);
    for timestamps in [&[9_000, 1_000, 1_002][..], &[1_001], &[8_000, 500]] {
        let part = AppendPart {
            partition: partition.id,
            batch: batch_at(timestamps),
            origin: log::Origin::Kafka,
        };
        let results = broker.append(vec![part], None).await.unwrap();
        results[0].as_ref().unwrap();
    }
    assert_eq!(latest(&broker).await, Some((0, 9_000)));
    broker.trim(partition, Some(Offset(1))).await.unwrap();
    assert_eq!(latest(&broker).await, Some((4, 8_000)));
    broker.trim(partition, Some(Offset(5))).await.unwrap();
    assert_eq!(
        latest(&broker).await,
        Some((5, 500)),
        "of the batch that is cut"
    );
    tokio::task::block_in_place(|| running.stop()).unwrap();
    drop(broker);
    let (running, broker) = start(dir.path(), Arc::new(RealDisk::new()));
    while broker.shared().storage_stats().segments_count == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        latest(&broker).await,
        Some((5, 500)),
        "of the extent that is cut"
    );
    tokio::task::block_in_place(|| running.stop()).unwrap();
}

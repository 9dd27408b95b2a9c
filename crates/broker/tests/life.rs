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
use broker::{Broker, ReadLimits};
use types::Offset;

use node::{batch, start};

const LIMITS: ReadLimits = ReadLimits {
    max_bytes: 100_000,
    at_least_one: true,
    before: None,
    must_fill: false,
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

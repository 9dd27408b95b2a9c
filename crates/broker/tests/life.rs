//! A node's life on the real disk: create, append, read, stop, open again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use millrace_broker as broker;

use broker::metadata::CreateTopicRequest;
use broker::owner::{AppendPart, OwnerConfig};
use broker::shell::Running;
use broker::topic_config::BrokerDefaults;
use broker::{Broker, BrokerParts, NodeConfig, NodeInfo, ReadPool};
use record::{BatchBuilder, Codec, Rules, check};
use types::{Offset, SystemClock, SystemRandom};

fn config(root: &Path) -> NodeConfig {
    NodeConfig {
        root: root.to_path_buf(),
        log_file_bytes: 1 << 20,
        tail_bytes: 64 << 10,
        extents_bytes: 1 << 20,
        owner: OwnerConfig {
            defaults: BrokerDefaults::default(),
            retention_check: Duration::from_secs(300),
            producer_expiration_ms: 86_400_000,
            entry_bytes_max: 256 << 10,
            unsealed_bytes_max: 64 << 20,
            checkpoint_bytes: 4 << 20,
            node_id: 1,
            partitions_default: 1,
        },
    }
}

fn start(root: &Path) -> (Running, Broker) {
    let clock: Arc<dyn types::Clock> = Arc::new(SystemClock::new());
    let disk = Arc::new(disk::RealDisk::new());
    let random = Box::new(SystemRandom::new());
    let machines = broker::open(&config(root), disk, Arc::clone(&clock), random).unwrap();
    let broker = Broker::new(BrokerParts {
        shared: Arc::clone(&machines.shared),
        inbox: Arc::clone(&machines.inbox),
        reader: Arc::clone(&machines.reader),
        log: Arc::clone(&machines.log),
        clock,
        admission_bytes: 16 << 20,
        info: NodeInfo {
            node_id: 1,
            cluster_id: "test".to_owned(),
            defaults: BrokerDefaults::default(),
            partitions_default: 1,
            auto_create: true,
            delete_enabled: true,
        },
        pool: ReadPool::start(2).unwrap(),
    });
    (Running::start(machines).unwrap(), broker)
}

fn batch(value: &[u8], count: usize) -> record::CheckedBatch {
    let mut builder = BatchBuilder::new();
    for _ in 0..count {
        builder.append(1_000, None, Some(value), &[]).unwrap();
    }
    let bytes: Bytes = builder.build(Codec::None).unwrap();
    check(&bytes, &Rules::at(1_000)).unwrap()
}

async fn read_all(broker: &Broker, topic: &str) -> Vec<i64> {
    let topic = broker.shared().topic(topic).unwrap();
    let partition = topic.partition(0).unwrap();
    let mut offsets = Vec::new();
    let mut at = partition.log_start();
    while at < partition.end() {
        let batches = broker.read(partition, at, 100_000, true).await.unwrap();
        let batches = log::read::split(&batches.concat()).unwrap();
        assert!(!batches.is_empty(), "nothing at {at} before {}", partition.end());
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
        let (running, broker) = start(dir.path());
        if life == 0 {
            let request = CreateTopicRequest::with_defaults("orders");
            broker.create_topic(request, false).await.unwrap();
        }
        for _ in 0..300 {
            let id = broker.shared().topic("orders").unwrap().partition(0).unwrap().id;
            let part = AppendPart {
                partition: id,
                batch: batch(&[7; 1000], 10),
                origin: log::Origin::Kafka,
            };
            let results = broker.append(vec![part], None).await.unwrap();
            assert_eq!(results[0].as_ref().unwrap().base_offset, Offset(expected));
            expected += 10;
        }
        assert_eq!(read_all(&broker, "orders").await, (0..expected).collect::<Vec<_>>());
        tokio::task::block_in_place(|| running.stop()).unwrap();
    }
}

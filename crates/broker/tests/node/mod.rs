//! A node on the real disk, for tests that need one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk::Disk;
use millrace_broker as broker;

use broker::owner::OwnerConfig;
use broker::shell::Running;
use broker::topic_config::BrokerDefaults;
use broker::{Broker, BrokerParts, NodeConfig, NodeInfo, ReadPool};
use record::{BatchBuilder, CheckedBatch, Codec, Rules, check};
use types::{SystemClock, SystemRandom};

/// Small files, so that a short test seals some.
pub(crate) fn config(root: &Path) -> NodeConfig {
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
            unsealed_batches_max: 1_000_000,
            checkpoint_bytes: 4 << 20,
            node_id: 1,
            partitions_default: 1,
        },
    }
}

/// Opens the node of a directory and starts its threads.
pub(crate) fn start(root: &Path, disk: Arc<dyn Disk>) -> (Running, Broker) {
    start_at(root, disk, Arc::new(SystemClock::new()))
}

/// Like [`start`], by another clock.
pub(crate) fn start_at(
    root: &Path,
    disk: Arc<dyn Disk>,
    clock: Arc<dyn types::Clock>,
) -> (Running, Broker) {
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

/// A batch of `count` records of the same value.
pub(crate) fn batch(value: &[u8], count: usize) -> CheckedBatch {
    let mut builder = BatchBuilder::new();
    for _ in 0..count {
        builder.append(1_000, None, Some(value), &[]).unwrap();
    }
    let bytes: Bytes = builder.build(Codec::None).unwrap();
    check(&bytes, &Rules::at(1_000)).unwrap()
}

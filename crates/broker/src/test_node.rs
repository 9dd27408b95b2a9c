//! The machines of a node on a simulated disk, for tests that step them by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use disk::SimDisk;
use types::{ManualClock, SeededRandom};

use crate::open::{Machines, NodeConfig, open};
use crate::owner::OwnerConfig;
use crate::topic_config::BrokerDefaults;

pub(crate) fn machines() -> Machines {
    let config = NodeConfig {
        root: PathBuf::from("/data"),
        log_file_bytes: 1 << 20,
        tail_bytes: 1 << 20,
        extents_bytes: 1 << 20,
        owner: OwnerConfig {
            defaults: BrokerDefaults::default(),
            retention_check: Duration::from_secs(300),
            producer_expiration_ms: 86_400_000,
            entry_bytes_max: 64 << 10,
            unsealed_bytes_max: 8 << 20,
            unsealed_batches_max: 1_000_000,
            checkpoint_bytes: 4 << 20,
            node_id: 1,
            partitions_default: 1,
        },
    };
    let (disk, clock) = (Arc::new(SimDisk::new(1)), Arc::new(ManualClock::new(0)));
    let random = Box::new(SeededRandom::new(1));
    open(&config, disk, clock, random).expect("an empty disk")
}

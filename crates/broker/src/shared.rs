//! What connections read without asking the owner.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use log::segment::Hole;
use parking_lot::RwLock;
use types::{LeaderEpoch, TopicId};

use crate::topic::Topic;

/// The readers' view of the node: topics by name and id. Changed by apply alone.
#[derive(Debug, Default)]
pub struct Shared {
    catalog: RwLock<Catalog>,
    leader_epoch: AtomicI32,
    stats: RwLock<StorageStats>,
}

/// What the owner says of files and of itself, a few times a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageStats {
    /// Log that is not sealed.
    pub unsealed_bytes: u64,
    /// Log files that are not sealed.
    pub files_count: u64,
    /// Spare log files.
    pub spares_count: u64,
    /// Segments.
    pub segments_count: u64,
    /// Bytes of their data files.
    pub segment_bytes: u64,
    /// Memory of the tail.
    pub tail_bytes: u64,
    /// The longest step of the owner so far, in microseconds.
    pub owner_step_max_us: u64,
    /// The most processor time that a step of the owner took, in microseconds.
    pub owner_step_busy_max_us: u64,
}

/// A partition that lost confirmed records. It takes none until its log start is past the end of
/// its last hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPartition {
    /// Name of its topic.
    pub topic: Arc<str>,
    /// Its number in the topic.
    pub partition: i32,
    /// What is lost, and where it was, in offset order.
    pub holes: Vec<Hole>,
}

#[derive(Debug, Default)]
struct Catalog {
    by_name: BTreeMap<Arc<str>, Arc<Topic>>,
    by_id: BTreeMap<TopicId, Arc<Topic>>,
}

impl Shared {
    /// The topic of this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.catalog.read().by_name.get(name).cloned()
    }

    /// The topic with this id.
    #[must_use]
    pub fn topic_by_id(&self, id: TopicId) -> Option<Arc<Topic>> {
        self.catalog.read().by_id.get(&id).cloned()
    }

    /// All topics in the order of their names.
    #[must_use]
    pub fn topics(&self) -> Vec<Arc<Topic>> {
        self.catalog.read().by_name.values().cloned().collect()
    }

    /// The partitions that lost confirmed records, by topic and number.
    #[must_use]
    pub fn damaged_partitions(&self) -> Vec<DamagedPartition> {
        let topics = self.topics();
        let partitions = topics
            .iter()
            .flat_map(|topic| topic.partitions.iter().map(move |of| (topic, of)));
        partitions
            .filter(|(_, partition)| partition.is_damaged())
            .map(|(topic, partition)| DamagedPartition {
                topic: Arc::clone(&topic.name),
                partition: partition.number,
                holes: partition.holes(),
            })
            .collect()
    }

    /// Epoch of every partition's leader.
    #[must_use]
    pub fn leader_epoch(&self) -> LeaderEpoch {
        LeaderEpoch(self.leader_epoch.load(Ordering::Acquire))
    }

    /// What the owner said last of files and of itself.
    #[must_use]
    pub fn storage_stats(&self) -> StorageStats {
        *self.stats.read()
    }

    pub(crate) fn set_storage_stats(&self, stats: StorageStats) {
        *self.stats.write() = stats;
    }

    pub(crate) fn set_leader_epoch(&self, epoch: LeaderEpoch) {
        self.leader_epoch.store(epoch.0, Ordering::Release);
    }

    /// Takes a topic as it is now; `named` says whether its name leads to it.
    pub(crate) fn put_topic(&self, topic: Arc<Topic>, named: bool) {
        let mut catalog = self.catalog.write();
        if named {
            catalog
                .by_name
                .insert(Arc::clone(&topic.name), Arc::clone(&topic));
        }
        catalog.by_id.insert(topic.id, topic);
    }

    pub(crate) fn remove_topic(&self, id: TopicId) {
        let mut catalog = self.catalog.write();
        let Some(topic) = catalog.by_id.remove(&id) else {
            return;
        };
        if catalog
            .by_name
            .get(&topic.name)
            .is_some_and(|named| named.id == id)
        {
            catalog.by_name.remove(&topic.name);
        }
    }
}

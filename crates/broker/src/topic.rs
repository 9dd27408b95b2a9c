//! The side of a topic that connections see.

use std::collections::BTreeMap;
use std::sync::Arc;

use types::TopicId;

use crate::partition::Partition;
use crate::topic_config::TopicSettings;

/// A topic as of its last change. Never changed: a change puts a new one in its place.
#[derive(Debug)]
pub struct Topic {
    /// Its id.
    pub id: TopicId,
    /// Its name.
    pub name: Arc<str>,
    /// Its partitions in the order of their numbers.
    pub partitions: Vec<Arc<Partition>>,
    /// Its settings, resolved.
    pub settings: Arc<TopicSettings>,
    /// Its settings as they were set.
    pub configs: BTreeMap<String, String>,
}

impl Topic {
    pub(crate) fn new(
        id: TopicId,
        name: &str,
        partitions: Vec<Arc<Partition>>,
        settings: Arc<TopicSettings>,
        configs: BTreeMap<String, String>,
    ) -> Self {
        Self {
            id,
            name: Arc::from(name),
            partitions,
            settings,
            configs,
        }
    }

    /// The partition with this number.
    #[must_use]
    pub fn partition(&self, number: i32) -> Option<&Arc<Partition>> {
        self.partitions.get(usize::try_from(number).ok()?)
    }
}

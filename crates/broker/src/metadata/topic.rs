//! A topic as the metadata has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use types::{PartitionId, TopicId};

use super::MetadataEntry;
use crate::stored;

/// The space of names that Kafka and RocketMQ see.
pub const VHOST_DEFAULT: &str = "/";

/// A topic as the metadata has it. Its stored form is that of a checkpoint's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicState {
    /// Its id.
    #[serde(with = "stored::topic_id")]
    pub id: TopicId,
    /// Its name.
    pub name: String,
    /// The space of names that it is in.
    pub vhost: String,
    /// Its partitions in the order of their numbers in the topic.
    #[serde(with = "stored::partition_ids")]
    pub partitions: Vec<PartitionId>,
    /// The settings that it has of its own.
    pub configs: BTreeMap<String, String>,
    /// When it was made.
    pub created_ms: i64,
}

impl TopicState {
    /// The topic that an entry makes.
    pub(super) fn made_by(entry: &MetadataEntry) -> Option<Self> {
        let MetadataEntry::CreateTopic {
            id,
            name,
            vhost,
            partitions,
            configs,
            created_ms,
        } = entry
        else {
            return None;
        };
        Some(Self {
            id: *id,
            name: name.clone(),
            vhost: vhost.clone(),
            partitions: partitions.clone(),
            configs: configs.clone(),
            created_ms: *created_ms,
        })
    }

    /// Adds those partitions that it does not have. Numbers only grow, so what a replay brings
    /// again is not larger than the last.
    pub(super) fn add_partitions(&mut self, partitions: &[PartitionId]) {
        let last = self.partitions.last().copied();
        self.partitions
            .extend(partitions.iter().filter(|id| Some(**id) > last));
    }

    pub(super) fn set_configs(&mut self, set: &BTreeMap<String, Option<String>>) {
        for (name, value) in set {
            match value {
                Some(value) => self.configs.insert(name.clone(), value.clone()),
                None => self.configs.remove(name),
            };
        }
    }

    /// Whether its name is made of the characters that two names can differ in and still collide.
    pub(super) fn folded_name(&self) -> Option<String> {
        super::name::fold(&self.name)
    }
}

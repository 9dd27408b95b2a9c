//! What the log keeps of changes of the metadata.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use types::{PartitionId, TopicId};

use crate::stored;

/// Version of the encoding, its first byte.
const VERSION: u8 = 1;

/// A change of the metadata. The order of variants and fields stands on disk
/// (docs/formats/metadata-entry.md): new ones come last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetadataEntry {
    /// A topic comes into being.
    CreateTopic {
        /// Its id.
        #[serde(with = "stored::topic_id")]
        id: TopicId,
        /// Its name.
        name: String,
        /// The space of names that it is in.
        vhost: String,
        /// Its partitions; a number is never given twice.
        #[serde(with = "stored::partition_ids")]
        partitions: Vec<PartitionId>,
        /// The settings that it has of its own.
        configs: BTreeMap<String, String>,
        /// When it was decided.
        created_ms: i64,
    },
    /// A topic goes, and all its records.
    DeleteTopic {
        /// Which.
        #[serde(with = "stored::topic_id")]
        id: TopicId,
    },
    /// A topic gets more partitions.
    AddPartitions {
        /// Which.
        #[serde(with = "stored::topic_id")]
        id: TopicId,
        /// The new ones, which follow those that it has.
        #[serde(with = "stored::partition_ids")]
        partitions: Vec<PartitionId>,
    },
    /// Settings of a topic change.
    SetTopicConfigs {
        /// Which.
        #[serde(with = "stored::topic_id")]
        id: TopicId,
        /// New values; without one the setting is the broker's again.
        set: BTreeMap<String, Option<String>>,
    },
    /// Producer ids are set aside to be handed out.
    ProducerIds {
        /// The first that is not.
        next: i64,
    },
    /// What the epoch of every partition's leader counts from moves.
    LeaderEpochBase {
        /// To where.
        epoch: i32,
    },
}

/// Stored bytes are no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EntryError {
    /// A newer broker wrote it.
    #[error("metadata entry of version {0}, this broker knows up to {VERSION}")]
    Version(u8),
    /// The bytes are none that any broker writes.
    #[error("malformed metadata entry")]
    Malformed,
}

impl MetadataEntry {
    /// The entry as it stands in the log.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        stored::encode(VERSION, self)
    }

    /// The entry that these bytes stand for.
    ///
    /// # Errors
    ///
    /// They stand for none, or a newer broker wrote them.
    pub fn decode(bytes: &[u8]) -> Result<Self, EntryError> {
        match bytes.first() {
            Some(&version) if version > VERSION => Err(EntryError::Version(version)),
            _ => stored::decode(VERSION, bytes).ok_or(EntryError::Malformed),
        }
    }
}

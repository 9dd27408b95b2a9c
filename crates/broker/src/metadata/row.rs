//! The metadata as it stands in a checkpoint. docs/formats/metadata-entry.md tells the bytes.

use serde::{Deserialize, Serialize};

use super::{Metadata, TopicState};
use crate::stored;

/// Version of both rows, their first byte.
const VERSION: u8 = 1;

/// A topic as it stands in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRow(pub TopicState);

impl TopicRow {
    /// The row of a topic.
    #[must_use]
    pub fn of(topic: &TopicState) -> Self {
        Self(topic.clone())
    }

    /// The row's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        stored::encode(VERSION, &self.0)
    }

    /// `None` when the bytes are not a row.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        stored::decode(VERSION, bytes).map(Self)
    }
}

/// The numbers of the node as they stand in a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// The number that the next new partition gets.
    pub next_partition: u32,
    /// The first producer id that is not set aside.
    pub next_producer_id: i64,
    /// What the epoch of every partition's leader counts from.
    pub leader_epoch_base: i32,
    /// The number that the next new segment gets.
    pub next_segment: u64,
    /// The last stamp applied.
    pub stamp_ms: i64,
}

impl NodeRow {
    /// The row of a node.
    #[must_use]
    pub const fn of(metadata: &Metadata, next_segment: u64, stamp_ms: i64) -> Self {
        Self {
            next_partition: metadata.next_partition().0,
            next_producer_id: metadata.next_producer_id(),
            leader_epoch_base: metadata.leader_epoch().0,
            next_segment,
            stamp_ms,
        }
    }

    /// The row's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        stored::encode(VERSION, self)
    }

    /// `None` when the bytes are not a row.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        stored::decode(VERSION, bytes)
    }
}

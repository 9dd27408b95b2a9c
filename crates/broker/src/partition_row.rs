//! A partition as it stands in a checkpoint. docs/formats/partition-row.md tells the bytes.

use serde::{Deserialize, Serialize};
use types::{Offset, TopicId};

use crate::leader_epoch::EpochHistory;
use crate::producer::ProducerStates;
use crate::stored;

/// Version of the encoding, its first byte.
const VERSION: u8 = 1;

/// A partition as it stands in a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartitionRow {
    #[serde(with = "stored::topic_id")]
    pub(crate) topic: TopicId,
    pub(crate) number: i32,
    #[serde(with = "stored::offset")]
    pub(crate) log_start: Offset,
    #[serde(with = "stored::offset")]
    pub(crate) end: Offset,
    pub(crate) damaged: bool,
    pub(crate) epochs: Vec<u8>,
    pub(crate) producers: Vec<u8>,
}

impl PartitionRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        stored::encode(VERSION, self)
    }

    /// `None` when the bytes are not a row.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        stored::decode(VERSION, bytes)
    }

    pub(crate) fn histories(&self) -> Option<(EpochHistory, ProducerStates)> {
        Some((EpochHistory::decode(&self.epochs)?, ProducerStates::decode(&self.producers)?))
    }
}

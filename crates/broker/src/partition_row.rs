//! A partition as it stands in a checkpoint. docs/formats/partition-row.md tells the bytes.

use log::checkpoint::{Row, RowKey, kind};
use serde::{Deserialize, Serialize};
use types::{Offset, PartitionId, TopicId};

use crate::leader_epoch::EpochHistory;
use crate::producer::ProducerStates;
use crate::stored;

/// Version of the encoding, its first byte.
const VERSION: u8 = 1;

/// The log start that a checkpoint's row tells, if it is the row of a partition: for tools that
/// look at a data directory without a broker.
#[must_use]
pub fn partition_log_start(row: &Row) -> Option<(PartitionId, Offset)> {
    let RowKey::Number(number) = row.key else {
        return None;
    };
    if row.kind != kind::PARTITION {
        return None;
    }
    let id = PartitionId(u32::try_from(number).ok()?);
    Some((id, PartitionRow::decode(&row.value)?.log_start))
}

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
        Some((
            EpochHistory::decode(&self.epochs)?,
            ProducerStates::decode(&self.producers)?,
        ))
    }
}

//! How state is put into bytes: a version byte, then the fields in postcard's encoding. Each
//! user's page in docs/formats tells its fields.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as bytes.
#[expect(
    clippy::expect_used,
    reason = "a vector takes every byte, and half a row is no row"
)]
pub(crate) fn encode<T: Serialize>(version: u8, value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![version]).expect("plain data always has an encoding")
}

/// The value that exactly these bytes stand for. Lengths are claims until their bytes are seen:
/// no more is allocated ahead than serde's small bound.
pub(crate) fn decode<T: DeserializeOwned>(version: u8, bytes: &[u8]) -> Option<T> {
    let (first, rest) = bytes.split_first()?;
    let (value, left) = postcard::take_from_bytes(rest).ok()?;
    (*first == version && left.is_empty()).then_some(value)
}

/// A topic's id as its 16 bytes.
pub(crate) mod topic_id {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use types::TopicId;

    pub(crate) fn serialize<S: Serializer>(id: &TopicId, to: S) -> Result<S::Ok, S::Error> {
        id.0.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TopicId, D::Error> {
        <[u8; 16]>::deserialize(from).map(TopicId)
    }
}

/// Numbers of partitions in the order of the topic.
pub(crate) mod partition_ids {
    use serde::{Deserialize, Deserializer, Serializer};
    use types::PartitionId;

    pub(crate) fn serialize<S: Serializer>(ids: &[PartitionId], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(ids.iter().map(|id| id.0))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PartitionId>, D::Error> {
        let numbers = Vec::<u32>::deserialize(from)?;
        Ok(numbers.into_iter().map(PartitionId).collect())
    }
}

/// An offset as its number.
pub(crate) mod offset {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use types::Offset;

    pub(crate) fn serialize<S: Serializer>(offset: &Offset, to: S) -> Result<S::Ok, S::Error> {
        offset.0.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Offset, D::Error> {
        i64::deserialize(from).map(Offset)
    }
}

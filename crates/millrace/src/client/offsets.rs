//! Offsets by time.

use std::collections::BTreeMap;

use kafka::wire::messages::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic, MetadataResponseTopic,
};

use super::cluster::Client;
use super::error::ClientError;

/// The timestamp that stands for the end of a partition.
pub(crate) const LATEST: i64 = -1;
/// The timestamp that stands for the start of a partition.
pub(crate) const EARLIEST: i64 = -2;

impl Client {
    /// The offset at `timestamp` in each of some partitions; -1 where there is none that late.
    pub(crate) async fn offsets(
        &self,
        topic: &MetadataResponseTopic,
        partitions: &[i32],
        timestamp: i64,
    ) -> Result<BTreeMap<i32, i64>, ClientError> {
        let name = topic.name.clone().unwrap_or_default();
        let mut offsets = BTreeMap::new();
        for (leader, partitions) in by_leader(topic, partitions) {
            let partition = |&partition_index: &i32| ListOffsetsPartition {
                partition_index,
                timestamp,
                ..ListOffsetsPartition::default()
            };
            let request = ListOffsetsRequest {
                topics: vec![ListOffsetsTopic {
                    name: name.clone(),
                    partitions: partitions.iter().map(partition).collect(),
                }],
                timeout_ms: 30_000,
                ..ListOffsetsRequest::default()
            };
            let answer = self.broker(leader).await?.call(&request).await?;
            for found in answer.topics.iter().flat_map(|t| &t.partitions) {
                let what = || format!("offsets of {name} partition {}", found.partition_index);
                ClientError::check(found.error_code, None, what)?;
                offsets.insert(found.partition_index, found.offset);
            }
        }
        Ok(offsets)
    }
}

/// Some partitions of a topic, grouped by the broker that leads them.
pub(crate) fn by_leader(topic: &MetadataResponseTopic, wanted: &[i32]) -> BTreeMap<i32, Vec<i32>> {
    let mut groups: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for partition in &topic.partitions {
        if wanted.contains(&partition.partition_index) {
            groups
                .entry(partition.leader_id)
                .or_default()
                .push(partition.partition_index);
        }
    }
    groups
}

//! OffsetForLeaderEpoch: where an epoch ended.

use broker::Topic;
use types::LeaderEpoch;

use super::Call;
use super::leader_epoch::check_leader_epoch;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
    OffsetForLeaderPartitionResult, OffsetForLeaderTopicResult,
};

pub(super) async fn run(
    call: &Call,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let shared = call.session.broker().shared();
    let current = shared.leader_epoch();
    let mut topics = Vec::with_capacity(request.topics.len());
    for asked in request.topics {
        let topic = shared.topic(&asked.topic);
        let mut partitions = Vec::with_capacity(asked.partitions.len());
        for partition in &asked.partitions {
            partitions.push(end_of(topic.as_deref(), partition, current));
            tokio::task::consume_budget().await;
        }
        let topic = asked.topic;
        topics.push(OffsetForLeaderTopicResult { topic, partitions });
    }
    OffsetForLeaderEpochResponse {
        topics,
        ..OffsetForLeaderEpochResponse::default()
    }
}

fn end_of(
    topic: Option<&Topic>,
    asked: &OffsetForLeaderPartition,
    current: LeaderEpoch,
) -> OffsetForLeaderPartitionResult {
    let mut result = OffsetForLeaderPartitionResult {
        partition: asked.partition,
        ..OffsetForLeaderPartitionResult::default()
    };
    let Some(partition) = topic.and_then(|topic| topic.partition(asked.partition)) else {
        result.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        return result;
    };
    if let Err(code) = check_leader_epoch(asked.current_leader_epoch, current) {
        result.error_code = code;
        return result;
    }
    if let Some((epoch, end)) = partition.epoch_end(LeaderEpoch(asked.leader_epoch), current) {
        result.leader_epoch = epoch.0;
        result.end_offset = end.0;
    }
    result
}

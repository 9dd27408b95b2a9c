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

pub(super) fn run(
    call: &Call,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let shared = call.session.broker().shared();
    let current = shared.leader_epoch();
    let topics = request.topics.into_iter().map(|asked| {
        let topic = shared.topic(&asked.topic);
        let partitions = asked.partitions.iter();
        OffsetForLeaderTopicResult {
            topic: asked.topic,
            partitions: partitions
                .map(|partition| end_of(topic.as_deref(), partition, current))
                .collect(),
        }
    });
    OffsetForLeaderEpochResponse {
        topics: topics.collect(),
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

//! OffsetFetch: no group has committed an offset, since there are no groups yet.
//!
//! It is served all the same because librdkafka asks for committed offsets whenever it is told
//! where to read without being told from which offset, and crashes on a broker that names a
//! coordinator but does not have this request.

use super::Call;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    OffsetFetchGroup, OffsetFetchGroupResponse, OffsetFetchPartitionResponse, OffsetFetchRequest,
    OffsetFetchResponse, OffsetFetchTopic, OffsetFetchTopicResponse,
};

/// From this version on several groups are asked for at once.
const BATCH_VERSION: i16 = 8;

/// Partitions that a request may name: an answer of one is many times larger than its number.
const PARTITIONS_MAX: usize = 100_000;

pub(super) fn run(call: &Call, request: OffsetFetchRequest) -> OffsetFetchResponse {
    if asked(&request) > PARTITIONS_MAX {
        return too_many(request);
    }
    if call.version() >= BATCH_VERSION {
        return OffsetFetchResponse {
            groups: request.groups.into_iter().map(of_group).collect(),
            ..OffsetFetchResponse::default()
        };
    }
    OffsetFetchResponse {
        topics: none_of(request.topics),
        ..OffsetFetchResponse::default()
    }
}

fn asked(request: &OffsetFetchRequest) -> usize {
    let of_groups = request.groups.iter().map(|group| &group.topics);
    let topics = of_groups.chain([&request.topics]).flatten().flatten();
    topics.map(|topic| topic.partition_indexes.len()).sum()
}

fn too_many(request: OffsetFetchRequest) -> OffsetFetchResponse {
    let groups = request.groups.into_iter();
    OffsetFetchResponse {
        error_code: ErrorCode::INVALID_REQUEST,
        groups: groups
            .map(|group| OffsetFetchGroupResponse {
                group_id: group.group_id,
                error_code: ErrorCode::INVALID_REQUEST,
                ..OffsetFetchGroupResponse::default()
            })
            .collect(),
        ..OffsetFetchResponse::default()
    }
}

fn of_group(group: OffsetFetchGroup) -> OffsetFetchGroupResponse {
    let is_member = group.member_epoch >= 0;
    OffsetFetchGroupResponse {
        group_id: group.group_id,
        topics: if is_member {
            Vec::new()
        } else {
            none_of(group.topics)
        },
        error_code: if is_member {
            ErrorCode::UNKNOWN_MEMBER_ID
        } else {
            ErrorCode::NONE
        },
    }
}

fn none_of(topics: Option<Vec<OffsetFetchTopic>>) -> Vec<OffsetFetchTopicResponse> {
    let topics = topics.unwrap_or_default().into_iter();
    let topics = topics.map(|topic| OffsetFetchTopicResponse {
        name: topic.name,
        partitions: topic.partition_indexes.into_iter().map(none).collect(),
    });
    topics.collect()
}

fn none(partition_index: i32) -> OffsetFetchPartitionResponse {
    OffsetFetchPartitionResponse {
        partition_index,
        committed_offset: -1,
        ..OffsetFetchPartitionResponse::default()
    }
}

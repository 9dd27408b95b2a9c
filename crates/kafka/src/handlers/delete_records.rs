//! DeleteRecords: partitions lose their oldest records.

use broker::Topic;
use broker::metadata::is_internal;
use types::Offset;

use super::Call;
use super::in_time::InTime;
use super::join::{join_all, pieces};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopicResult,
};

/// Stands for the high watermark.
const TO_THE_END: i64 = -1;

pub(super) async fn run(call: &Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse {
    let in_time = InTime::of_request(request.timeout_ms);
    let mut topics: Vec<DeleteRecordsTopicResult> = Vec::with_capacity(request.topics.len());
    let mut asked = Vec::new();
    for topic in request.topics {
        let found = call.session.broker().shared().topic(&topic.name);
        let partitions = topic.partitions.into_iter();
        asked.extend(partitions.map(|partition| (topics.len(), found.clone(), partition)));
        topics.push(DeleteRecordsTopicResult {
            name: topic.name,
            partitions: Vec::new(),
        });
    }
    for asked in pieces(asked) {
        let trimmed = asked.iter().map(async |(at, topic, partition)| {
            let trimmed = trim(call, topic.as_deref(), partition, in_time).await;
            let result = DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark: trimmed.map_or(-1, |log_start| log_start.0),
                error_code: trimmed.err().unwrap_or_default(),
            };
            (*at, result)
        });
        for (at, result) in join_all(trimmed).await {
            if let Some(topic) = topics.get_mut(at) {
                topic.partitions.push(result);
            }
        }
    }
    DeleteRecordsResponse {
        topics,
        ..DeleteRecordsResponse::default()
    }
}

async fn trim(
    call: &Call,
    topic: Option<&Topic>,
    asked: &DeleteRecordsPartition,
    in_time: InTime,
) -> Result<Offset, ErrorCode> {
    let topic = topic.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    let partition = topic.partition(asked.partition_index);
    let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    if is_internal(&topic.name) {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    if !topic.settings.deletes {
        return Err(ErrorCode::POLICY_VIOLATION);
    }
    let to = (asked.offset != TO_THE_END).then_some(Offset(asked.offset));
    match in_time
        .wait(call.session.broker().trim(partition, to))
        .await
    {
        Some(trimmed) => trimmed.map_err(|error| error.code()),
        None => Err(ErrorCode::REQUEST_TIMED_OUT),
    }
}

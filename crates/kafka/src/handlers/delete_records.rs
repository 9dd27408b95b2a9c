//! DeleteRecords: partitions lose their oldest records.

use broker::Topic;
use types::Offset;

use super::Call;
use super::join::join_all;
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopic, DeleteRecordsTopicResult,
};

/// Stands for the high watermark.
const TO_THE_END: i64 = -1;

pub(super) async fn run(call: &Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse {
    DeleteRecordsResponse {
        topics: join_all(
            request
                .topics
                .into_iter()
                .map(|topic| trim_topic(call, topic)),
        )
        .await,
        ..DeleteRecordsResponse::default()
    }
}

async fn trim_topic(call: &Call, asked: DeleteRecordsTopic) -> DeleteRecordsTopicResult {
    let topic = call.session.broker().shared().topic(&asked.name);
    let trimmed = asked.partitions.iter().map(async |partition| {
        let trimmed = trim(call, topic.as_deref(), partition).await;
        DeleteRecordsPartitionResult {
            partition_index: partition.partition_index,
            low_watermark: trimmed.map_or(-1, |log_start| log_start.0),
            error_code: trimmed.err().unwrap_or_default(),
        }
    });
    DeleteRecordsTopicResult {
        partitions: join_all(trimmed).await,
        name: asked.name,
    }
}

async fn trim(
    call: &Call,
    topic: Option<&Topic>,
    asked: &DeleteRecordsPartition,
) -> Result<Offset, ErrorCode> {
    let topic = topic.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    let partition = topic.partition(asked.partition_index);
    let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    if !topic.settings.deletes {
        return Err(ErrorCode::POLICY_VIOLATION);
    }
    let to = (asked.offset != TO_THE_END).then_some(Offset(asked.offset));
    let trimmed = call.session.broker().trim(partition, to).await;
    trimmed.map_err(|error| error.code())
}

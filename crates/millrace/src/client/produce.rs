//! Appending of batches.

use bytes::Bytes;
use kafka::wire::ErrorCode;
use kafka::wire::messages::{
    InitProducerIdRequest, PartitionProduceData, PartitionProduceResponse, ProduceRequest,
    TopicProduceData,
};

use super::cluster::{Client, retry};
use super::connection::{Connection, Reply};
use super::error::ClientError;

/// Topics go by name up to this version, by id beyond it.
const BY_NAME: i16 = 12;

/// Id and epoch of an idempotent producer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Producer {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}

impl Client {
    /// A fresh producer id.
    pub(crate) async fn init_producer(&self) -> Result<Producer, ClientError> {
        let request = InitProducerIdRequest {
            transaction_timeout_ms: 60_000,
            ..InitProducerIdRequest::default()
        };
        // A broker that has just started is not ready for this at once.
        let passing = |code| {
            code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS
                || code == ErrorCode::COORDINATOR_NOT_AVAILABLE
        };
        retry(passing, async || {
            let answer = self.any().call(&request).await?;
            ClientError::check(answer.error_code, None, || {
                "cannot get a producer id".into()
            })?;
            Ok(Producer {
                id: answer.producer_id,
                epoch: answer.producer_epoch,
            })
        })
        .await
    }
}

/// Sends one batch to a partition; with acks 0 there is no answer to wait for.
pub(crate) async fn send_batch(
    leader: &Connection,
    topic: &str,
    partition: i32,
    acks: i16,
    batch: Bytes,
) -> Result<Option<Reply<ProduceRequest>>, ClientError> {
    let data = PartitionProduceData {
        index: partition,
        records: Some(batch),
    };
    let topic = TopicProduceData {
        name: topic.to_owned(),
        partition_data: vec![data],
        ..TopicProduceData::default()
    };
    let request = ProduceRequest {
        transactional_id: None,
        acks,
        timeout_ms: 30_000,
        topic_data: vec![topic],
    };
    if acks == 0 {
        leader
            .send_unanswered(BY_NAME, &request)
            .await
            .map(|()| None)
    } else {
        leader.send(BY_NAME, &request).await.map(Some)
    }
}

/// The offset of the first record of a batch that was taken.
pub(crate) async fn base_offset(reply: Reply<ProduceRequest>) -> Result<i64, ClientError> {
    let answer = reply.wait().await?;
    let result = answer
        .responses
        .into_iter()
        .flat_map(|t| t.partition_responses)
        .next();
    let missing = || ClientError::Missing {
        api: kafka::wire::ApiKey::Produce,
        what: "a result".into(),
    };
    let result = result.ok_or_else(missing)?;
    let message = refusal(&result);
    let what = || format!("partition {} refused the records", result.index);
    ClientError::check(result.error_code, message, what)?;
    Ok(result.base_offset)
}

/// What the broker says about the batch, or about its first bad record.
fn refusal(result: &PartitionProduceResponse) -> Option<String> {
    let of_record = || {
        let bad = result.record_errors.first()?;
        let reason = bad
            .batch_index_error_message
            .as_deref()
            .unwrap_or("refused");
        Some(format!("record {} of the batch: {reason}", bad.batch_index))
    };
    result.error_message.clone().or_else(of_record)
}

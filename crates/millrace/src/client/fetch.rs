//! Reading of partitions.

use kafka::wire::messages::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};

use super::connection::Connection;
use super::error::ClientError;

/// Topics go by name up to this version, by id beyond it.
pub(crate) const BY_NAME: i16 = 12;

/// How much one fetch asks for, and how long it waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchLimits {
    pub(crate) max_wait_ms: i32,
    pub(crate) min_bytes: i32,
    pub(crate) max_bytes: i32,
    pub(crate) partition_max_bytes: i32,
}

/// The request for some partitions of a topic, each from an offset on.
pub(crate) fn fetch_request(
    topic: &str,
    positions: &[(i32, i64)],
    limits: FetchLimits,
) -> FetchRequest {
    let partition = |&(partition, fetch_offset): &(i32, i64)| FetchPartition {
        partition,
        fetch_offset,
        partition_max_bytes: limits.partition_max_bytes,
        ..FetchPartition::default()
    };
    let topic = FetchTopic {
        topic: topic.to_owned(),
        partitions: positions.iter().map(partition).collect(),
        ..FetchTopic::default()
    };
    FetchRequest {
        max_wait_ms: limits.max_wait_ms,
        min_bytes: limits.min_bytes,
        max_bytes: limits.max_bytes,
        topics: vec![topic],
        ..FetchRequest::default()
    }
}

/// Fetches once; errors of single partitions are left in the answer.
pub(crate) async fn fetch(
    connection: &Connection,
    request: &FetchRequest,
) -> Result<FetchResponse, ClientError> {
    let answer = connection.call_up_to(BY_NAME, request).await?;
    ClientError::check(answer.error_code, None, || "cannot fetch".into())?;
    Ok(answer)
}

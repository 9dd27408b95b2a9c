//! Reading of partitions.

use kafka::wire::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData,
};
use record::BatchHeader;

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

/// The whole batches of a partition's answer; a cut last one is left for the next fetch.
pub(crate) fn batches(data: &PartitionData) -> impl Iterator<Item = (BatchHeader, &[u8])> {
    let pieces = data.records.iter().flat_map(|records| &records.0);
    pieces.flat_map(|piece| {
        let mut rest: &[u8] = piece;
        std::iter::from_fn(move || {
            let header = BatchHeader::parse(rest).ok()?;
            let (batch, after) = rest.split_at_checked(header.total_bytes())?;
            rest = after;
            Some((header, batch))
        })
    })
}

/// Where to read on after an answer whose whole batches end before `next`, if it has any.
///
/// Asking again at `at` would bring the same bytes, for ever: an answer that brings bytes but does
/// not lead on is an error.
pub(crate) fn next_position(
    data: &PartitionData,
    at: i64,
    next: Option<i64>,
) -> Result<i64, ClientError> {
    let mut pieces = data.records.iter().flat_map(|records| &records.0);
    let reason = match (next, pieces.find(|piece| !piece.is_empty())) {
        (Some(next), _) if next > at => return Ok(next),
        (None, None) => return Ok(at),
        (Some(next), _) => format!("the records that came end at offset {next}"),
        (None, Some(first)) => match BatchHeader::parse(first) {
            Err(error) => error.to_string(),
            Ok(header) => {
                let (have, need) = (first.len(), header.total_bytes());
                format!("{have} bytes came of a batch of {need}")
            }
        },
    };
    Err(ClientError::Unreadable {
        partition: data.partition_index,
        offset: at,
        reason,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use bytes::Bytes;
    use kafka::wire::Records;
    use record::{BatchBuilder, Codec};
    use types::Offset;

    use super::*;

    /// An answer of partition 3 with these bytes.
    pub(crate) fn answer(bytes: &[u8]) -> PartitionData {
        PartitionData {
            partition_index: 3,
            records: Some(Records(vec![Bytes::copy_from_slice(bytes)])),
            ..PartitionData::default()
        }
    }

    /// A batch of one record.
    pub(crate) fn batch(offset: i64) -> Vec<u8> {
        let mut builder = BatchBuilder::new().base_offset(Offset(offset));
        builder.append(5, None, Some(b"v"), &[]).expect("a record");
        builder.build(Codec::None).expect("a batch").to_vec()
    }

    fn next(bytes: &[u8], at: i64) -> Result<i64, String> {
        let data = answer(bytes);
        let last = batches(&data)
            .last()
            .map(|(header, _)| header.next_offset().0);
        next_position(&data, at, last).map_err(|error| error.to_string())
    }

    #[test]
    fn an_answer_leads_on_unless_its_first_batch_is_not_whole_and_good() {
        let (first, second) = (batch(7), batch(8));
        assert_eq!(next(b"", 7), Ok(7));
        assert_eq!(next(&first, 7), Ok(8));
        let cut = [&first, &second[..20]].concat();
        assert_eq!(next(&cut, 7), Ok(8));
        let refused = |bytes: &[u8], at| next(bytes, at).expect_err("refused");
        let mut old = first.clone();
        old[16] = 1;
        assert!(refused(&old, 7).starts_with("cannot read partition 3 at offset 7: "));
        assert!(refused(&old, 7).contains("magic 1"));
        let mut short = first.clone();
        short[8..12].copy_from_slice(&(-5_i32).to_be_bytes());
        assert!(refused(&short, 7).contains("impossible batch length"));
        assert!(refused(&first[..first.len() - 1], 7).contains("bytes came of a batch of"));
        assert!(refused(&first[..20], 7).contains("20 bytes"));
        assert!(refused(&first, 8).contains("end at offset 8"));
    }
}

//! ListOffsets: offsets by time, and the ends of partitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use broker::{Broker, OffsetQuery, Partition};
use types::{LeaderEpoch, Offset};

use super::Call;
use super::leader_epoch::check_leader_epoch;
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopicResponse,
};

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;

/// What is asked of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The end: high watermark and last stable offset are the same without transactions.
    Latest,
    Earliest,
    /// There is no tier.
    LatestTiered,
    Time(OffsetQuery),
}

impl Asked {
    /// What a number means in a version of the request.
    fn from_timestamp(timestamp: i64, version: i16) -> Option<Self> {
        match timestamp {
            LATEST => Some(Self::Latest),
            EARLIEST => Some(Self::Earliest),
            MAX_TIMESTAMP if version >= 7 => Some(Self::Time(OffsetQuery::MaxTimestamp)),
            EARLIEST_LOCAL if version >= 8 => Some(Self::Earliest),
            LATEST_TIERED if version >= 9 => Some(Self::LatestTiered),
            0.. => Some(Self::Time(OffsetQuery::Timestamp(timestamp))),
            _ => None,
        }
    }
}

pub(super) async fn run(call: &Call, request: ListOffsetsRequest) -> ListOffsetsResponse {
    let broker = call.session.broker();
    let mut response = ListOffsetsResponse::default();
    let twice = twice(&request);
    for asked in &request.topics {
        let topic = broker.shared().topic(&asked.name);
        let mut partitions = Vec::with_capacity(asked.partitions.len());
        for partition in &asked.partitions {
            let number = partition.partition_index;
            let found = topic.as_ref().and_then(|topic| topic.partition(number));
            let result = match found {
                _ if twice.contains(&(asked.name.as_str(), number)) => {
                    Err(ErrorCode::INVALID_REQUEST)
                }
                Some(found) => look(broker, found, partition, call.version()).await,
                None => Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            };
            partitions.push(answer(number, result));
            tokio::task::consume_budget().await;
        }
        let name = asked.name.clone();
        response
            .topics
            .push(ListOffsetsTopicResponse { name, partitions });
    }
    response
}

/// Partitions that stand in the request more than once.
fn twice(request: &ListOffsetsRequest) -> BTreeSet<(&str, i32)> {
    let mut seen = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            let asked = (topic.name.as_str(), partition.partition_index);
            if !seen.insert(asked) {
                twice.insert(asked);
            }
        }
    }
    twice
}

/// Offset, timestamp and leader epoch, each -1 where there is none.
type Position = (i64, i64, i32);

const NOTHING: Position = (-1, -1, -1);

async fn look(
    broker: &Broker,
    partition: &Arc<Partition>,
    asked: &ListOffsetsPartition,
    version: i16,
) -> Result<Position, ErrorCode> {
    let current = broker.shared().leader_epoch();
    check_leader_epoch(asked.current_leader_epoch, current)?;
    if partition.is_deleted() {
        return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }
    let asked = Asked::from_timestamp(asked.timestamp, version);
    let query = match asked.ok_or(ErrorCode::UNSUPPORTED_VERSION)? {
        Asked::Latest => return Ok(at(partition, partition.end(), current)),
        Asked::Earliest => return Ok(at(partition, partition.log_start(), current)),
        Asked::LatestTiered => return Ok(NOTHING),
        Asked::Time(query) => query,
    };
    let found = broker
        .find_offset(partition, query)
        .await
        .map_err(|error| error.code())?;
    Ok(found.map_or(NOTHING, |found| {
        let (offset, _, epoch) = at(partition, found.offset, current);
        (offset, found.timestamp_ms, epoch)
    }))
}

/// An end of the log, without a timestamp.
fn at(partition: &Partition, offset: Offset, current: LeaderEpoch) -> Position {
    let epoch = if offset == partition.end() {
        // What is appended next is the current leader's.
        current
    } else {
        partition.epoch_at(offset).unwrap_or(current)
    };
    (offset.0, -1, epoch.0)
}

fn answer(
    partition_index: i32,
    result: Result<Position, ErrorCode>,
) -> ListOffsetsPartitionResponse {
    let (error_code, (offset, timestamp, leader_epoch)) = match result {
        Ok(position) => (ErrorCode::NONE, position),
        Err(code) => (code, NOTHING),
    };
    ListOffsetsPartitionResponse {
        partition_index,
        error_code,
        timestamp,
        offset,
        leader_epoch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_timestamps_are_known_from_their_version_on() {
        let known_from = [
            (LATEST, 1),
            (EARLIEST, 1),
            (MAX_TIMESTAMP, 7),
            (EARLIEST_LOCAL, 8),
        ];
        for (timestamp, version) in known_from.into_iter().chain([(LATEST_TIERED, 9)]) {
            assert!(
                Asked::from_timestamp(timestamp, version).is_some(),
                "{timestamp}"
            );
            if version > 1 {
                assert_eq!(
                    Asked::from_timestamp(timestamp, version - 1),
                    None,
                    "{timestamp}"
                );
            }
        }
        assert_eq!(Asked::from_timestamp(-6, 10), None);
        let query = Asked::Time(OffsetQuery::Timestamp(0));
        assert_eq!(Asked::from_timestamp(0, 1), Some(query));
    }
}

use bytes::Bytes;
use types::TopicId;

use super::{LeaderIdAndEpoch, NodeEndpoint};
use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Appends one record batch to each of some partitions.
    pub struct ProduceRequest {
        transactional_id: Option<String> [3..],
        /// -1 all in-sync replicas, 1 the leader, 0 no response at all.
        acks: i16 [0..],
        timeout_ms: i32 [0..],
        topic_data: Vec<TopicProduceData> [0..],
    }

    /// What is appended to the partitions of one topic.
    pub struct TopicProduceData {
        name: String [0..=12],
        topic_id: TopicId [13..],
        partition_data: Vec<PartitionProduceData> [0..],
    }

    /// What is appended to one partition.
    pub struct PartitionProduceData {
        index: i32 [0..],
        /// A slice of the request's frame.
        records: Option<Bytes> [0..],
    }

    /// What became of the batches.
    pub struct ProduceResponse {
        responses: Vec<TopicProduceResponse> [0..],
        throttle_time_ms: i32 [1..],
        node_endpoints: Vec<NodeEndpoint> [tag 0, 10..],
    }

    /// What became of the batches of one topic.
    pub struct TopicProduceResponse {
        name: String [0..=12],
        topic_id: TopicId [13..],
        partition_responses: Vec<PartitionProduceResponse> [0..],
    }

    /// What became of one partition's batch.
    pub struct PartitionProduceResponse {
        index: i32 [0..],
        error_code: ErrorCode [0..],
        base_offset: i64 [0..],
        /// When the broker appended the batch, if it stamps records itself; else -1.
        log_append_time_ms: i64 [2..] = -1,
        log_start_offset: i64 [5..] = -1,
        record_errors: Vec<BatchIndexAndErrorMessage> [8..],
        error_message: Option<String> [8..],
        current_leader: LeaderIdAndEpoch [tag 0, 10..],
    }

    /// A record for which its batch was refused (KIP-467).
    pub struct BatchIndexAndErrorMessage {
        batch_index: i32 [8..],
        batch_index_error_message: Option<String> [8..],
    }
}

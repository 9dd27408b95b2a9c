use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks for offsets by time.
    pub struct ListOffsetsRequest {
        /// -1 for clients.
        replica_id: i32 [0..] = -1,
        /// 0 read uncommitted, 1 read committed.
        isolation_level: i8 [2..],
        topics: Vec<ListOffsetsTopic> [0..],
        timeout_ms: i32 [10..],
    }

    /// Partitions of one topic.
    pub struct ListOffsetsTopic {
        name: String [0..],
        partitions: Vec<ListOffsetsPartition> [0..],
    }

    /// What is asked of one partition.
    pub struct ListOffsetsPartition {
        partition_index: i32 [0..],
        /// What the client believes the leader's epoch to be; -1 is not checked.
        current_leader_epoch: i32 [4..] = -1,
        /// Milliseconds, or one of the special values: -1 the end, -2 the start, -3 the record
        /// with the largest timestamp (7..), -4 the start of local data (8..), -5 the end of
        /// tiered data (9..).
        timestamp: i64 [0..],
    }

    /// Offsets by time.
    pub struct ListOffsetsResponse {
        throttle_time_ms: i32 [2..],
        topics: Vec<ListOffsetsTopicResponse> [0..],
    }

    /// Offsets of one topic.
    pub struct ListOffsetsTopicResponse {
        name: String [0..],
        partitions: Vec<ListOffsetsPartitionResponse> [0..],
    }

    /// The offset found in one partition, -1 if there is none.
    pub struct ListOffsetsPartitionResponse {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        timestamp: i64 [1..] = -1,
        offset: i64 [1..] = -1,
        leader_epoch: i32 [4..] = -1,
    }
}

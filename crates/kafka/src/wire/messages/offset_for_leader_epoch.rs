use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks where leader epochs ended (KIP-101, KIP-320).
    pub struct OffsetForLeaderEpochRequest {
        /// -1 for clients, -2 for debugging tools.
        replica_id: i32 [3..] = -2,
        topics: Vec<OffsetForLeaderTopic> [0..],
    }

    /// Partitions of one topic.
    pub struct OffsetForLeaderTopic {
        topic: String [0..],
        partitions: Vec<OffsetForLeaderPartition> [0..],
    }

    /// What is asked of one partition.
    pub struct OffsetForLeaderPartition {
        partition: i32 [0..],
        /// What the client believes the leader's epoch to be; -1 is not checked.
        current_leader_epoch: i32 [2..] = -1,
        /// The epoch whose end is asked for.
        leader_epoch: i32 [0..],
    }

    /// Where leader epochs ended.
    pub struct OffsetForLeaderEpochResponse {
        throttle_time_ms: i32 [2..],
        topics: Vec<OffsetForLeaderTopicResult> [0..],
    }

    /// Ends of epochs in one topic.
    pub struct OffsetForLeaderTopicResult {
        topic: String [0..],
        partitions: Vec<OffsetForLeaderPartitionResult> [0..],
    }

    /// The largest epoch not above the one asked for, and where it ended.
    pub struct OffsetForLeaderPartitionResult {
        error_code: ErrorCode [0..],
        partition: i32 [0..],
        leader_epoch: i32 [1..] = -1,
        end_offset: i64 [0..] = -1,
    }
}

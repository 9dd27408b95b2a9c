use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Trims partitions from the start.
    pub struct DeleteRecordsRequest {
        topics: Vec<DeleteRecordsTopic> [0..],
        timeout_ms: i32 [0..] = 60_000,
    }

    /// Partitions of one topic.
    pub struct DeleteRecordsTopic {
        name: String [0..],
        partitions: Vec<DeleteRecordsPartition> [0..],
    }

    /// What is trimmed of one partition.
    pub struct DeleteRecordsPartition {
        partition_index: i32 [0..],
        /// The first offset to keep; -1 stands for the high watermark.
        offset: i64 [0..],
    }

    /// What became of the partitions.
    pub struct DeleteRecordsResponse {
        throttle_time_ms: i32 [0..],
        topics: Vec<DeleteRecordsTopicResult> [0..],
    }

    /// What became of the partitions of one topic.
    pub struct DeleteRecordsTopicResult {
        name: String [0..],
        partitions: Vec<DeleteRecordsPartitionResult> [0..],
    }

    /// What became of one partition.
    pub struct DeleteRecordsPartitionResult {
        partition_index: i32 [0..],
        /// The first offset that is still there.
        low_watermark: i64 [0..],
        error_code: ErrorCode [0..],
    }
}

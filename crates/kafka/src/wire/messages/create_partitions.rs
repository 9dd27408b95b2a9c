use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Adds partitions to topics.
    pub struct CreatePartitionsRequest {
        topics: Vec<CreatePartitionsTopic> [0..],
        timeout_ms: i32 [0..] = 60_000,
        validate_only: bool [0..],
    }

    /// A topic to add partitions to.
    pub struct CreatePartitionsTopic {
        name: String [0..],
        /// Partitions that the topic shall have, old ones included.
        count: i32 [0..],
        /// Null leaves the choice to the broker.
        assignments: Option<Vec<CreatePartitionsAssignment>> [0..],
    }

    /// The brokers of one new partition.
    pub struct CreatePartitionsAssignment {
        broker_ids: Vec<i32> [0..],
    }

    /// What became of the topics.
    pub struct CreatePartitionsResponse {
        throttle_time_ms: i32 [0..],
        results: Vec<CreatePartitionsTopicResult> [0..],
    }

    /// What became of one topic.
    pub struct CreatePartitionsTopicResult {
        name: String [0..],
        error_code: ErrorCode [0..],
        error_message: Option<String> [0..],
    }
}

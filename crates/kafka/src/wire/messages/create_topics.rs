use types::TopicId;

use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Makes topics.
    pub struct CreateTopicsRequest {
        topics: Vec<CreatableTopic> [0..],
        timeout_ms: i32 [0..] = 60_000,
        validate_only: bool [1..],
    }

    /// A topic to make.
    pub struct CreatableTopic {
        name: String [0..],
        /// -1 for the broker's default, and where `assignments` are given.
        num_partitions: i32 [0..],
        /// -1 for the broker's default, and where `assignments` are given.
        replication_factor: i16 [0..],
        assignments: Vec<CreatableReplicaAssignment> [0..],
        configs: Vec<CreatableTopicConfig> [0..],
    }

    /// The brokers of one partition.
    pub struct CreatableReplicaAssignment {
        partition_index: i32 [0..],
        broker_ids: Vec<i32> [0..],
    }

    /// A setting of a topic to make.
    pub struct CreatableTopicConfig {
        name: String [0..],
        value: Option<String> [0..],
    }

    /// What became of the topics.
    pub struct CreateTopicsResponse {
        throttle_time_ms: i32 [2..],
        topics: Vec<CreatableTopicResult> [0..],
    }

    /// What became of one topic.
    pub struct CreatableTopicResult {
        name: String [0..],
        topic_id: TopicId [7..],
        error_code: ErrorCode [0..],
        error_message: Option<String> [1..],
        num_partitions: i32 [5..] = -1,
        replication_factor: i16 [5..] = -1,
        /// All settings, null if they may not be seen (KIP-525).
        configs: Option<Vec<CreatableTopicConfigs>> [5..] = Some(Vec::new()),
        /// Why `configs` is null.
        topic_config_error_code: ErrorCode [tag 0, 5..],
    }

    /// A setting of a made topic.
    pub struct CreatableTopicConfigs {
        name: String [5..],
        value: Option<String> [5..],
        read_only: bool [5..],
        config_source: i8 [5..] = -1,
        is_sensitive: bool [5..],
    }
}

use types::TopicId;

use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

/// Stands for operations that were not asked for.
const NOT_ASKED: i32 = i32::MIN;

wire_struct! {
    /// Asks for brokers, topics and the leaders of their partitions.
    pub struct MetadataRequest {
        /// All topics if null; in version 0 an empty list says the same.
        topics: Option<Vec<MetadataRequestTopic>> [0.., null 1..] = Some(Vec::new()),
        allow_auto_topic_creation: bool [4..] = true,
        include_cluster_authorized_operations: bool [8..=10],
        include_topic_authorized_operations: bool [8..],
    }

    /// A topic asked for by name, or by id from version 12 on.
    pub struct MetadataRequestTopic {
        topic_id: TopicId [10..],
        name: Option<String> [0.., null 10..] = Some(String::new()),
    }

    /// Brokers, topics and the leaders of their partitions.
    pub struct MetadataResponse {
        throttle_time_ms: i32 [3..],
        brokers: Vec<MetadataResponseBroker> [0..],
        cluster_id: Option<String> [2..],
        controller_id: i32 [1..] = -1,
        topics: Vec<MetadataResponseTopic> [0..],
        cluster_authorized_operations: i32 [8..=10] = NOT_ASKED,
        error_code: ErrorCode [13..],
    }

    /// A broker.
    pub struct MetadataResponseBroker {
        node_id: i32 [0..],
        host: String [0..],
        port: i32 [0..],
        rack: Option<String> [1..],
    }

    /// A topic.
    pub struct MetadataResponseTopic {
        error_code: ErrorCode [0..],
        /// Null only where an id was asked for that is not known.
        name: Option<String> [0.., null 12..] = Some(String::new()),
        topic_id: TopicId [10..],
        is_internal: bool [1..],
        partitions: Vec<MetadataResponsePartition> [0..],
        topic_authorized_operations: i32 [8..] = NOT_ASKED,
    }

    /// A partition.
    pub struct MetadataResponsePartition {
        error_code: ErrorCode [0..],
        partition_index: i32 [0..],
        leader_id: i32 [0..],
        leader_epoch: i32 [7..] = -1,
        replica_nodes: Vec<i32> [0..],
        isr_nodes: Vec<i32> [0..],
        offline_replicas: Vec<i32> [5..],
    }
}

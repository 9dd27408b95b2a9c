use types::TopicId;

use super::{LeaderIdAndEpoch, NodeEndpoint};
use crate::wire::structure::wire_struct;
use crate::wire::{ErrorCode, Records};

wire_struct! {
    /// Asks for record batches of some partitions.
    pub struct FetchRequest {
        replica_id: i32 [0..=14] = -1,
        max_wait_ms: i32 [0..],
        min_bytes: i32 [0..],
        max_bytes: i32 [3..] = i32::MAX,
        /// 0 read uncommitted, 1 read committed.
        isolation_level: i8 [4..],
        session_id: i32 [7..],
        session_epoch: i32 [7..] = -1,
        topics: Vec<FetchTopic> [0..],
        forgotten_topics_data: Vec<ForgottenTopic> [7..],
        rack_id: String [11..],
        cluster_id: Option<String> [tag 0, 12..],
        replica_state: ReplicaState [tag 1, 15..],
    }

    /// The replica that fetches; -1 says that a consumer does.
    pub struct ReplicaState {
        replica_id: i32 [15..] = -1,
        replica_epoch: i64 [15..] = -1,
    }

    /// Partitions of one topic to fetch from.
    pub struct FetchTopic {
        topic: String [0..=12],
        topic_id: TopicId [13..],
        partitions: Vec<FetchPartition> [0..],
    }

    /// A partition to fetch from.
    pub struct FetchPartition {
        partition: i32 [0..],
        /// What the client believes the leader's epoch to be; -1 is not checked.
        current_leader_epoch: i32 [9..] = -1,
        fetch_offset: i64 [0..],
        last_fetched_epoch: i32 [12..] = -1,
        log_start_offset: i64 [5..] = -1,
        partition_max_bytes: i32 [0..],
        replica_directory_id: [u8; 16] [tag 0, 17..],
    }

    /// Partitions that leave an incremental session (KIP-227).
    pub struct ForgottenTopic {
        topic: String [7..=12],
        topic_id: TopicId [13..],
        partitions: Vec<i32> [7..],
    }

    /// Record batches of some partitions.
    pub struct FetchResponse {
        throttle_time_ms: i32 [1..],
        error_code: ErrorCode [7..],
        /// 0 where there is no session (KIP-227).
        session_id: i32 [7..],
        responses: Vec<FetchableTopicResponse> [0..],
        node_endpoints: Vec<NodeEndpoint> [tag 0, 16..],
    }

    /// Record batches of one topic.
    pub struct FetchableTopicResponse {
        topic: String [0..=12],
        topic_id: TopicId [13..],
        partitions: Vec<PartitionData> [0..],
    }

    /// Record batches of one partition.
    pub struct PartitionData {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        high_watermark: i64 [0..],
        last_stable_offset: i64 [4..] = -1,
        log_start_offset: i64 [5..] = -1,
        /// Null when reading uncommitted.
        aborted_transactions: Option<Vec<AbortedTransaction>> [4..],
        preferred_read_replica: i32 [11..] = -1,
        /// Empty rather than null where there is nothing: old clients stumble over null.
        records: Option<Records> [0..] = Some(Records::default()),
        diverging_epoch: EpochEndOffset [tag 0, 12..],
        current_leader: LeaderIdAndEpoch [tag 1, 12..],
        snapshot_id: SnapshotId [tag 2, 12..],
    }

    /// A transaction whose records below its abort marker are to be dropped.
    pub struct AbortedTransaction {
        producer_id: i64 [4..],
        first_offset: i64 [4..],
    }

    /// Where the log of a replica parts from the leader's (KIP-595); all -1 says nothing.
    pub struct EpochEndOffset {
        epoch: i32 [12..] = -1,
        end_offset: i64 [12..] = -1,
    }

    /// A snapshot that a replica should fetch (KIP-630); all -1 says nothing.
    pub struct SnapshotId {
        end_offset: i64 [0..] = -1,
        epoch: i32 [0..] = -1,
    }
}

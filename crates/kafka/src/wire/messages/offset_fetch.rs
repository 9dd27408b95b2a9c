use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks for the committed offsets of groups.
    pub struct OffsetFetchRequest {
        group_id: String [0..=7],
        /// All topics of the group if null.
        topics: Option<Vec<OffsetFetchTopic>> [0..=7, null 2..] = Some(Vec::new()),
        groups: Vec<OffsetFetchGroup> [8..],
        /// Offsets of unfinished transactions count as unstable.
        require_stable: bool [7..],
    }

    /// Partitions of one topic.
    pub struct OffsetFetchTopic {
        name: String [0..],
        partition_indexes: Vec<i32> [0..],
    }

    /// Topics of one group.
    pub struct OffsetFetchGroup {
        group_id: String [8..],
        /// Null for clients that are no members.
        member_id: Option<String> [9..],
        member_epoch: i32 [9..] = -1,
        /// All topics of the group if null.
        topics: Option<Vec<OffsetFetchTopic>> [8..] = Some(Vec::new()),
    }

    /// The committed offsets of groups.
    pub struct OffsetFetchResponse {
        throttle_time_ms: i32 [3..],
        topics: Vec<OffsetFetchTopicResponse> [0..=7],
        error_code: ErrorCode [2..=7],
        groups: Vec<OffsetFetchGroupResponse> [8..],
    }

    /// Offsets of one group.
    pub struct OffsetFetchGroupResponse {
        group_id: String [8..],
        topics: Vec<OffsetFetchTopicResponse> [8..],
        error_code: ErrorCode [8..],
    }

    /// Offsets of one topic.
    pub struct OffsetFetchTopicResponse {
        name: String [0..],
        partitions: Vec<OffsetFetchPartitionResponse> [0..],
    }

    /// The committed offset of one partition.
    pub struct OffsetFetchPartitionResponse {
        partition_index: i32 [0..],
        /// -1 if there is none.
        committed_offset: i64 [0..],
        committed_leader_epoch: i32 [5..] = -1,
        metadata: Option<String> [0..] = Some(String::new()),
        error_code: ErrorCode [0..],
    }
}

use types::TopicId;

use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Deletes topics.
    pub struct DeleteTopicsRequest {
        topics: Vec<DeleteTopicState> [6..],
        topic_names: Vec<String> [0..=5],
        timeout_ms: i32 [0..] = 60_000,
    }

    /// A topic to delete, by name or by id.
    pub struct DeleteTopicState {
        name: Option<String> [6..],
        topic_id: TopicId [6..],
    }

    /// What became of the topics.
    pub struct DeleteTopicsResponse {
        throttle_time_ms: i32 [1..],
        responses: Vec<DeletableTopicResult> [0..],
    }

    /// What became of one topic.
    pub struct DeletableTopicResult {
        /// Null only where an id was asked for that is not known.
        name: Option<String> [0.., null 6..] = Some(String::new()),
        topic_id: TopicId [6..],
        error_code: ErrorCode [0..],
        error_message: Option<String> [5..],
    }
}

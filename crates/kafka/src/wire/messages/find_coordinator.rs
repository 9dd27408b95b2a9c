use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks which node coordinates groups or transactions.
    pub struct FindCoordinatorRequest {
        key: String [0..=3],
        /// 0 group, 1 transactional id, 2 share partition (6..).
        key_type: i8 [1..],
        coordinator_keys: Vec<String> [4..],
    }

    /// Which node coordinates.
    pub struct FindCoordinatorResponse {
        throttle_time_ms: i32 [1..],
        error_code: ErrorCode [0..=3],
        error_message: Option<String> [1..=3] = Some(String::new()),
        node_id: i32 [0..=3],
        host: String [0..=3],
        port: i32 [0..=3],
        coordinators: Vec<Coordinator> [4..],
    }

    /// Which node coordinates one group or transactional id.
    pub struct Coordinator {
        key: String [4..],
        node_id: i32 [4..],
        host: String [4..],
        port: i32 [4..],
        error_code: ErrorCode [4..],
        error_message: Option<String> [4..] = Some(String::new()),
    }
}

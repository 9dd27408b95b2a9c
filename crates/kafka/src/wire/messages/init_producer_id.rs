use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks for a producer id, or for a new epoch of one (KIP-98, KIP-360).
    pub struct InitProducerIdRequest {
        transactional_id: Option<String> [0..],
        transaction_timeout_ms: i32 [0..],
        producer_id: i64 [3..] = -1,
        producer_epoch: i16 [3..] = -1,
    }

    /// A producer id and its epoch.
    pub struct InitProducerIdResponse {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        producer_id: i64 [0..] = -1,
        producer_epoch: i16 [0..],
    }
}

//! InitProducerId: a producer id for an idempotent producer.

use super::Call;
use super::in_time::InTime;
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{InitProducerIdRequest, InitProducerIdResponse};

/// Without a transactional id every request gets a new id with epoch 0, whatever id the producer
/// had before.
pub(super) async fn run(call: &Call, request: &InitProducerIdRequest) -> InitProducerIdResponse {
    let refused = match request.transactional_id.as_deref() {
        // A producer names both or neither (KIP-360).
        None if (request.producer_id == -1) != (request.producer_epoch == -1) => {
            Some(ErrorCode::INVALID_REQUEST)
        }
        None => None,
        Some("") => Some(ErrorCode::INVALID_REQUEST),
        // This version has no transactions.
        Some(_) => Some(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    };
    if let Some(error_code) = refused {
        return failed(error_code);
    }
    match InTime::usual()
        .wait(call.session.broker().producer_id())
        .await
    {
        Some(Ok(id)) => InitProducerIdResponse {
            producer_id: id.0,
            producer_epoch: 0,
            ..InitProducerIdResponse::default()
        },
        Some(Err(error)) => failed(error.code()),
        // After this every client asks again.
        None => failed(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
    }
}

fn failed(error_code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code,
        producer_epoch: -1,
        ..InitProducerIdResponse::default()
    }
}

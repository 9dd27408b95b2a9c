//! FindCoordinator: there is one node, and it coordinates everything.
//!
//! The APIs of groups are not there yet and not advertised, so a client that wants one is told
//! so at once. Without this one librdkafka would send LZ4 batches uncompressed: it takes it for
//! the sign of a broker that knows LZ4.

use super::Call;
use super::mention::{firsts, mentions};
use crate::wire::ErrorCode;
use crate::wire::messages::{Coordinator, FindCoordinatorRequest, FindCoordinatorResponse};

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
/// From this version on several keys are asked for at once.
const BATCH_VERSION: i16 = 4;

pub(super) async fn run(call: &Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse {
    if call.version() >= BATCH_VERSION {
        let mentions = mentions(&request.coordinator_keys, String::as_str);
        let mut coordinators = Vec::new();
        for (key, _) in firsts(request.coordinator_keys, mentions) {
            coordinators.push(find(call, request.key_type, key));
            tokio::task::consume_budget().await;
        }
        return FindCoordinatorResponse {
            coordinators,
            ..FindCoordinatorResponse::default()
        };
    }
    let found = find(call, request.key_type, request.key);
    FindCoordinatorResponse {
        error_code: found.error_code,
        error_message: found.error_message,
        node_id: found.node_id,
        host: found.host,
        port: found.port,
        ..FindCoordinatorResponse::default()
    }
}

fn find(call: &Call, key_type: i8, key: String) -> Coordinator {
    if !matches!(key_type, GROUP | TRANSACTION) {
        return Coordinator {
            key,
            node_id: -1,
            port: -1,
            error_code: ErrorCode::INVALID_REQUEST,
            error_message: Some(format!("there is nothing of type {key_type} to coordinate")),
            ..Coordinator::default()
        };
    }
    let endpoint = call.session.endpoint();
    Coordinator {
        key,
        node_id: call.session.broker().info().node_id,
        host: endpoint.host,
        port: endpoint.port,
        error_code: ErrorCode::NONE,
        error_message: None,
    }
}

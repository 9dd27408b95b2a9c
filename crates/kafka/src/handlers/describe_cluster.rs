//! DescribeCluster: the one node that there is.

use super::{Call, operations};
use crate::wire::ErrorCode;
use crate::wire::messages::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

pub(super) fn run(call: &Call, request: &DescribeClusterRequest) -> DescribeClusterResponse {
    let (error_code, message) = match request.endpoint_type {
        BROKERS => return describe(call, request),
        CONTROLLERS => (
            ErrorCode::MISMATCHED_ENDPOINT_TYPE,
            "this is a broker, no controller",
        ),
        _ => (
            ErrorCode::UNSUPPORTED_ENDPOINT_TYPE,
            "there is no such endpoint type",
        ),
    };
    DescribeClusterResponse {
        error_code,
        error_message: Some(message.to_owned()),
        endpoint_type: request.endpoint_type,
        ..DescribeClusterResponse::default()
    }
}

fn describe(call: &Call, request: &DescribeClusterRequest) -> DescribeClusterResponse {
    let info = call.session.broker().info();
    let endpoint = call.session.endpoint();
    let asks_operations = request.include_cluster_authorized_operations;
    DescribeClusterResponse {
        cluster_id: info.cluster_id.clone(),
        controller_id: info.node_id,
        brokers: vec![DescribeClusterBroker {
            broker_id: info.node_id,
            host: endpoint.host,
            port: endpoint.port,
            rack: None,
            is_fenced: false,
        }],
        cluster_authorized_operations: operations::on_cluster(asks_operations),
        ..DescribeClusterResponse::default()
    }
}

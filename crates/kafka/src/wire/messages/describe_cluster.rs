use crate::wire::ErrorCode;
use crate::wire::structure::wire_struct;

wire_struct! {
    /// Asks for the nodes of the cluster (KIP-700).
    pub struct DescribeClusterRequest {
        include_cluster_authorized_operations: bool [0..],
        /// 1 brokers, 2 controllers (KIP-919).
        endpoint_type: i8 [1..] = 1,
        include_fenced_brokers: bool [2..],
    }

    /// The nodes of the cluster.
    pub struct DescribeClusterResponse {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<String> [0..],
        endpoint_type: i8 [1..] = 1,
        cluster_id: String [0..],
        controller_id: i32 [0..] = -1,
        brokers: Vec<DescribeClusterBroker> [0..],
        /// `i32::MIN` if not asked for.
        cluster_authorized_operations: i32 [0..] = i32::MIN,
    }

    /// A node.
    pub struct DescribeClusterBroker {
        broker_id: i32 [0..],
        host: String [0..],
        port: i32 [0..],
        rack: Option<String> [0..],
        is_fenced: bool [2..],
    }
}

use crate::wire::structure::wire_struct;

wire_struct! {
    /// The leader that a client should turn to instead (KIP-951); all -1 says nothing.
    pub struct LeaderIdAndEpoch {
        leader_id: i32 [0..] = -1,
        leader_epoch: i32 [0..] = -1,
    }

    /// Where a node named by [`LeaderIdAndEpoch`] listens (KIP-951).
    pub struct NodeEndpoint {
        node_id: i32 [0..],
        host: String [0..],
        port: i32 [0..],
        rack: Option<String> [0..],
    }
}

//! What a client may do, as the bit fields that tell it. Without authorisation: everything that
//! the kind of resource knows.

/// Read, write, create, delete, alter, describe, describe and alter configs.
const TOPIC: i32 = 0b1101_1111_1000;
/// Create, alter, describe, cluster action, describe and alter configs, idempotent write.
const CLUSTER: i32 = 0b1_1111_1010_0000;
/// They were not asked for.
const NOT_ASKED: i32 = i32::MIN;

/// On a topic.
pub(super) const fn on_topic(asked: bool) -> i32 {
    if asked { TOPIC } else { NOT_ASKED }
}

/// On the cluster.
pub(super) const fn on_cluster(asked: bool) -> i32 {
    if asked { CLUSTER } else { NOT_ASKED }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::messages::MetadataResponse;

    /// Numbers of `AclOperation`.
    fn bits(operations: &[u32]) -> i32 {
        operations.iter().map(|operation| 1 << operation).sum()
    }

    #[test]
    fn bit_fields_name_all_operations_of_their_resource() {
        assert_eq!(on_topic(true), bits(&[3, 4, 5, 6, 7, 8, 10, 11]));
        assert_eq!(on_cluster(true), bits(&[5, 7, 8, 9, 10, 11, 12]));
        assert_eq!(
            on_topic(false),
            MetadataResponse::default().cluster_authorized_operations
        );
    }
}

//! Partitions placed by hand: there is one node to place them on.

use std::collections::BTreeSet;

use thiserror::Error;
use types::PartitionId;
use types::limits::PARTITIONS_MAX;

use crate::metadata::MetadataView;

/// Which nodes a partition is to be on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionAssignment {
    /// Its number in the topic.
    pub partition: i32,
    /// The nodes, the leader first.
    pub nodes: Vec<i32>,
}

/// Why partitions cannot be placed so. Kafka: `INVALID_REPLICA_ASSIGNMENT` (39), all of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssignmentError {
    /// A partition stands twice.
    #[error("partition {0} is assigned twice")]
    Twice(i32),
    /// The partitions are not those that are to be made.
    #[error("partitions {first} to {last} must be assigned, partition {missing} is not")]
    Missing {
        /// The first that must be.
        first: i32,
        /// The last that must be.
        last: i32,
        /// The first that is not.
        missing: i32,
    },
    /// There are as many assignments as partitions to make, or none.
    #[error("{assigned} partitions are assigned where {wanted} are to be made")]
    Count {
        /// How many there are.
        assigned: usize,
        /// How many there must be.
        wanted: i32,
    },
    /// A partition is placed elsewhere than on this node.
    #[error("partition {partition} must be on node {node} alone, the only one there is")]
    Nodes {
        /// The partition.
        partition: i32,
        /// This node.
        node: i32,
    },
}

/// Checks that the partitions from `first` on are assigned, each once and to this node.
pub(super) fn check_assignment(
    assignments: &[PartitionAssignment],
    first: i32,
    node: i32,
) -> Result<(), AssignmentError> {
    let mut numbers = BTreeSet::new();
    for PartitionAssignment { partition, nodes } in assignments {
        if !numbers.insert(*partition) {
            return Err(AssignmentError::Twice(*partition));
        }
        if nodes.as_slice() != [node] {
            return Err(AssignmentError::Nodes {
                partition: *partition,
                node,
            });
        }
    }
    let count = i32::try_from(assignments.len()).unwrap_or(i32::MAX);
    let last = first.saturating_add(count).saturating_sub(1);
    let missing = (first..=last).find(|number| !numbers.contains(number));
    missing.map_or(Ok(()), |missing| {
        Err(AssignmentError::Missing {
            first,
            last,
            missing,
        })
    })
}

/// Numbers for `count` new partitions; `None` when the node has no more.
pub(super) fn new_partitions(view: MetadataView<'_>, count: i32) -> Option<Vec<PartitionId>> {
    let first = view.next_partition().0;
    let end = first.checked_add(u32::try_from(count).ok()?)?;
    (end <= PARTITIONS_MAX).then(|| (first..end).map(PartitionId).collect())
}

//! Adding partitions to a topic.

use thiserror::Error;
use types::ErrorKind;
use types::limits::TOPIC_PARTITIONS_MAX;

use super::assignment::{check_assignment, new_partitions};
use super::{AssignmentError, PartitionAssignment, TopicRef};
use crate::error::{EntryTooLarge, Stopped};
use crate::metadata::{MetadataEntry, MetadataView};

/// Partitions to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatePartitionsRequest {
    /// To which topic.
    pub topic: TopicRef,
    /// How many it is to have then.
    pub count: i32,
    /// The nodes of each new one, the leader first, if they are placed by hand.
    pub assignments: Option<Vec<Vec<i32>>>,
}

/// No partitions were added. Each variant names the Kafka error code that says the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreatePartitionsError {
    /// `UNKNOWN_TOPIC_OR_PARTITION` (3).
    #[error("there is no topic {0}")]
    Unknown(TopicRef),
    /// `INVALID_PARTITIONS` (37).
    #[error("the topic has {current} partitions, it cannot be brought to {count}")]
    NotMore {
        /// How many there are.
        current: i32,
        /// What was asked for.
        count: i32,
    },
    /// `INVALID_PARTITIONS` (37).
    #[error("{count} partitions exceed the limit of {TOPIC_PARTITIONS_MAX}")]
    TooMany {
        /// What was asked for.
        count: i32,
    },
    /// The node's numbers for partitions are used up: `POLICY_VIOLATION` (44).
    #[error("the node has no numbers left for {partitions} partitions")]
    OutOfPartitions {
        /// How many would be new.
        partitions: i32,
    },
    /// `POLICY_VIOLATION` (44).
    #[error(transparent)]
    TooLarge(#[from] EntryTooLarge),
    /// `INVALID_REPLICA_ASSIGNMENT` (39).
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// `KAFKA_STORAGE_ERROR` (56).
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl CreatePartitionsError {
    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown(_) => ErrorKind::NotFound,
            Self::OutOfPartitions { .. } => ErrorKind::Full,
            Self::Stopped(_) => ErrorKind::Fatal,
            Self::NotMore { .. }
            | Self::TooMany { .. }
            | Self::TooLarge(_)
            | Self::Assignment(_) => ErrorKind::Invalid,
        }
    }
}

/// Decides whether partitions are added.
///
/// # Errors
///
/// They are not, and why.
pub fn decide_create_partitions(
    view: MetadataView<'_>,
    request: &CreatePartitionsRequest,
    node_id: i32,
) -> Result<MetadataEntry, CreatePartitionsError> {
    let CreatePartitionsRequest {
        topic,
        count,
        assignments,
    } = request;
    let found = view
        .find(topic)
        .ok_or_else(|| CreatePartitionsError::Unknown(topic.clone()))?;
    let current = i32::try_from(found.partitions.len()).unwrap_or(i32::MAX);
    if *count <= current {
        return Err(CreatePartitionsError::NotMore {
            current,
            count: *count,
        });
    }
    if *count > TOPIC_PARTITIONS_MAX {
        return Err(CreatePartitionsError::TooMany { count: *count });
    }
    let added = *count - current;
    if let Some(nodes) = assignments {
        check_new(nodes, current, added, node_id)?;
    }
    let partitions = new_partitions(view, added)
        .ok_or(CreatePartitionsError::OutOfPartitions { partitions: added })?;
    Ok(MetadataEntry::AddPartitions {
        id: found.id,
        partitions,
    })
}

fn check_new(
    nodes: &[Vec<i32>],
    first: i32,
    wanted: i32,
    node_id: i32,
) -> Result<(), AssignmentError> {
    if i32::try_from(nodes.len()) != Ok(wanted) {
        return Err(AssignmentError::Count {
            assigned: nodes.len(),
            wanted,
        });
    }
    let assigned = (first..).zip(nodes);
    let assignments: Vec<_> = assigned
        .map(|(partition, nodes)| PartitionAssignment {
            partition,
            nodes: nodes.clone(),
        })
        .collect();
    check_assignment(&assignments, first, node_id)
}

//! Making a topic.

use std::collections::BTreeMap;

use thiserror::Error;
use types::limits::{TOPIC_CONFIGS_MAX, TOPIC_PARTITIONS_MAX};
use types::{ErrorKind, TopicId};

use super::assignment::{check_assignment, new_partitions};
use super::{AssignmentError, Decision, PartitionAssignment};
use crate::error::{EntryTooLarge, Stopped};
use crate::metadata::name::is_reserved;
use crate::metadata::{MetadataEntry, MetadataView, NameError, VHOST_DEFAULT, check_name};
use crate::topic_config::{self, ConfigError, ConfigWarning};

/// A topic to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTopicRequest {
    /// Its name.
    pub name: String,
    /// How many partitions it gets; -1 for the broker's default and where they are placed by hand.
    pub partitions: i32,
    /// On how many nodes; 1, or -1 for the default and where they are placed by hand.
    pub replication_factor: i16,
    /// Partitions placed by hand.
    pub assignments: Vec<PartitionAssignment>,
    /// Settings; of several values for one the last counts.
    pub configs: Vec<(String, Option<String>)>,
}

impl CreateTopicRequest {
    /// A topic with the broker's defaults, as one that is made when it is first asked for.
    #[must_use]
    pub fn with_defaults(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            partitions: -1,
            replication_factor: -1,
            assignments: Vec::new(),
            configs: Vec::new(),
        }
    }
}

/// What a new topic gets from the node.
#[derive(Clone, Copy, Debug)]
pub struct CreateContext {
    /// Its id, at random.
    pub id: TopicId,
    /// The stamp of the decision.
    pub now_ms: i64,
    /// This node, as clients know it.
    pub node_id: i32,
    /// `num.partitions`.
    pub default_partitions: i32,
}

/// A topic was not made. Each variant names the Kafka error code that says the same.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CreateTopicError {
    /// `INVALID_TOPIC_EXCEPTION` (17).
    #[error(transparent)]
    Name(#[from] NameError),
    /// `INVALID_TOPIC_EXCEPTION` (17).
    #[error("topic {name:?} collides with topic {existing:?}: '.' and '_' count as the same")]
    Collision {
        /// What was asked for.
        name: String,
        /// What is there.
        existing: String,
    },
    /// `INVALID_REQUEST` (42).
    #[error("topic {name:?} is not for clients to make")]
    Reserved {
        /// What was asked for.
        name: String,
    },
    /// `TOPIC_ALREADY_EXISTS` (36).
    #[error("topic {name:?} already exists")]
    Exists {
        /// Its name.
        name: String,
        /// Its id.
        id: TopicId,
    },
    /// `INVALID_PARTITIONS` (37).
    #[error("{partitions} partitions, must be 1 to {TOPIC_PARTITIONS_MAX}, or -1 for the default")]
    Partitions {
        /// What was asked for.
        partitions: i32,
    },
    /// The node's numbers for partitions are used up: `POLICY_VIOLATION` (44).
    #[error("the node has no numbers left for {partitions} partitions")]
    OutOfPartitions {
        /// What was asked for.
        partitions: i32,
    },
    /// `POLICY_VIOLATION` (44).
    #[error(transparent)]
    TooLarge(#[from] EntryTooLarge),
    /// `INVALID_REPLICATION_FACTOR` (38).
    #[error("replication factor {factor}, must be 1, or -1 for the default: there is one node")]
    ReplicationFactor {
        /// What was asked for.
        factor: i16,
    },
    /// `INVALID_REQUEST` (42).
    #[error("partitions placed by hand need partition count and replication factor -1")]
    AssignmentAndCounts,
    /// `INVALID_REPLICA_ASSIGNMENT` (39).
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// `INVALID_CONFIG` (40).
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `KAFKA_STORAGE_ERROR` (56).
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl CreateTopicError {
    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfPartitions { .. } => ErrorKind::Full,
            Self::Stopped(_) => ErrorKind::Fatal,
            Self::Reserved { .. } => ErrorKind::Denied,
            Self::Name(_)
            | Self::TooLarge(_)
            | Self::Collision { .. }
            | Self::Exists { .. }
            | Self::Partitions { .. }
            | Self::ReplicationFactor { .. }
            | Self::AssignmentAndCounts
            | Self::Assignment(_)
            | Self::Config(_) => ErrorKind::Invalid,
        }
    }
}

/// Decides whether a topic is made.
///
/// # Errors
///
/// It is not, and why.
pub fn decide_create_topic(
    view: MetadataView<'_>,
    request: &CreateTopicRequest,
    context: &CreateContext,
) -> Result<Decision, CreateTopicError> {
    check_new_name(view, &request.name)?;
    let count = partition_count(request, context)?;
    let (configs, warnings) = check_configs(&request.configs)?;
    let partitions = new_partitions(view, count)
        .ok_or(CreateTopicError::OutOfPartitions { partitions: count })?;
    let entry = MetadataEntry::CreateTopic {
        id: context.id,
        name: request.name.clone(),
        vhost: VHOST_DEFAULT.to_owned(),
        partitions,
        configs,
        created_ms: context.now_ms,
    };
    Ok(Decision { entry, warnings })
}

fn check_new_name(view: MetadataView<'_>, name: &str) -> Result<(), CreateTopicError> {
    check_name(name)?;
    if is_reserved(name) {
        return Err(CreateTopicError::Reserved {
            name: name.to_owned(),
        });
    }
    if let Some(id) = view.topic_id(name) {
        return Err(CreateTopicError::Exists {
            name: name.to_owned(),
            id,
        });
    }
    match view.colliding(name) {
        Some(existing) => Err(CreateTopicError::Collision {
            name: name.to_owned(),
            existing,
        }),
        None => Ok(()),
    }
}

fn partition_count(
    request: &CreateTopicRequest,
    context: &CreateContext,
) -> Result<i32, CreateTopicError> {
    let CreateTopicRequest {
        partitions,
        replication_factor: factor,
        assignments,
        ..
    } = request;
    let count = if !assignments.is_empty() {
        if (*partitions, *factor) != (-1, -1) {
            return Err(CreateTopicError::AssignmentAndCounts);
        }
        let count = i32::try_from(assignments.len()).unwrap_or(i32::MAX);
        if count <= TOPIC_PARTITIONS_MAX {
            check_assignment(assignments, 0, context.node_id)?;
        }
        count
    } else if *partitions == -1 {
        context.default_partitions
    } else {
        *partitions
    };
    if !(1..=TOPIC_PARTITIONS_MAX).contains(&count) {
        return Err(CreateTopicError::Partitions { partitions: count });
    }
    if !matches!(factor, -1 | 1) {
        return Err(CreateTopicError::ReplicationFactor { factor: *factor });
    }
    Ok(count)
}

type Checked = (BTreeMap<String, String>, Vec<ConfigWarning>);

/// Checks settings; of several values for one the last counts.
pub(super) fn check_configs(configs: &[(String, Option<String>)]) -> Result<Checked, ConfigError> {
    if configs.len() > TOPIC_CONFIGS_MAX {
        let count = configs.len();
        return Err(ConfigError::TooMany { count });
    }
    let mut checked = BTreeMap::new();
    let mut warnings = BTreeMap::new();
    for (name, value) in configs {
        let accepted = topic_config::accept(name, value.as_deref())?;
        checked.insert(accepted.name.to_owned(), accepted.value);
        warnings.extend(accepted.warning.map(|warning| (accepted.name, warning)));
    }
    Ok((checked, warnings.into_values().collect()))
}

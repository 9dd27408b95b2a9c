//! Decisions about the metadata: a request in, the entry that carries it out, or why not.
//!
//! A decision changes nothing. Who only wants to know what would happen drops the entry.

mod alter_config;
mod assignment;
mod create_partitions;
mod create_topic;
mod delete_topic;
mod numbers;

pub use alter_config::{
    AlterConfigError, AlterConfigRequest, AlterOp, ConfigChange, ConfigOp, decide_alter_config,
};
pub use assignment::{AssignmentError, PartitionAssignment};
pub use create_partitions::{
    CreatePartitionsError, CreatePartitionsRequest, decide_create_partitions,
};
pub use create_topic::{CreateContext, CreateTopicError, CreateTopicRequest, decide_create_topic};
pub use delete_topic::{DeleteTopicError, TopicRef, decide_delete_topic};
pub use numbers::{decide_leader_epoch, decide_producer_ids};

use super::MetadataEntry;
use crate::topic_config::ConfigWarning;

/// A decision about settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What carries it out.
    pub entry: MetadataEntry,
    /// Settings that were accepted though nothing follows from them.
    pub warnings: Vec<ConfigWarning>,
}

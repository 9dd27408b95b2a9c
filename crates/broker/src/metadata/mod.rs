//! Topics, their partitions' numbers and settings, producer ids and the leader epoch: a state
//! machine of its own.
//!
//! [`Metadata`] is what is applied, [`MetadataOverlay`] what is decided and not applied; a decision
//! reads both through a [`MetadataView`] and gives the [`MetadataEntry`] that carries it out.
//! docs/formats/metadata-entry.md tells the bytes.

mod decide;
mod entry;
mod name;
mod overlay;
mod row;
mod state;
mod topic;
mod view;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use decide::{
    AlterConfigError, AlterConfigRequest, AlterOp, AssignmentError, ConfigChange, ConfigOp,
    CreateContext, CreatePartitionsError, CreatePartitionsRequest, CreateTopicError,
    CreateTopicRequest, Decision, DeleteTopicError, PartitionAssignment, TopicRef,
    decide_alter_config, decide_create_partitions, decide_create_topic, decide_delete_topic,
    decide_leader_epoch, decide_producer_ids,
};
pub use entry::{EntryError, MetadataEntry};
pub use name::{NameError, check_name, is_internal};
pub use overlay::MetadataOverlay;
pub use row::{NodeRow, TopicRow};
pub use state::Metadata;
pub use topic::{TopicState, VHOST_DEFAULT};
pub use view::MetadataView;

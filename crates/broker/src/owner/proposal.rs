//! What may be proposed to the owner.

use record::CheckedBatch;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use types::{Offset, PartitionId};

use crate::error::{AppendError, Stopped, TrimError};
use crate::metadata::{
    AlterConfigError, AlterConfigRequest, CreatePartitionsError, CreatePartitionsRequest,
    CreateTopicError, CreateTopicRequest, DeleteTopicError, TopicRef,
};

/// Where an answer goes. Whoever asked may be gone by then.
pub type Reply<T> = oneshot::Sender<T>;

/// A batch for a partition.
#[derive(Debug)]
pub struct AppendPart {
    /// Where it goes.
    pub partition: PartitionId,
    /// The batch, checked.
    pub batch: CheckedBatch,
    /// Which protocol it came from.
    pub origin: log::Origin,
}

/// A batch is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Offset of its first record; of the original's when it was a duplicate.
    pub base_offset: Offset,
    /// The append time where the topic stamps records with it.
    pub log_append_time_ms: Option<i64>,
    /// First offset of the partition that can be read.
    pub log_start: Offset,
}

/// The results of an append, one for each part.
pub type AppendResults = Vec<Result<Appended, AppendError>>;

/// Batches to append, answered together.
#[derive(Debug)]
pub struct AppendProposal {
    /// The batches, each for another partition.
    pub parts: Vec<AppendPart>,
    /// Who waits.
    pub reply: Reply<AppendResults>,
    /// Memory that the batches were admitted against, given back when they are applied.
    pub permit: Option<OwnedSemaphorePermit>,
}

/// A request to the owner.
#[derive(Debug)]
pub enum Proposal {
    /// Append batches.
    Append(AppendProposal),
    /// Move the log start; `None` stands for the end.
    Trim {
        /// Whose.
        partition: PartitionId,
        /// To where.
        to: Option<Offset>,
        /// Gets the new log start.
        reply: Reply<Result<Offset, TrimError>>,
    },
    /// Create a topic.
    CreateTopic {
        /// Its name, partitions and settings.
        request: CreateTopicRequest,
        /// Only say what would happen.
        validate_only: bool,
        /// Gets the answer.
        reply: Reply<Result<TopicMade, CreateTopicError>>,
    },
    /// Delete a topic.
    DeleteTopic {
        /// Which.
        topic: TopicRef,
        /// Gets the answer.
        reply: Reply<Result<(), DeleteTopicError>>,
    },
    /// Add partitions to a topic.
    CreatePartitions {
        /// How many.
        request: CreatePartitionsRequest,
        /// Only say what would happen.
        validate_only: bool,
        /// Gets the answer.
        reply: Reply<Result<(), CreatePartitionsError>>,
    },
    /// Change settings of a topic.
    AlterConfig {
        /// What to change.
        request: AlterConfigRequest,
        /// Only say what would happen.
        validate_only: bool,
        /// Gets the answer.
        reply: Reply<Result<(), AlterConfigError>>,
    },
    /// Hand out a producer id.
    ProducerId {
        /// Gets the id.
        reply: Reply<Result<types::ProducerId, Stopped>>,
    },
    /// A background job ended.
    Job(log::background::Done),
    /// Write the last entry of this life and answer when it is synced and proven.
    Stop {
        /// Gets the answer.
        reply: Reply<Result<(), Stopped>>,
    },
}

/// What became of a new topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicMade {
    /// Its id.
    pub id: types::TopicId,
    /// How many partitions it has.
    pub partitions: i32,
}

//! Deleting a topic.

use std::fmt;

use thiserror::Error;
use types::{ErrorKind, TopicId};

use crate::error::Stopped;
use crate::metadata::{MetadataEntry, MetadataView};
use crate::topic_config::shortened;

/// How a topic is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicRef {
    /// By the name that Kafka sees.
    Name(String),
    /// By its id.
    Id(TopicId),
}

impl fmt::Display for TopicRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{:?}", shortened(name)),
            Self::Id(id) => write!(f, "{id}"),
        }
    }
}

/// A topic was not deleted. Each variant names the Kafka error code that says the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeleteTopicError {
    /// `UNKNOWN_TOPIC_OR_PARTITION` (3) by name, `UNKNOWN_TOPIC_ID` (100) by id.
    #[error("there is no topic {0}")]
    Unknown(TopicRef),
    /// `KAFKA_STORAGE_ERROR` (56).
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl DeleteTopicError {
    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown(_) => ErrorKind::NotFound,
            Self::Stopped(_) => ErrorKind::Fatal,
        }
    }
}

/// Decides whether a topic is deleted.
///
/// # Errors
///
/// It is not, and why.
pub fn decide_delete_topic(
    view: MetadataView<'_>,
    topic: &TopicRef,
) -> Result<MetadataEntry, DeleteTopicError> {
    let found = view
        .find(topic)
        .ok_or_else(|| DeleteTopicError::Unknown(topic.clone()))?;
    Ok(MetadataEntry::DeleteTopic { id: found.id })
}

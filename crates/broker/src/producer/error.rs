//! Why a producer's batch is refused.

use thiserror::Error;
use types::{ErrorKind, ProducerEpoch, ProducerId, Sequence};

/// Why a producer's batch is refused. Each variant names the Kafka error code that says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProducerError {
    /// A newer producer with the same id was here: `INVALID_PRODUCER_EPOCH` (47).
    #[error("producer {producer_id} sends epoch {epoch}, its epoch here is {current}")]
    Epoch {
        /// The producer.
        producer_id: ProducerId,
        /// What it sends.
        epoch: ProducerEpoch,
        /// What is known.
        current: ProducerEpoch,
    },
    /// Batches are missing before this one, or it was sent long ago:
    /// `OUT_OF_ORDER_SEQUENCE_NUMBER` (45).
    #[error("producer {producer_id} sends sequence {sequence} where {expected} is next")]
    OutOfOrder {
        /// The producer.
        producer_id: ProducerId,
        /// What it sends.
        sequence: Sequence,
        /// What would be right.
        expected: Sequence,
    },
}

impl ProducerError {
    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Epoch { .. } => ErrorKind::Fenced,
            Self::OutOfOrder { .. } => ErrorKind::Invalid,
        }
    }
}

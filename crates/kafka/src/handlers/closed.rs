use std::io;

use crate::server::{BadLength, TooSlow};
use crate::wire::{DecodeError, EncodeError};

/// Why a connection is closed: what the protocol cannot express as an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Closed {
    /// No traffic for `connections.max.idle.ms`.
    #[error("no traffic for connections.max.idle.ms")]
    Idle,
    /// The connection broke.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A frame that cannot be taken.
    #[error(transparent)]
    Length(#[from] BadLength),
    /// A frame that holds memory and does not come.
    #[error(transparent)]
    Slow(#[from] TooSlow),
    /// A frame that is no request.
    #[error("{}", with_source(.0))]
    Request(#[from] DecodeError),
    /// An answer that cannot be written.
    #[error("the answer cannot be written: {0}")]
    Answer(#[from] EncodeError),
    /// Batches were refused, and the client asked for no answer.
    #[error("a produce request with acks=0 was refused: {0}")]
    Unanswered(&'static str),
}

/// What is malformed says more than that something is.
fn with_source(error: &DecodeError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl Closed {
    /// Whether it is how connections end every day.
    pub(crate) fn is_of_the_client(&self) -> bool {
        match self {
            Self::Idle | Self::Io(_) => true,
            Self::Length(_)
            | Self::Slow(_)
            | Self::Request(_)
            | Self::Answer(_)
            | Self::Unanswered(_) => false,
        }
    }
}

//! What can go wrong between a client and a broker.

use std::io;
use std::time::Duration;

use kafka::wire::{ApiKey, EncodeError, ErrorCode, Malformed};

/// An error of a request or of its connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("cannot connect to {server}")]
    Connect { server: String, source: io::Error },
    #[error("the connection to {server} failed")]
    Connection { server: String, source: io::Error },
    #[error("{server} closed the connection")]
    Closed { server: String },
    #[error("{server} did not answer {api:?} within {} s", after.as_secs())]
    TimedOut {
        server: String,
        api: ApiKey,
        after: Duration,
    },
    #[error("{server} did not take {api:?} within {} s", after.as_secs())]
    Stalled {
        server: String,
        api: ApiKey,
        after: Duration,
    },
    #[error("cannot read partition {partition} at offset {offset}: {reason}")]
    Unreadable {
        partition: i32,
        offset: i64,
        reason: String,
    },
    #[error("{server} does not serve a version of {api:?} that this client speaks")]
    Unsupported { server: String, api: ApiKey },
    #[error("{server} sent an answer to {api:?} that cannot be read")]
    Malformed {
        server: String,
        api: ApiKey,
        source: Malformed,
    },
    #[error("the request cannot be written")]
    Encode(#[from] EncodeError),
    #[error("{what}: {code}{}", message.as_deref().map(|m| format!(": {m}")).unwrap_or_default())]
    Refused {
        what: String,
        code: ErrorCode,
        message: Option<String>,
    },
    #[error("the answer to {api:?} lacks {what}")]
    Missing { api: ApiKey, what: String },
}

impl ClientError {
    /// An error unless the code says none.
    pub(crate) fn check(
        code: ErrorCode,
        message: Option<String>,
        what: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        if code.is_none() {
            Ok(())
        } else {
            Err(Self::Refused {
                what: what(),
                code,
                message,
            })
        }
    }

    /// The code with which a broker refused, if one did.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

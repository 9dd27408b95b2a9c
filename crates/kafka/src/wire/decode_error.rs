use super::{Malformed, RequestHeader};

/// Why a frame is not a request that can be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No API here has this key.
    #[error("unknown api key {key}")]
    UnknownKey {
        /// The key.
        key: i16,
        /// The version that was asked for.
        version: i16,
        /// The request's correlation id.
        correlation_id: i32,
    },
    /// The API has no such version. ApiVersions is answered all the same, in version 0 (KIP-511);
    /// the body was not looked at.
    #[error("{:?} has no version {}", header.api, header.version)]
    UnsupportedVersion {
        /// The header; its client id is `None` also if it could not be read.
        header: RequestHeader,
    },
    /// The bytes are not what they claim to be.
    #[error("malformed request")]
    Malformed {
        /// The header, if the start of it could be read.
        header: Option<RequestHeader>,
        /// What is wrong.
        source: Malformed,
    },
}

/// From a frame that ends inside its header.
impl From<Malformed> for DecodeError {
    fn from(source: Malformed) -> Self {
        Self::Malformed {
            header: None,
            source,
        }
    }
}

//! What a topic may be called over Kafka.

use thiserror::Error;
use types::limits::TOPIC_NAME_BYTES_MAX;

use crate::topic_config::shortened;

/// Kafka keeps the cluster's own metadata under this name.
const RESERVED: &str = "__cluster_metadata";
/// Topics that the broker writes for itself.
const INTERNAL: [&str; 3] = [
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
];

/// Why no topic can have a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// There is none.
    #[error("a topic name cannot be empty")]
    Empty,
    /// The name means a directory elsewhere.
    #[error("a topic cannot be named {0:?}")]
    Dots(&'static str),
    /// The name is too long.
    #[error("a topic name of {bytes} bytes exceeds the limit of {TOPIC_NAME_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The name has characters that names do not have.
    #[error("topic name {name:?} has characters other than letters, digits, '.', '_' and '-'")]
    Characters {
        /// The name, shortened.
        name: String,
    },
}

/// Checks what a name is made of.
///
/// # Errors
///
/// No topic can have the name.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    match name {
        "" => Err(NameError::Empty),
        "." => Err(NameError::Dots(".")),
        ".." => Err(NameError::Dots("..")),
        _ if name.len() > TOPIC_NAME_BYTES_MAX => Err(NameError::TooLong { bytes: name.len() }),
        _ if !name.bytes().all(is_legal) => Err(NameError::Characters {
            name: shortened(name),
        }),
        _ => Ok(()),
    }
}

/// Whether clients are told that the topic is the broker's own.
#[must_use]
pub fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

/// Whether no client may make a topic of that name.
pub(super) fn is_reserved(name: &str) -> bool {
    name == RESERVED
}

/// What `a.b` and `a_b` have in common; `None` for names that cannot collide with another.
pub(super) fn fold(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}

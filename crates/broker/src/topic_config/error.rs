//! Why a setting of a topic is refused.

use std::fmt;

use thiserror::Error;
use types::ErrorKind;
use types::limits::{CONFIG_VALUE_BYTES_MAX, TOPIC_CONFIGS_MAX};

use super::Kind;

/// Characters of a client's value that a message repeats.
const SHOWN_CHARS_MAX: usize = 100;

/// Why a setting of a topic is refused. Kafka: `INVALID_CONFIG` (40), all of them.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No setting has this name.
    #[error("there is no topic setting {name}{}", hint(*nearest))]
    Unknown {
        /// What was asked for, shortened.
        name: String,
        /// The setting whose name is closest.
        nearest: Option<&'static str>,
    },
    /// A setting needs a value.
    #[error("{name} needs a value")]
    Null {
        /// The setting.
        name: &'static str,
    },
    /// The value is none of the setting's.
    #[error("{name} is {value:?}, must be {kind}")]
    Value {
        /// The setting.
        name: &'static str,
        /// What was asked for, shortened.
        value: String,
        /// What it takes.
        kind: Kind,
    },
    /// The value is longer than any may be.
    #[error("{name} has {bytes} bytes, must have at most {CONFIG_VALUE_BYTES_MAX}")]
    TooLong {
        /// The setting.
        name: &'static str,
        /// Length of the value.
        bytes: usize,
    },
    /// A request sets more than there is to set.
    #[error("{count} settings are set, must be at most {TOPIC_CONFIGS_MAX}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// The value would be Kafka's, but nothing here would follow from it.
    #[error("{name} is {value:?}, only {} works here: {reason}", one_of(allowed))]
    Unsupported {
        /// The setting.
        name: &'static str,
        /// What was asked for, shortened.
        value: String,
        /// What may be set.
        allowed: &'static [&'static str],
        /// Why nothing else may.
        reason: &'static str,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean {name}"))
}

fn one_of(allowed: &[&str]) -> String {
    let quoted: Vec<_> = allowed.iter().map(|value| format!("{value:?}")).collect();
    quoted.join(" or ")
}

impl ConfigError {
    pub(crate) fn unknown(name: &str) -> Self {
        Self::Unknown {
            name: shortened(name),
            nearest: super::nearest::nearest(name),
        }
    }

    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }
}

/// What of a client's text goes into messages and logs.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A setting was accepted though nothing follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The setting.
    pub name: &'static str,
    /// Why nothing follows.
    pub reason: &'static str,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no effect: {}", self.name, self.reason)
    }
}

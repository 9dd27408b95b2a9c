//! What is wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

use super::source::Source;

/// One thing that keeps a configuration from being used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file cannot be read.
    Unreadable { path: PathBuf, reason: String },
    /// A line of the file, or an argument of `--set`, is not `key = value`.
    Syntax { text: String, source: Source },
    /// A variable of the environment whose name or value is not UTF-8.
    NotText { source: Source },
    /// No such key.
    Unknown {
        key: String,
        nearest: Option<&'static str>,
        source: Source,
    },
    /// A key of Kafka, RabbitMQ or RocketMQ that has no meaning here.
    Foreign {
        key: String,
        reason: &'static str,
        source: Source,
    },
    /// The value is outside what the key allows.
    Value {
        key: String,
        value: String,
        allowed: String,
        source: Source,
    },
    /// One file sets one key twice.
    Twice {
        key: String,
        first_line: usize,
        source: Source,
    },
    /// Two settings, each valid, contradict each other.
    Conflict {
        key: &'static str,
        value: String,
        reason: String,
        source: Source,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            Self::Syntax { text, source } => {
                write!(f, "{source}: `{text}` is not of the form key = value")
            }
            Self::NotText { source } => write!(f, "{source}: is not UTF-8 text"),
            Self::Unknown {
                key,
                nearest: Some(nearest),
                source,
            } => {
                write!(
                    f,
                    "{source}: unknown setting {key}; did you mean {nearest}?"
                )
            }
            Self::Unknown {
                key,
                nearest: None,
                source,
            } => {
                write!(
                    f,
                    "{source}: unknown setting {key}; `millrace config` lists all"
                )
            }
            Self::Foreign {
                key,
                reason,
                source,
            } => {
                write!(f, "{source}: {key} has no meaning here: {reason}")
            }
            Self::Value {
                key,
                value,
                allowed,
                source,
            } => {
                write!(
                    f,
                    "{source}: {key} = {value} is not allowed; allowed: {allowed}"
                )
            }
            Self::Twice {
                key,
                first_line,
                source,
            } => {
                write!(f, "{source}: {key} is already set in line {first_line}")
            }
            Self::Conflict {
                key,
                value,
                reason,
                source,
            } => {
                write!(f, "{source}: {key} = {value}: {reason}")
            }
        }
    }
}

//! What one configuration key is.

use std::fmt;

/// One row of the table of keys.
#[derive(Debug)]
pub(crate) struct Key {
    /// The name in files and flags.
    pub(crate) name: &'static str,
    /// What values it takes.
    pub(crate) kind: Kind,
    /// What its number counts.
    pub(crate) unit: Unit,
    /// The value when nothing sets it, as it would be written; empty means unset.
    pub(crate) default: &'static str,
    /// What it applies to.
    pub(crate) scope: Scope,
    /// Whether it may change while the broker runs.
    pub(crate) dynamic: bool,
    /// One line for people.
    pub(crate) help: &'static str,
}

/// The values that a key takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number between two bounds, both allowed.
    Int { min: i64, max: i64 },
    /// One of some words.
    Choice(&'static [&'static str]),
    /// Any text of at most this many bytes.
    Text { max_bytes: usize },
    /// One directory.
    Path,
    /// `host:port` entries separated by commas, or `off`.
    Listen,
    /// `host:port`, or `host` alone.
    Advertise,
    /// A log level, optionally followed by `module=level` entries.
    Levels,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Count,
    Bytes,
    Milliseconds,
    Minutes,
    Hours,
}

/// What a key applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The node as a whole.
    Node,
    /// Every topic that does not set this topic key itself.
    TopicDefault(&'static str),
}

impl Kind {
    /// The allowed values, for people.
    pub(crate) fn range(self) -> String {
        match self {
            Self::Bool => "true, false".into(),
            Self::Int { min, max: i64::MAX } => format!("{min} or more"),
            Self::Int { min, max } => format!("{min} to {max}"),
            Self::Choice(words) => words.join(", "),
            Self::Text { max_bytes } => format!("text of at most {max_bytes} bytes"),
            Self::Path => "one directory; this version takes no list".into(),
            Self::Listen => "host:port entries separated by commas, or off".into(),
            Self::Advertise => "host or host:port".into(),
            Self::Levels => {
                "error, warn, info, debug, trace, or off; module=level after a comma".into()
            }
        }
    }

    /// The type's name in the reference and in `--json`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Int { .. } => "integer",
            Self::Choice(_) => "choice",
            Self::Text { .. } => "text",
            Self::Path => "path",
            Self::Listen => "listen",
            Self::Advertise => "address",
            Self::Levels => "levels",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::Milliseconds => "ms",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node => f.write_str("node"),
            Self::TopicDefault(key) => write!(f, "default of topic key {key}"),
        }
    }
}

//! Where a setting came from.

use std::fmt;
use std::path::PathBuf;

/// Origin of one setting, from weakest to strongest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing set it.
    Default,
    /// A line of the configuration file.
    File { path: PathBuf, line: usize },
    /// An environment variable.
    Environment(String),
    /// A flag of the command line, as it was written.
    Flag(&'static str),
}

impl Source {
    /// Of two sources the larger one counts.
    pub(crate) const fn strength(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

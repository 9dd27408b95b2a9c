//! Why a command ended without success, by exit code (DESIGN section 12).

use std::fmt;
use std::io;
use std::process::ExitCode;

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// The reason and with it the exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It did not work: 1.
    Failed(anyhow::Error),
    /// Wrong usage or configuration: 2.
    Usage(anyhow::Error),
    /// The data directory cannot be used (in use, damaged, newer format): 3.
    DataDir(anyhow::Error),
}

impl Failure {
    /// Wrong usage, in these words.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(anyhow::anyhow!("{message}"))
    }

    /// The exit code that scripts rely on.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::DataDir(_) => 3,
        })
    }

    /// Whether the reader of our output has gone, as `head` does: not worth a word.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        let Self::Failed(error) = self else {
            return false;
        };
        let io = error.downcast_ref::<io::Error>();
        io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Failed(error) | Self::Usage(error) | Self::DataDir(error)) = self;
        write!(f, "error: {error:#}")
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

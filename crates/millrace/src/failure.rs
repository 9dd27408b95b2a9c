//! Why a command ended without success, by exit code (docs/operations/running.md tells them).

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
    /// One of these, told already as a log event.
    Logged(Box<Failure>),
}

impl Failure {
    /// Wrong usage, in these words.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(anyhow::anyhow!("{message}"))
    }

    /// Tells the failure as a log event, like everything else that a running node says.
    pub(crate) fn log(self) -> Self {
        if !tracing::enabled!(tracing::Level::ERROR) {
            return self;
        }
        let error = format!("{:#}", self.error());
        tracing::error!(error, "the node ends");
        Self::Logged(Box::new(self))
    }

    /// Whether standard error has it already.
    pub(crate) const fn is_logged(&self) -> bool {
        matches!(self, Self::Logged(_))
    }

    /// The exit code that scripts rely on.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
            Self::DataDir(_) => ExitCode::from(3),
            Self::Logged(failure) => failure.exit_code(),
        }
    }

    fn error(&self) -> &anyhow::Error {
        match self {
            Self::Failed(error) | Self::Usage(error) | Self::DataDir(error) => error,
            Self::Logged(failure) => failure.error(),
        }
    }

    /// Whether the reader of our output has gone, as `head` does: not worth a word.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        let Self::Failed(error) = self else {
            return false;
        };
        // Bare: what has a context says of what it is, as a broken connection does.
        let bare = error
            .chain()
            .next()
            .and_then(<dyn std::error::Error>::downcast_ref::<io::Error>);
        bare.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {:#}", self.error())
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn only_a_broken_pipe_of_our_output_is_not_worth_a_word() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(Failure::from(pipe()).is_closed_pipe());
        let network: anyhow::Result<()> = Err(pipe()).context("cannot get the status");
        let nested = network.context("once more").expect_err("an error");
        assert!(!Failure::from(nested).is_closed_pipe());
        let other = io::Error::from(io::ErrorKind::NotFound);
        assert!(!Failure::from(other).is_closed_pipe());
    }
}

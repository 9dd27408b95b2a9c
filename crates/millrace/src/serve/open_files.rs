//! How many files the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Where nothing bounds it.
const UNBOUNDED: u64 = 1 << 20;

/// Takes as many as the system allows: connections, log files and segments have one each, and the
/// soft limit that a shell gives is for programs that call select(2). How many there are then.
pub(crate) fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(UNBOUNDED);
    let current = limit.current.unwrap_or(UNBOUNDED);
    if current >= most {
        return current;
    }
    let raised = Rlimit {
        current: Some(most),
        ..limit
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => {
            tracing::debug!(most, "the limit of open files is raised");
            most
        }
        Err(error) => {
            tracing::warn!(%error, current, "the limit of open files stays as it is");
            current
        }
    }
}

/// How many of `open_files` clients may take: a log without a file to go on in would stop.
pub(super) fn for_connections(open_files: u64) -> usize {
    usize::try_from(open_files / 4 * 3).unwrap_or(usize::MAX)
}

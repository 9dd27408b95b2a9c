//! How many files the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Where nothing bounds it.
const UNBOUNDED: u64 = 1 << 20;

/// Takes as many as the system allows: connections, log files and segments have one each, and the
/// soft limit that a shell gives is for programs that call select(2).
pub(super) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(UNBOUNDED);
    if limit.current.is_none_or(|current| current >= most) {
        return;
    }
    let raised = Rlimit {
        current: Some(most),
        ..limit
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => tracing::debug!(most, "the limit of open files is raised"),
        Err(error) => {
            let limit = limit.current;
            tracing::warn!(%error, ?limit, "the limit of open files stays as it is");
        }
    }
}

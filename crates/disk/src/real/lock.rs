//! A lock that dies with its holder.

use std::os::fd::OwnedFd;

use rustix::fs::FlockOperation;
use rustix::io::{Errno, retry_on_intr};

use crate::Lock;

/// `flock` belongs to the open file, not to the process: a second one fails in the same process
/// too, and the kernel gives it free when the last descriptor is gone, however the process ended.
#[derive(Debug)]
pub(super) struct RealLock {
    _fd: OwnedFd,
}

impl RealLock {
    pub(super) fn take(fd: OwnedFd) -> Result<Self, Errno> {
        retry_on_intr(|| rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive))?;
        Ok(Self { _fd: fd })
    }
}

impl Lock for RealLock {}

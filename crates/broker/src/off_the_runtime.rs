//! Threads of the runtime that wait.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Whether this thread may wait while its runtime goes on in others.
#[must_use]
pub fn may_wait() -> bool {
    let runtime = Handle::try_current();
    runtime.is_ok_and(|of| of.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Does what waits for the device. A runtime that has other threads goes on in them meanwhile, even
/// where the device hangs.
pub(crate) fn off_the_runtime<T>(wait: impl FnOnce() -> T) -> T {
    if may_wait() {
        tokio::task::block_in_place(wait)
    } else {
        wait()
    }
}

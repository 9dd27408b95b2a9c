//! Disks around a disk: one that tells an observer of every operation, one that makes chosen ones
//! fail. Both work on the real disk, so that the shipped binary can be watched and disturbed.

mod disk;
mod fault;
mod file;
mod record;

pub use disk::HookedDisk;
pub use fault::{FaultDisk, FaultHook};
pub use record::{RecordHook, RecordingDisk};

use std::fmt::Debug;

use crate::{FaultKind, Operation};

/// What stands around each operation of a [`HookedDisk`].
pub trait Hook: Send + Sync + Debug + 'static {
    /// Called before the operation; a fault keeps it from reaching the disk.
    fn before(&self, operation: &Operation) -> Option<FaultKind>;

    /// Called when it is over, with whether it succeeded.
    fn after(&self, operation: &Operation, ok: bool);
}

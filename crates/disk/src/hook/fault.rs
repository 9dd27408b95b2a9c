//! Making chosen operations fail.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Hook, HookedDisk};
use crate::fault::Faults;
use crate::{Disk, Fault, FaultKind, Operation};

/// A disk that fails where a rule says so. An operation that fails has no effect at all on the
/// disk inside (the simulated disk's own rules are worse: there it may have any part of it).
pub type FaultDisk = HookedDisk<FaultHook>;

/// The hook of a [`FaultDisk`].
#[derive(Debug, Default)]
pub struct FaultHook(Mutex<Faults>);

impl FaultDisk {
    /// A disk without rules yet around `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self::around(inner, FaultHook::default())
    }

    /// Adds a rule.
    pub fn inject(&self, fault: Fault) {
        self.gate.hook.0.lock().add(fault);
    }

    /// Drops all rules.
    pub fn clear_faults(&self) {
        self.gate.hook.0.lock().clear();
    }

    /// Rules that have not failed all their times yet.
    #[must_use]
    pub fn faults_left(&self) -> usize {
        self.gate.hook.0.lock().left()
    }
}

impl Hook for FaultHook {
    fn before(&self, operation: &Operation) -> Option<FaultKind> {
        self.0.lock().meet(operation.op, &operation.path)
    }

    fn after(&self, _operation: &Operation, _ok: bool) {}
}

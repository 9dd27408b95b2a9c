//! The controls that tests have over a simulated disk.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use types::SeededRandom;

use super::disk::SimDisk;
use super::pages::size;
use super::power::{CutPoint, When};
use super::state::State;
use crate::{Fault, Op, Operation};

/// Room of a disk whose maker did not say.
const CAPACITY_BYTES_DEFAULT: u64 = 1 << 40;

/// Gives back the former label when dropped.
#[derive(Debug)]
#[must_use = "the label ends when this is dropped"]
pub struct LabelGuard {
    state: Arc<Mutex<State>>,
    former: &'static str,
}

impl Drop for LabelGuard {
    fn drop(&mut self) {
        self.state.lock().power.label = self.former;
    }
}

/// Making and power.
impl SimDisk {
    /// An empty disk; `seed` decides everything that is left to chance.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_capacity(seed, CAPACITY_BYTES_DEFAULT)
    }

    /// An empty disk with room for `capacity_bytes`.
    #[must_use]
    pub fn with_capacity(seed: u64, capacity_bytes: u64) -> Self {
        Self::from_state(State::new(seed, capacity_bytes))
    }

    fn from_state(state: State) -> Self {
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Cuts the power if it is on, decides what survives, and switches the disk on again. Open
    /// files and locks of the former life go on failing; a planned cut is forgotten, faults stay.
    pub fn crash(&self) {
        self.state.lock().crash();
    }

    /// Ends the process that uses the disk, power on: open files and locks of it fail from now on,
    /// and everything written stays readable.
    pub fn kill(&self) {
        self.state.lock().end_life();
    }

    /// Cuts the power now; every call fails until [`SimDisk::crash`].
    pub fn cut(&self) {
        self.state.lock().power.off = true;
    }

    /// Plans a cut at the call with this running number (the next is [`SimDisk::op_count`] + 1).
    pub fn cut_at(&self, number: u64, when: When) {
        self.state.lock().power.cut_at(number, when);
    }

    /// Plans a cut at the `nth` (from 1) call of `op` from now on that is made under `label`.
    pub fn cut_when(&self, label: &'static str, op: Op, nth: u64, when: When) {
        self.state.lock().power.cut_when(label, op, nth, when);
    }

    /// Forgets the planned cut.
    pub fn spare(&self) {
        self.state.lock().power.spare();
    }

    /// Whether a cut is planned and was not reached.
    #[must_use]
    pub fn is_cut_planned(&self) -> bool {
        self.state.lock().power.is_planned()
    }

    /// Whether the power is off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.state.lock().power.off
    }

    /// Where the last planned cut happened.
    #[must_use]
    pub fn last_cut(&self) -> Option<CutPoint> {
        self.state.lock().power.last_cut
    }

    /// Another disk that holds what a power cut at this moment would leave here, by its own seed.
    /// This one runs on. Cheap: contents are shared until one of the two writes.
    #[must_use]
    pub fn crashed_copy(&self, seed: u64) -> Self {
        let mut state = self.state.lock().clone();
        state.random = SeededRandom::new(seed);
        state.faults.clear();
        state.crash();
        Self::from_state(state)
    }
}

/// Faults and room.
impl SimDisk {
    /// Adds a rule that makes operations fail.
    pub fn inject(&self, fault: Fault) {
        self.state.lock().faults.add(fault);
    }

    /// Drops all rules.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Rules that have not failed all their times yet.
    #[must_use]
    pub fn faults_left(&self) -> usize {
        self.state.lock().faults.left()
    }

    /// Changes the room; what is taken stays taken.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        self.state.lock().capacity_bytes = capacity_bytes;
    }

    /// Bytes of the blocks that are taken.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().used_bytes()
    }

    /// Chance in eighths that [`read_cached_at`](crate::File::read_cached_at) says that it would
    /// have to wait; 0 at first.
    pub fn set_uncached_eighths(&self, eighths: u64) {
        self.state.lock().uncached_eighths = eighths;
    }
}

/// The trace.
impl SimDisk {
    /// Calls so far: the running number of the last one.
    #[must_use]
    pub fn op_count(&self) -> u64 {
        self.state.lock().power.op_count
    }

    /// Names what the caller is doing from now on; kept with each operation.
    pub fn set_label(&self, label: &'static str) {
        self.state.lock().power.label = label;
    }

    /// Names what the caller is doing until the guard is dropped.
    pub fn label(&self, label: &'static str) -> LabelGuard {
        let former = std::mem::replace(&mut self.state.lock().power.label, label);
        LabelGuard {
            state: Arc::clone(&self.state),
            former,
        }
    }

    /// Starts keeping operations, from none, or stops and drops them.
    pub fn record_operations(&self, record: bool) {
        self.state.lock().power.recorded = record.then(Vec::new);
    }

    /// The operations kept so far.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.state.lock().power.recorded.clone().unwrap_or_default()
    }

    /// A hash of all operations so far, labels and written bytes included.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.state.lock().power.trace_hash()
    }
}

/// Looking and meddling, outside the count of operations; works with the power off too.
impl SimDisk {
    /// The contents that a reader sees.
    #[must_use]
    pub fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let inode = state.inodes.get(&state.names.find(path)?)?;
        let mut bytes = vec![0; size(inode.len)];
        inode.cached.read(0, &mut bytes);
        Some(bytes)
    }

    /// The contents that are certain to survive a cut; `None` when the name is not.
    #[must_use]
    pub fn durable_contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let inode = state.inodes.get(&state.names.find_durable(path)?)?;
        let mut bytes = vec![0; size(inode.durable_len)];
        inode.durable.read(0, &mut bytes);
        Some(bytes)
    }

    /// Puts a file on the device, contents and name durable, directories made; whatever it held,
    /// synced or not, is gone.
    pub fn place(&self, path: &Path, bytes: &[u8]) {
        self.state.lock().place(path, bytes);
    }

    /// Whether a file has changes that no sync covers. False when there is no such file.
    #[must_use]
    pub fn has_unsynced(&self, path: &Path) -> bool {
        let state = self.state.lock();
        let inode = state.names.find(path).and_then(|id| state.inodes.get(&id));
        inode.is_some_and(|inode| inode.has_unsynced())
    }

    /// Flips the bits of `mask` in one byte, in the cache and on the device; false when the file is
    /// missing or ends before it.
    pub fn corrupt(&self, path: &Path, position: u64, mask: u8) -> bool {
        let mut state = self.state.lock();
        let Some(id) = state.names.find(path) else {
            return false;
        };
        match state.inodes.get_mut(&id) {
            Some(inode) if position < inode.len => {
                inode.corrupt(position, mask);
                state.recount();
                true
            }
            _ => false,
        }
    }
}

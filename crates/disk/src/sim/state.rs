//! All that a simulated disk is, behind one lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use types::{Random, SeededRandom};

use super::inode::Inode;
use super::names::{InodeId, Names, parent};
use super::pages::PAGE;
use super::power::{Call, Power};
use crate::error::PowerCut;
use crate::fault::Faults;
use crate::{Error, FaultKind, Space};

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) power: Power,
    pub(super) faults: Faults,
    pub(super) random: SeededRandom,
    pub(super) names: Names,
    pub(super) inodes: BTreeMap<InodeId, Inode>,
    pub(super) capacity_bytes: u64,
    /// Eighths of chance that a read would have to wait for the device.
    pub(super) uncached_eighths: u64,
    /// Open files and locks belong to one life: from start, crash or kill to the next.
    pub(super) life: u64,
    pub(super) locks: BTreeSet<PathBuf>,
    used_pages: u64,
    pub(super) next_inode: InodeId,
}

impl State {
    pub(super) fn new(seed: u64, capacity_bytes: u64) -> Self {
        Self {
            power: Power::default(),
            faults: Faults::default(),
            random: SeededRandom::new(seed),
            names: Names::default(),
            inodes: BTreeMap::new(),
            capacity_bytes,
            uncached_eighths: 0,
            life: 1,
            locks: BTreeSet::new(),
            used_pages: 0,
            next_inode: 1,
        }
    }

    /// Runs one operation between the switch and the fault rules.
    pub(super) fn run<T>(
        &mut self,
        call: &Call<'_>,
        perform: impl FnOnce(&mut Self, Option<FaultKind>) -> io::Result<T>,
    ) -> Result<T, Error> {
        let failed = |source| Error::new(call.op, call.path, call.position, source);
        let last = self.power.begin(call).map_err(|cut| failed(cut.into()))?;
        let fault = self.faults.meet(call.op, call.path);
        let done = perform(self, fault);
        if last {
            self.power.off = true;
            return Err(failed(PowerCut.into()));
        }
        done.map_err(failed)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_pages * PAGE
    }

    pub(super) fn space(&self) -> Space {
        let available_bytes = self.capacity_bytes.saturating_sub(self.used_bytes());
        Space {
            total_bytes: self.capacity_bytes,
            available_bytes,
        }
    }

    pub(super) fn inode(&self, id: InodeId) -> io::Result<&Inode> {
        self.inodes
            .get(&id)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Changes a file and counts the blocks that it took or gave back.
    pub(super) fn change<T>(
        &mut self,
        id: InodeId,
        change: impl FnOnce(&mut Inode) -> T,
    ) -> io::Result<T> {
        let inode = self.inodes.get_mut(&id).ok_or(io::ErrorKind::NotFound)?;
        let before = if inode.counts() {
            inode.cached.count()
        } else {
            0
        };
        let result = change(inode);
        let after = if inode.counts() {
            inode.cached.count()
        } else {
            0
        };
        self.used_pages = self.used_pages + after - before;
        Ok(result)
    }

    /// A failed change of names may have taken effect all the same, unless room was what lacked.
    pub(super) fn takes_effect(&mut self, fault: Option<FaultKind>) -> bool {
        match fault {
            None => true,
            Some(FaultKind::NoSpace | FaultKind::Lie) => false,
            Some(FaultKind::Io | FaultKind::Kind(_)) => self.random.chance(1, 2),
        }
    }

    /// Ends the present life; what the page cache holds stays.
    pub(super) fn end_life(&mut self) {
        self.life += 1;
        self.locks.clear();
        for inode in self.inodes.values_mut() {
            inode.open_count = 0;
        }
        self.recount();
    }

    /// Decides what survives a power cut, and switches the disk on again.
    pub(super) fn crash(&mut self) {
        self.names.cut(&mut self.random);
        let reachable = self.names.reachable();
        self.inodes.retain(|id, _| reachable.contains(id));
        for inode in self.inodes.values_mut() {
            inode.cut(&mut self.random);
            inode.linked = true;
        }
        self.end_life();
        self.power.off = false;
        self.power.spare();
    }

    pub(super) fn recount(&mut self) {
        let counted = self.inodes.values().filter(|inode| inode.counts());
        self.used_pages = counted.map(|inode| inode.cached.count()).sum();
    }

    /// Puts a file on the device as it is, for tests.
    pub(super) fn place(&mut self, path: &Path, bytes: &[u8]) {
        let id = match self.names.find(path) {
            Some(id) => id,
            None => {
                self.next_inode += 1;
                self.next_inode - 1
            }
        };
        let mut inode = Inode::synced(bytes);
        inode.open_count = self.inodes.get(&id).map_or(0, |former| former.open_count);
        self.inodes.insert(id, inode);
        self.names.make_dir(parent(path));
        self.names.link_durably(path, id);
        self.recount();
    }
}

/// What the caller of a faulty operation hears.
pub(super) fn fault_or<T>(fault: Option<FaultKind>, value: T) -> io::Result<T> {
    match fault.and_then(FaultKind::error) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

/// For operations that only give a value: nobody can lie about those.
pub(super) fn fails(fault: Option<FaultKind>) -> io::Result<()> {
    fault_or(fault, ())
}

//! What operations on names and directories do.

use std::io;
use std::path::Path;

use super::inode::Inode;
use super::names::{InodeId, parent};
use super::state::{State, fault_or};
use crate::FaultKind;

impl State {
    pub(super) fn create(&mut self, path: &Path, fault: Option<FaultKind>) -> io::Result<InodeId> {
        self.check_new_name(path)?;
        if self.names.find(path).is_some() || self.names.is_dir(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let id = self.next_inode;
        let fault = fault.filter(|kind| *kind != FaultKind::Lie);
        if self.takes_effect(fault) {
            self.next_inode += 1;
            self.inodes.insert(id, Inode::named());
            self.names.link(path, id);
        }
        fault_or(fault, id)
    }

    pub(super) fn open(&mut self, path: &Path) -> io::Result<InodeId> {
        match self.names.find(path) {
            Some(id) => Ok(id),
            None if self.names.is_dir(path) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn attach(&mut self, id: InodeId) -> io::Result<()> {
        self.change(id, |inode| inode.open_count += 1)
    }

    /// The last open file of a removed one gives its blocks back.
    pub(super) fn detach(&mut self, id: InodeId) {
        // A file that is gone needs nothing.
        self.change(id, |inode| {
            inode.open_count = inode.open_count.saturating_sub(1)
        })
        .ok();
    }

    pub(super) fn rename(
        &mut self,
        from: &Path,
        to: &Path,
        fault: Option<FaultKind>,
    ) -> io::Result<()> {
        let id = self.open(from)?;
        self.check_new_name(to)?;
        if self.names.is_dir(to) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if from != to && self.takes_effect(fault) {
            if let Some(replaced) = self.names.find(to) {
                self.change(replaced, |inode| inode.linked = false)?;
            }
            self.names.rename(from, to, id);
        }
        fault_or(fault, ())
    }

    pub(super) fn remove(&mut self, path: &Path, fault: Option<FaultKind>) -> io::Result<()> {
        let id = self.open(path)?;
        if self.takes_effect(fault) {
            self.names.unlink(path, id);
            self.change(id, |inode| inode.linked = false)?;
        }
        fault_or(fault, ())
    }

    pub(super) fn create_dir(&mut self, path: &Path, fault: Option<FaultKind>) -> io::Result<()> {
        if path.ancestors().any(|dir| self.names.find(dir).is_some()) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if self.takes_effect(fault) {
            self.names.make_dir(path);
        }
        fault_or(fault, ())
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.check_dir(dir)?;
        Ok(self.names.list(dir))
    }

    pub(super) fn sync_dir(&mut self, dir: &Path, fault: Option<FaultKind>) -> io::Result<()> {
        self.check_dir(dir)?;
        match fault {
            None => self.names.sync(dir),
            Some(FaultKind::Lie) => {}
            Some(_) => self.names.sync_badly(dir, &mut self.random),
        }
        self.forget_unreachable();
        fault_or(fault, ())
    }

    fn forget_unreachable(&mut self) {
        let reachable = self.names.reachable();
        self.inodes
            .retain(|id, inode| inode.counts() || reachable.contains(id));
    }

    fn check_dir(&self, dir: &Path) -> io::Result<()> {
        match self.names.is_dir(dir) {
            true => Ok(()),
            false if self.names.find(dir).is_some() => Err(io::ErrorKind::NotADirectory.into()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn check_new_name(&self, path: &Path) -> io::Result<()> {
        self.check_dir(parent(path))
    }

    pub(super) fn lock(&mut self, path: &Path) -> io::Result<()> {
        if self.names.find(path).is_none() {
            self.create(path, None)?;
        }
        match self.locks.insert(path.to_path_buf()) {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

//! An open file of the simulated disk.

use std::fmt;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use types::Random;

use super::names::InodeId;
use super::power::Call;
use super::state::{State, fails};
use crate::error::PowerCut;
use crate::{Error, File, Op};

pub(super) struct SimFile {
    state: Arc<Mutex<State>>,
    path: PathBuf,
    inode: InodeId,
    life: u64,
}

impl SimFile {
    /// `guard` is the lock of `state`.
    pub(super) fn new(
        state: &Arc<Mutex<State>>,
        guard: &State,
        path: &Path,
        inode: InodeId,
    ) -> Self {
        Self {
            state: Arc::clone(state),
            path: path.to_path_buf(),
            inode,
            life: guard.life,
        }
    }

    /// The state, while this file's life lasts.
    fn state(&self, op: Op) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state.lock();
        if state.life != self.life {
            return Err(Error::new(op, &self.path, 0, PowerCut.into()));
        }
        Ok(state)
    }

    fn call(&self, op: Op) -> Call<'_> {
        Call::of(op, &self.path)
    }
}

impl fmt::Debug for SimFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SimFile({}, inode {}, life {})",
            self.path.display(),
            self.inode,
            self.life
        )
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        if state.life == self.life {
            state.detach(self.inode);
        }
    }
}

impl File for SimFile {
    fn read_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        let call = self.call(Op::Read).at(position, buf.len() as u64);
        self.state(Op::Read)?.run(&call, |state, fault| {
            fails(fault)?;
            Ok(state.inode(self.inode)?.read(position, buf))
        })
    }

    fn read_cached_at(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, Error> {
        let call = self.call(Op::Read).at(position, buf.len() as u64);
        self.state(Op::Read)?.run(&call, |state, fault| {
            fails(fault)?;
            let eighths = state.uncached_eighths;
            if eighths > 0 && state.random.chance(eighths, 8) {
                return Ok(None);
            }
            Ok(Some(state.inode(self.inode)?.read(position, buf)))
        })
    }

    fn write_at(&self, bufs: &[IoSlice<'_>], position: u64) -> Result<(), Error> {
        let len: usize = bufs.iter().map(|slice| slice.len()).sum();
        let mut data = Vec::with_capacity(len);
        bufs.iter().for_each(|slice| data.extend_from_slice(slice));
        let call = self.call(Op::Write).at(position, len as u64);
        self.state(Op::Write)?.run(&call, |state, fault| {
            state.write(self.inode, position, data, fault)
        })
    }

    fn sync_data(&self) -> Result<(), Error> {
        let call = self.call(Op::SyncData);
        self.state(Op::SyncData)?
            .run(&call, |state, fault| state.sync(self.inode, fault))
    }

    fn allocate(&self, position: u64, len: u64) -> Result<(), Error> {
        let call = self.call(Op::Allocate).at(position, len);
        self.state(Op::Allocate)?.run(&call, |state, fault| {
            state.allocate(self.inode, position, len, fault)
        })
    }

    fn set_len(&self, len: u64) -> Result<(), Error> {
        let call = self.call(Op::SetLen).at(len, 0);
        self.state(Op::SetLen)?
            .run(&call, |state, fault| state.set_len(self.inode, len, fault))
    }

    fn punch(&self, position: u64, len: u64) -> Result<(), Error> {
        let call = self.call(Op::Punch).at(position, len);
        self.state(Op::Punch)?.run(&call, |state, fault| {
            state.punch(self.inode, position, len, fault)
        })
    }

    fn len(&self) -> Result<u64, Error> {
        let call = self.call(Op::Len);
        self.state(Op::Len)?.run(&call, |state, fault| {
            fails(fault)?;
            Ok(state.inode(self.inode)?.len)
        })
    }

    fn prefetch(&self, _position: u64, _len: u64) {}

    fn path(&self) -> &Path {
        &self.path
    }
}

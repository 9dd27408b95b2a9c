//! The simulated disk as its users see it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::file::SimFile;
use super::power::Call;
use super::state::{State, fails};
use crate::{Disk, Error, File, Lock, Op, Space};

/// A disk in memory. Clones are handles of the same disk.
///
/// ```
/// use std::io::IoSlice;
/// use std::path::Path;
///
/// # use millrace_disk as disk;
/// use disk::{Disk, File, SimDisk};
///
/// # fn main() -> Result<(), disk::Error> {
/// let disk = SimDisk::new(7);
/// let file = disk.create(Path::new("/a"))?;
/// file.write_at(&[IoSlice::new(b"kept")], 0)?;
/// file.sync_data()?;
/// disk.sync_dir(Path::new("/"))?;
/// disk.crash();
/// assert!(file.len().is_err(), "the power was cut since it was opened");
/// assert_eq!(disk.open(Path::new("/a"))?.len()?, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SimDisk {
    pub(super) state: Arc<Mutex<State>>,
}

impl Disk for SimDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let mut state = self.state.lock();
        let call = Call::of(Op::Create, path);
        let id = state.run(&call, |state, fault| {
            let id = state.create(path, fault)?;
            state.attach(id)?;
            Ok(id)
        })?;
        Ok(Arc::new(SimFile::new(&self.state, &state, path, id)))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let mut state = self.state.lock();
        let id = state.run(&Call::of(Op::Open, path), |state, fault| {
            fails(fault)?;
            let id = state.open(path)?;
            state.attach(id)?;
            Ok(id)
        })?;
        Ok(Arc::new(SimFile::new(&self.state, &state, path, id)))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let call = Call {
            to: Some(to),
            ..Call::of(Op::Rename, from)
        };
        self.state
            .lock()
            .run(&call, |state, fault| state.rename(from, to, fault))
    }

    fn remove(&self, path: &Path) -> Result<(), Error> {
        let call = Call::of(Op::Remove, path);
        self.state
            .lock()
            .run(&call, |state, fault| state.remove(path, fault))
    }

    fn create_dir(&self, path: &Path) -> Result<(), Error> {
        let call = Call::of(Op::CreateDir, path);
        self.state
            .lock()
            .run(&call, |state, fault| state.create_dir(path, fault))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, Error> {
        self.state
            .lock()
            .run(&Call::of(Op::List, dir), |state, fault| {
                fails(fault)?;
                state.list(dir)
            })
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), Error> {
        let call = Call::of(Op::SyncDir, dir);
        self.state
            .lock()
            .run(&call, |state, fault| state.sync_dir(dir, fault))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Error> {
        let mut state = self.state.lock();
        state.run(&Call::of(Op::Lock, path), |state, fault| {
            fails(fault)?;
            state.lock(path)
        })?;
        let (path, life) = (path.to_path_buf(), state.life);
        Ok(Box::new(SimLock {
            state: Arc::clone(&self.state),
            path,
            life,
        }))
    }

    fn space(&self, dir: &Path) -> Result<Space, Error> {
        self.state
            .lock()
            .run(&Call::of(Op::Space, dir), |state, fault| {
                fails(fault)?;
                Ok(state.space())
            })
    }
}

#[derive(Debug)]
struct SimLock {
    state: Arc<Mutex<State>>,
    path: PathBuf,
    life: u64,
}

impl Lock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        if state.life == self.life {
            state.locks.remove(&self.path);
        }
    }
}

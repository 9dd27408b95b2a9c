//! The disk that runs a hook around each operation.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Hook;
use super::file::HookedFile;
use crate::{Disk, Error, File, Lock, Op, Operation, Space};

/// A disk around another one with a hook at each operation.
#[derive(Debug)]
pub struct HookedDisk<H: Hook> {
    inner: Arc<dyn Disk>,
    pub(super) gate: Arc<Gate<H>>,
}

impl<H: Hook> HookedDisk<H> {
    /// Runs `hook` around each operation of `inner`.
    #[must_use]
    pub fn around(inner: Arc<dyn Disk>, hook: H) -> Self {
        Self {
            inner,
            gate: Arc::new(Gate {
                hook,
                op_count: AtomicU64::new(0),
            }),
        }
    }

    fn file(&self, path: &Path, inner: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(HookedFile::new(inner, Arc::clone(&self.gate), path))
    }
}

/// What all files of a hooked disk go through.
#[derive(Debug)]
pub(super) struct Gate<H> {
    pub(super) hook: H,
    op_count: AtomicU64,
}

impl<H: Hook> Gate<H> {
    /// Runs an operation that can be lied about: `lie` is what its caller gets then, `None` where
    /// there is nothing to give, and then it is done.
    pub(super) fn run<T>(
        &self,
        mut operation: Operation,
        lie: Option<T>,
        perform: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        operation.number = self.op_count.fetch_add(1, Ordering::Relaxed) + 1;
        let result = match self.hook.before(&operation) {
            None => perform(),
            Some(kind) => match (kind.error(), lie) {
                (Some(source), _) => Err(failed(&operation, source)),
                (None, Some(value)) => Ok(value),
                (None, None) => perform(),
            },
        };
        self.hook.after(&operation, result.is_ok());
        result
    }
}

fn failed(operation: &Operation, source: io::Error) -> Error {
    Error::new(operation.op, &operation.path, operation.position, source)
}

pub(super) fn operation(op: Op, path: Arc<Path>) -> Operation {
    Operation {
        number: 0,
        op,
        path,
        to: None,
        position: 0,
        len: 0,
        label: "",
    }
}

impl<H: Hook> Disk for HookedDisk<H> {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let create = || self.inner.create(path);
        let file = self
            .gate
            .run(operation(Op::Create, path.into()), None, create)?;
        Ok(self.file(path, file))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let open = || self.inner.open(path);
        let file = self
            .gate
            .run(operation(Op::Open, path.into()), None, open)?;
        Ok(self.file(path, file))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let mut operation = operation(Op::Rename, from.into());
        operation.to = Some(to.into());
        self.gate
            .run(operation, Some(()), || self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<(), Error> {
        let operation = operation(Op::Remove, path.into());
        self.gate
            .run(operation, Some(()), || self.inner.remove(path))
    }

    fn create_dir(&self, path: &Path) -> Result<(), Error> {
        let operation = operation(Op::CreateDir, path.into());
        self.gate
            .run(operation, Some(()), || self.inner.create_dir(path))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, Error> {
        self.gate.run(operation(Op::List, dir.into()), None, || {
            self.inner.list(dir)
        })
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), Error> {
        let operation = operation(Op::SyncDir, dir.into());
        self.gate
            .run(operation, Some(()), || self.inner.sync_dir(dir))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Error> {
        self.gate.run(operation(Op::Lock, path.into()), None, || {
            self.inner.lock(path)
        })
    }

    fn space(&self, dir: &Path) -> Result<Space, Error> {
        self.gate.run(operation(Op::Space, dir.into()), None, || {
            self.inner.space(dir)
        })
    }
}

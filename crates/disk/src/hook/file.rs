//! An open file whose operations run a hook.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use super::Hook;
use super::disk::{Gate, operation};
use crate::{Error, File, Op, Operation};

#[derive(Debug)]
pub(super) struct HookedFile<H> {
    inner: Arc<dyn File>,
    gate: Arc<Gate<H>>,
    path: Arc<Path>,
}

impl<H: Hook> HookedFile<H> {
    pub(super) fn new(inner: Arc<dyn File>, gate: Arc<Gate<H>>, path: &Path) -> Self {
        Self {
            inner,
            gate,
            path: path.into(),
        }
    }

    fn operation(&self, op: Op, position: u64, len: u64) -> Operation {
        Operation {
            position,
            len,
            ..operation(op, Arc::clone(&self.path))
        }
    }
}

impl<H: Hook> File for HookedFile<H> {
    fn read_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        let operation = self.operation(Op::Read, position, buf.len() as u64);
        self.gate
            .run(operation, None, || self.inner.read_at(buf, position))
    }

    fn read_direct_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        let operation = self.operation(Op::Read, position, buf.len() as u64);
        self.gate
            .run(operation, None, || self.inner.read_direct_at(buf, position))
    }

    fn read_cached_at(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, Error> {
        let operation = self.operation(Op::Read, position, buf.len() as u64);
        self.gate
            .run(operation, None, || self.inner.read_cached_at(buf, position))
    }

    fn write_at(&self, bufs: &[IoSlice<'_>], position: u64) -> Result<(), Error> {
        let len = bufs.iter().map(|slice| slice.len() as u64).sum();
        let operation = self.operation(Op::Write, position, len);
        self.gate
            .run(operation, Some(()), || self.inner.write_at(bufs, position))
    }

    fn write_direct_at(&self, buf: &[u8], position: u64) -> Result<(), Error> {
        let operation = self.operation(Op::Write, position, buf.len() as u64);
        self.gate.run(operation, Some(()), || {
            self.inner.write_direct_at(buf, position)
        })
    }

    fn sync_data(&self) -> Result<(), Error> {
        let operation = self.operation(Op::SyncData, 0, 0);
        self.gate
            .run(operation, Some(()), || self.inner.sync_data())
    }

    fn allocate(&self, position: u64, len: u64) -> Result<(), Error> {
        let operation = self.operation(Op::Allocate, position, len);
        self.gate
            .run(operation, Some(()), || self.inner.allocate(position, len))
    }

    fn set_len(&self, len: u64) -> Result<(), Error> {
        let operation = self.operation(Op::SetLen, len, 0);
        self.gate
            .run(operation, Some(()), || self.inner.set_len(len))
    }

    fn punch(&self, position: u64, len: u64) -> Result<(), Error> {
        let operation = self.operation(Op::Punch, position, len);
        self.gate
            .run(operation, Some(()), || self.inner.punch(position, len))
    }

    fn len(&self) -> Result<u64, Error> {
        self.gate
            .run(self.operation(Op::Len, 0, 0), None, || self.inner.len())
    }

    fn prefetch(&self, position: u64, len: u64) {
        self.inner.prefetch(position, len);
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.inner.as_fd()
    }
}

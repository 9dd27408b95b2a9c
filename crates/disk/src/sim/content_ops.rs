//! What operations on the contents of files do.

use std::io;
use std::ops::Range;

use types::Random;

use super::inode::{Inode, SECTOR};
use super::names::InodeId;
use super::pages::{PAGE, size};
use super::state::{State, fault_or};
use super::survival::Portion;
use crate::FaultKind;

/// The longest file, as on Linux.
const FILE_BYTES_MAX: u64 = i64::MAX as u64;

impl State {
    pub(super) fn write(
        &mut self,
        id: InodeId,
        position: u64,
        data: Vec<u8>,
        fault: Option<FaultKind>,
    ) -> io::Result<()> {
        let range = checked_range(position, data.len() as u64)?;
        self.power.note_bytes(&data);
        match fault {
            Some(FaultKind::Lie) => return Ok(()),
            Some(_) => self.write_any_part(id, position, &data)?,
            None if self.fits(id, &range)? => {
                self.change(id, |inode| inode.write(position, data))?;
            }
            None => {
                self.write_what_fits(id, position, data)?;
                return Err(no_space());
            }
        }
        fault_or(fault, ())
    }

    fn fits(&self, id: InodeId, range: &Range<u64>) -> io::Result<bool> {
        let missing = self.inode(id)?.cached.missing(range);
        Ok(missing == 0 || missing <= self.space().available_bytes / PAGE)
    }

    /// A failed write may leave any part of it behind.
    fn write_any_part(&mut self, id: InodeId, position: u64, data: &[u8]) -> io::Result<()> {
        let portion = Portion::torn(&mut self.random);
        let count = (data.len() as u64).div_ceil(SECTOR);
        for (index, piece) in (0u64..).zip(data.chunks(size(SECTOR))) {
            let at = position + index * SECTOR;
            let fits = self.fits(id, &(at..at + piece.len() as u64))?;
            if fits && portion.keeps(index, count, &mut self.random) {
                self.change(id, |inode| inode.write(at, piece.to_vec()))?;
            }
        }
        Ok(())
    }

    /// On a full device a write leaves what still had room, or nothing.
    fn write_what_fits(&mut self, id: InodeId, position: u64, mut data: Vec<u8>) -> io::Result<()> {
        if self.random.chance(1, 2) {
            let mut end = (position + data.len() as u64 - 1) / PAGE * PAGE;
            while end > position && !self.fits(id, &(position..end))? {
                end -= PAGE;
            }
            if end > position {
                data.truncate(size(end - position));
                self.change(id, |inode| inode.write(position, data))?;
            }
        }
        Ok(())
    }

    pub(super) fn sync(&mut self, id: InodeId, fault: Option<FaultKind>) -> io::Result<()> {
        self.change(id, |inode| match fault {
            None => inode.sync(),
            Some(FaultKind::Lie) => {}
            Some(_) => inode.lose_changes(),
        })?;
        fault_or(fault, ())
    }

    pub(super) fn allocate(
        &mut self,
        id: InodeId,
        position: u64,
        len: u64,
        fault: Option<FaultKind>,
    ) -> io::Result<()> {
        let range = checked_range(position, len)?;
        if let Some(FaultKind::Lie) = fault {
            return Ok(());
        }
        if fault.is_none() && self.fits(id, &range)? {
            return self.change(id, |inode| reserve(inode, range));
        }
        // Some file systems keep what they had reserved when the rest did not fit.
        let part = position..position + self.random.below(len / PAGE + 1) * PAGE;
        if self.random.chance(1, 2) && self.fits(id, &part)? {
            self.change(id, |inode| reserve(inode, part))?;
        }
        Err(fault.and_then(FaultKind::error).unwrap_or_else(no_space))
    }

    pub(super) fn set_len(
        &mut self,
        id: InodeId,
        len: u64,
        fault: Option<FaultKind>,
    ) -> io::Result<()> {
        checked_range(0, len)?;
        if self.takes_effect(fault) {
            self.change(id, |inode| inode.set_len(len))?;
        }
        fault_or(fault, ())
    }

    pub(super) fn punch(
        &mut self,
        id: InodeId,
        position: u64,
        len: u64,
        fault: Option<FaultKind>,
    ) -> io::Result<()> {
        let range = checked_range(position, len)?;
        if self.takes_effect(fault) {
            self.change(id, |inode| inode.punch(range))?;
        }
        fault_or(fault, ())
    }
}

fn reserve(inode: &mut Inode, range: Range<u64>) {
    if !range.is_empty() {
        inode.reserve(range);
    }
}

fn no_space() -> io::Error {
    rustix::io::Errno::NOSPC.into()
}

fn checked_range(position: u64, len: u64) -> io::Result<Range<u64>> {
    match position.checked_add(len) {
        Some(end) if end <= FILE_BYTES_MAX => Ok(position..end),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

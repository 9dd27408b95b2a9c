//! Writing a checkpoint, step by step.

use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, File};
use types::limits::JOB_STEP_BYTES;

use super::block::BlockChain;
use super::format::CONTENT_BYTES_MAX;
use super::header::CheckpointHeader;
use super::names::{checkpoint_path, folder, next_path, numbers};
use super::row::Row;
use crate::error::Error;

/// Writes one checkpoint. Until [`finish`](Self::finish) returns, the checkpoints that are there
/// stay what they are, whatever fails or stops.
#[derive(Debug)]
pub struct CheckpointWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    file: Arc<dyn File>,
    number: u64,
    previous: Option<u64>,
    chain: BlockChain,
    /// Content of the block under construction, and the rows that start in it.
    content: Vec<u8>,
    rows: u32,
    /// Bytes of the file that wait for a step, `written` of them taken.
    ready: Vec<u8>,
    written: usize,
    /// Byte of the file where the next step writes.
    position: u64,
}

/// A checkpoint that is whole, durable and has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number.
    pub number: u64,
    /// Its size.
    pub file_bytes: u64,
    /// Its rows.
    pub rows: u64,
}

impl CheckpointWriter {
    /// Begins a checkpoint in the data directory `dir`. `previous` is the one that is kept beside
    /// it: the last that was finished, or the one that was loaded.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin(
        disk: Arc<dyn Disk>,
        dir: &Path,
        header: &CheckpointHeader,
        previous: Option<u64>,
    ) -> Result<Self, Error> {
        disk.create_dir(&folder(dir))?;
        let file = open_next(disk.as_ref(), dir)?;
        let ready = header.encode();
        Ok(Self {
            disk,
            dir: dir.to_path_buf(),
            file,
            number: header.number,
            previous,
            chain: BlockChain::after_header(header.number, &ready),
            content: Vec::with_capacity(CONTENT_BYTES_MAX),
            rows: 0,
            ready,
            written: 0,
            position: 0,
        })
    }

    /// Makes the space of the next checkpoint sure, so that it can be written when the device is
    /// full. Cheap when there is enough already.
    ///
    /// # Errors
    /// Those of the device; [`disk::Error::is_no_space`] harms nothing.
    pub fn prepare_next(disk: &dyn Disk, dir: &Path, file_bytes: u64) -> Result<(), Error> {
        disk.create_dir(&folder(dir))?;
        let file = open_next(disk, dir)?;
        if file.len()? >= file_bytes {
            return Ok(());
        }
        file.allocate(0, file_bytes)?;
        file.sync_data()?;
        Ok(disk.sync_dir(&folder(dir))?)
    }

    /// Takes a row. It waits in memory for [`step`](Self::step).
    pub fn add(&mut self, row: &Row) {
        let mut bytes = Vec::with_capacity(row.value.len() + 32);
        row.encode(&mut bytes);
        if self.content.len() == CONTENT_BYTES_MAX {
            self.close_block();
        }
        self.rows += 1;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            if self.content.len() == CONTENT_BYTES_MAX {
                self.close_block();
            }
            let room = CONTENT_BYTES_MAX - self.content.len();
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.content.extend_from_slice(now);
            rest = later;
        }
    }

    /// Bytes that wait for a step: call one when it is worth a write.
    #[must_use]
    pub const fn waiting_bytes(&self) -> usize {
        self.ready.len() - self.written
    }

    /// Writes and syncs at most one step's bytes of what waits. False when nothing did.
    ///
    /// # Errors
    /// Those of the device: give this writer up then and begin anew.
    pub fn step(&mut self) -> Result<bool, Error> {
        let end = self
            .ready
            .len()
            .min(self.written.saturating_add(JOB_STEP_BYTES));
        let bytes = self.ready.get(self.written..end).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(false);
        }
        self.file.write_at(&[IoSlice::new(bytes)], self.position)?;
        self.file.sync_data().map_err(|error| self.abandon(error))?;
        self.position += bytes.len() as u64;
        self.written = end;
        if self.written == self.ready.len() {
            self.ready.clear();
            self.written = 0;
        }
        Ok(true)
    }

    /// Writes what is left and the end, gives the file its name, and removes what is neither this
    /// checkpoint nor the previous one.
    ///
    /// # Errors
    /// Those of the device. Whether the checkpoint counts is not known then: free nothing.
    pub fn finish(mut self) -> Result<Finished, Error> {
        self.close_block();
        self.chain.put_end(&mut self.ready);
        while self.step()? {}
        // What was allocated ahead and not needed. It does not count where it is, so the cut need
        // not be durable.
        if self.file.len()? > self.position {
            self.file.set_len(self.position)?;
        }
        let path = checkpoint_path(&self.dir, self.number);
        self.disk.rename(&next_path(&self.dir), &path)?;
        self.disk.sync_dir(&folder(&self.dir))?;
        self.retire()?;
        let rows = self.chain.rows();
        Ok(Finished {
            number: self.number,
            file_bytes: self.position,
            rows,
        })
    }

    /// After a failed sync nobody knows what the file holds (I4): the next checkpoint must not be
    /// written over it.
    fn abandon(&self, error: disk::Error) -> Error {
        if let Err(left) = self.disk.remove(&next_path(&self.dir)) {
            tracing::warn!(error = %left, "an unfinished checkpoint stays behind");
        }
        error.into()
    }

    fn close_block(&mut self) {
        if !self.content.is_empty() {
            self.chain
                .put_rows(&mut self.ready, self.rows, &self.content);
            self.content.clear();
            self.rows = 0;
        }
    }

    /// Removes the checkpoints that are not kept. One of them becomes the room of the next: its
    /// blocks are there already, and on a full device nobody can take them in between.
    fn retire(&self) -> Result<(), Error> {
        let kept = [Some(self.number), self.previous];
        let all = numbers(self.disk.as_ref(), &self.dir)?;
        let mut retired = all
            .into_iter()
            .filter(|number| !kept.contains(&Some(*number)));
        let Some(first) = retired.next() else {
            return Ok(());
        };
        self.disk
            .rename(&checkpoint_path(&self.dir, first), &next_path(&self.dir))?;
        for number in retired {
            self.disk.remove(&checkpoint_path(&self.dir, number))?;
        }
        Ok(self.disk.sync_dir(&folder(&self.dir))?)
    }
}

fn open_next(disk: &dyn Disk, dir: &Path) -> Result<Arc<dyn File>, Error> {
    let path = next_path(dir);
    match disk.open(&path) {
        Err(error) if error.is_not_found() => Ok(disk.create(&path)?),
        opened => Ok(opened?),
    }
}

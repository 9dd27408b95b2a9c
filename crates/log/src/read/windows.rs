//! Windows of files that were read lately, for all partitions that have records in them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use disk::{DirectBuffer, DirectPool, File};
use parking_lot::{Condvar, Mutex};
use types::FileSequence;
use types::limits::{
    BLOCK_BYTES, READ_AHEAD_WINDOWS, READ_WINDOW_BYTES, READ_WINDOWS_FREE_MAX,
    READ_WINDOWS_GONE_MAX,
};

use crate::error::Error;

/// A window: a file and the multiple of [`READ_WINDOW_BYTES`] where it starts.
type Key = (FileSequence, u64);

/// Memory that a window takes, however little of it was read.
#[expect(clippy::cast_possible_truncation, reason = "it is 1 MiB")]
const WINDOW_BYTES: usize = READ_WINDOW_BYTES as usize;

/// Keeps what was read from the device, a window at a time: partitions stand between each other in
/// a log file, so a window that one of them needs is soon needed by others. Files never change
/// where they were written, and their numbers are never used again.
///
/// Readers that go through the log side by side find each window here, read once, past the page
/// cache. Where they are too far apart for that, a window is asked for again after it had to go:
/// from then on it is the page cache's, which is much larger and costs more.
#[derive(Debug)]
pub(super) struct Windows {
    budget_bytes: usize,
    buffers: Arc<DirectPool>,
    state: Mutex<State>,
    loaded: Condvar,
}

#[derive(Debug, Default)]
struct State {
    windows: BTreeMap<Key, Window>,
    bytes: usize,
    /// Windows that a thread is reading.
    loading: BTreeSet<Key>,
    /// Windows that had to go, and the order in which they went.
    gone: BTreeSet<Key>,
    gone_order: VecDeque<Key>,
    /// Counts uses.
    uses: u64,
}

#[derive(Debug)]
struct Window {
    bytes: Bytes,
    last_use: u64,
    /// Somebody read in it.
    is_used: bool,
}

/// The pieces of a range.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) pieces: Vec<Bytes>,
    /// One is the first that anybody read in its window: whoever reads on soon needs the next ones.
    pub(super) is_new: bool,
}

impl Found {
    fn push(&mut self, (piece, is_new): (Bytes, bool)) {
        self.pieces.push(piece);
        self.is_new |= is_new;
    }

    /// The same bytes, in memory of their own.
    pub(super) fn copied(self) -> Self {
        let pieces = self.pieces.iter();
        Self {
            pieces: pieces.map(|piece| Bytes::copy_from_slice(piece)).collect(),
            is_new: self.is_new,
        }
    }
}

/// Bytes of a file to be found in windows.
#[derive(Clone, Copy)]
pub(super) struct Range<'a> {
    pub(super) file: &'a dyn File,
    pub(super) sequence: FileSequence,
    pub(super) position: u64,
    pub(super) bytes: u64,
    /// Up to here the file may be read for others as well: what is behind may be being written.
    pub(super) readable_end: u64,
}

impl Range<'_> {
    fn end(&self) -> u64 {
        self.position + self.bytes
    }

    /// The windows that it lies in, with its part of each: from and to.
    fn parts(&self) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (position, end) = (self.position, self.end());
        let first = position - position % READ_WINDOW_BYTES;
        let step = usize::try_from(READ_WINDOW_BYTES).unwrap_or(usize::MAX);
        (first..end).step_by(step).map(move |start| {
            (
                start,
                start.max(position),
                end.min(start + READ_WINDOW_BYTES),
            )
        })
    }
}

impl Windows {
    pub(super) fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            buffers: DirectPool::new(WINDOW_BYTES, READ_WINDOWS_FREE_MAX),
            state: Mutex::default(),
            loaded: Condvar::new(),
        }
    }

    /// The pieces of a range, if nobody must wait for them.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn get(&self, range: &Range<'_>) -> Result<Option<Found>, Error> {
        let mut all = Found::default();
        for (start, from, to) in range.parts() {
            let key = (range.sequence, start);
            let (found, is_gone) = {
                let mut state = self.state.lock();
                (state.get(key, from, to), state.gone.contains(&key))
            };
            let found = match found {
                None if is_gone => cached(range.file, from, to)?.map(|piece| (piece, false)),
                found => found,
            };
            match found {
                Some(piece) => all.push(piece),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// The pieces of a range; what is not here is read. For threads that may wait.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn read(&self, range: &Range<'_>) -> Result<Found, Error> {
        let mut all = Found::default();
        for (start, from, to) in range.parts() {
            all.push(self.read_part(range, start, from, to)?);
        }
        Ok(all)
    }

    /// Reads the windows behind the one where `range` begins, as far as nobody did or does. Best
    /// effort.
    pub(super) fn read_ahead(&self, range: &Range<'_>) {
        let first = range.position - range.position % READ_WINDOW_BYTES;
        for window in 1..=READ_AHEAD_WINDOWS {
            let start = first + window * READ_WINDOW_BYTES;
            if start >= range.readable_end {
                return;
            }
            let key = (range.sequence, start);
            let is_wanted = {
                let mut state = self.state.lock();
                let is_known = state.windows.contains_key(&key) || state.gone.contains(&key);
                !is_known && state.loading.insert(key)
            };
            if is_wanted && self.load_and_keep(range, start, start + 1, false).is_err() {
                // Whoever needs it will hear of the error.
                return;
            }
        }
    }

    /// A part of a window, and whether it is the first that anybody read there.
    fn read_part(
        &self,
        range: &Range<'_>,
        start: u64,
        from: u64,
        to: u64,
    ) -> Result<(Bytes, bool), Error> {
        let key = (range.sequence, start);
        let mut state = self.state.lock();
        loop {
            if let Some(found) = state.get(key, from, to) {
                return Ok(found);
            }
            if state.gone.contains(&key) {
                drop(state);
                return Ok((self.read_again(range, start, from, to)?, false));
            }
            if state.loading.insert(key) {
                break;
            }
            self.loaded.wait(&mut state);
        }
        drop(state);
        let Ok(bytes) = self.load_and_keep(range, start, to, true) else {
            // One sector that cannot be read does not take all that stands around it.
            return Ok((exactly(range.file, from, to)?, true));
        };
        let part = slice(&bytes, start, from, to);
        let part = part.map_or_else(|| exactly(range.file, from, to), Ok)?;
        Ok((part, true))
    }

    /// Reads a window that the caller marked as loading.
    fn load_and_keep(
        &self,
        range: &Range<'_>,
        start: u64,
        to: u64,
        is_used: bool,
    ) -> Result<Bytes, Error> {
        let key = (range.sequence, start);
        let read = self.load(range, start, to);
        let mut state = self.state.lock();
        state.loading.remove(&key);
        self.loaded.notify_all();
        let bytes = read?;
        state.put(key, bytes.clone(), is_used, self.budget_bytes);
        Ok(bytes)
    }

    /// A part of a window that had to go before. The first time all of it passes through the page
    /// cache, for those who come next.
    fn read_again(
        &self,
        range: &Range<'_>,
        start: u64,
        from: u64,
        to: u64,
    ) -> Result<Bytes, Error> {
        if let Some(bytes) = cached(range.file, from, to)? {
            return Ok(bytes);
        }
        let end = range.readable_end.max(to).min(start + READ_WINDOW_BYTES);
        let mut window = self.take(end - start);
        let Ok(got) = range.file.read_at(&mut window, start) else {
            return exactly(range.file, from, to);
        };
        let part = slice(&window.freeze(got), start, from, to);
        part.map_or_else(|| exactly(range.file, from, to), Ok)
    }

    /// Reads a window, as far as the file may be read, past the page cache: what was written past
    /// it is not there, and to put it there costs more than to read it.
    fn load(&self, range: &Range<'_>, start: u64, to: u64) -> Result<Bytes, Error> {
        let end = range.readable_end.max(to).next_multiple_of(BLOCK_BYTES);
        let mut window = self.take(end.min(start + READ_WINDOW_BYTES) - start);
        let got = range.file.read_direct_at(&mut window, start)?;
        Ok(window.freeze(got))
    }

    fn take(&self, bytes: u64) -> DirectBuffer {
        self.buffers.take(in_memory(bytes))
    }
}

impl State {
    fn note_gone(&mut self, key: Key) {
        if self.gone.insert(key) {
            self.gone_order.push_back(key);
        }
        if self.gone_order.len() > READ_WINDOWS_GONE_MAX
            && let Some(oldest) = self.gone_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }

    /// The bytes from `from` to `to` of the file, if their window has them, and whether they are the
    /// first that anybody read there.
    fn get(&mut self, key: Key, from: u64, to: u64) -> Option<(Bytes, bool)> {
        let window = self.windows.get_mut(&key)?;
        let part = slice(&window.bytes, key.1, from, to)?;
        self.uses += 1;
        window.last_use = self.uses;
        Some((part, !std::mem::replace(&mut window.is_used, true)))
    }

    fn put(&mut self, key: Key, bytes: Bytes, is_used: bool, budget_bytes: usize) {
        self.uses += 1;
        self.bytes += WINDOW_BYTES;
        let window = Window {
            bytes,
            last_use: self.uses,
            is_used,
        };
        if self.windows.insert(key, window).is_some() {
            self.bytes -= WINDOW_BYTES;
        }
        while self.bytes > budget_bytes && self.windows.len() > 1 {
            let oldest = self
                .windows
                .iter()
                .min_by_key(|(_, window)| window.last_use);
            let Some(oldest) = oldest.map(|(key, _)| *key) else {
                return;
            };
            if self.windows.remove(&oldest).is_some() {
                self.bytes -= WINDOW_BYTES;
            }
            self.note_gone(oldest);
        }
    }
}

/// Bytes that a window does not have though it was read up to them: the file is too short.
fn exactly(file: &dyn File, from: u64, to: u64) -> Result<Bytes, Error> {
    let mut bytes = vec![0; in_memory(to - from)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes.into())
}

/// A part of a file, if the page cache has it.
fn cached(file: &dyn File, from: u64, to: u64) -> Result<Option<Bytes>, Error> {
    let mut bytes = vec![0; in_memory(to - from)];
    let got = file.read_cached_at(&mut bytes, from)?;
    Ok((got == Some(bytes.len())).then(|| bytes.into()))
}

fn slice(window: &Bytes, start: u64, from: u64, to: u64) -> Option<Bytes> {
    let (from, to) = (in_memory(from - start), in_memory(to - start));
    (to <= window.len()).then(|| window.slice(from..to))
}

fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::{Disk, Fault, FaultKind, Op, SimDisk};
    use std::io::IoSlice;
    use std::path::Path;

    const WINDOW: u64 = READ_WINDOW_BYTES;

    fn file(disk: &SimDisk, bytes: &[u8]) -> Arc<dyn File> {
        let file = disk.create(Path::new("/f")).unwrap();
        file.write_at(&[IoSlice::new(bytes)], 0).unwrap();
        file
    }

    fn content(bytes: u64) -> Vec<u8> {
        (0..bytes).map(|at| (at / 100 % 251) as u8).collect()
    }

    fn range(file: &dyn File, position: u64, bytes: u64, readable_end: u64) -> Range<'_> {
        Range {
            file,
            sequence: FileSequence(1),
            position,
            bytes,
            readable_end,
        }
    }

    #[test]
    fn what_was_read_for_one_is_there_for_others() {
        let content = content(3 * WINDOW);
        let disk = SimDisk::new(1);
        let file = file(&disk, &content);
        let windows = Windows::new(8 * in_memory(WINDOW));
        let across = range(file.as_ref(), WINDOW - 10, 20, 3 * WINDOW);
        assert_eq!(windows.get(&across).unwrap(), None);
        let read = windows.read(&across).unwrap();
        assert_eq!(read.pieces.len(), 2);
        let at = in_memory(WINDOW);
        assert_eq!(read.pieces.concat(), content[at - 10..at + 10]);
        let neighbour = range(file.as_ref(), 5, 2 * WINDOW - 5, 3 * WINDOW);
        let found = windows.get(&neighbour).unwrap().unwrap();
        assert_eq!(found.pieces.concat(), content[5..2 * at]);
        let third = range(file.as_ref(), 2 * WINDOW, 1, 3 * WINDOW);
        assert_eq!(windows.get(&third).unwrap(), None);
    }

    #[test]
    fn a_window_that_ended_early_is_read_again_when_more_of_it_was_written() {
        let content = content(WINDOW);
        let disk = SimDisk::new(1);
        let file = file(&disk, &content[..8192]);
        let windows = Windows::new(in_memory(WINDOW));
        let first = range(file.as_ref(), 100, 50, 150);
        assert_eq!(
            windows.read(&first).unwrap().pieces.concat(),
            content[100..150]
        );
        file.write_at(&[IoSlice::new(&content)], 0).unwrap();
        let later = range(file.as_ref(), 9_000, 50, 9_050);
        assert_eq!(windows.get(&later).unwrap(), None);
        assert_eq!(
            windows.read(&later).unwrap().pieces.concat(),
            content[9_000..9_050]
        );
    }

    #[test]
    fn the_windows_used_longest_ago_go_over_budget_and_are_the_page_caches_from_then_on() {
        let content = content(3 * WINDOW);
        let disk = SimDisk::new(1);
        let file = file(&disk, &content);
        let windows = Windows::new(2 * in_memory(WINDOW));
        let at = |window: u64| range(file.as_ref(), window * WINDOW, 10, 3 * WINDOW);
        let is_kept = |window: u64| {
            let key = (FileSequence(1), window * WINDOW);
            windows.state.lock().windows.contains_key(&key)
        };
        windows.read(&at(0)).unwrap();
        windows.read(&at(1)).unwrap();
        assert!(windows.get(&at(0)).unwrap().is_some());
        windows.read(&at(2)).unwrap();
        assert_eq!([is_kept(0), is_kept(1), is_kept(2)], [true, false, true]);
        let again = windows.read(&at(1)).unwrap().pieces.concat();
        assert_eq!(again, content[in_memory(WINDOW)..in_memory(WINDOW) + 10]);
        assert_eq!([is_kept(0), is_kept(1), is_kept(2)], [true, false, true]);
    }

    #[test]
    fn a_window_that_cannot_be_read_as_a_whole_is_read_in_parts() {
        let content = content(WINDOW);
        let disk = SimDisk::new(1);
        let file = file(&disk, &content);
        let windows = Windows::new(in_memory(WINDOW));
        let part = range(file.as_ref(), 100, 50, WINDOW);
        disk.inject(Fault::new(Op::Read, FaultKind::Io));
        let read = windows.read(&part).unwrap();
        assert_eq!(read.pieces.concat(), content[100..150]);
        disk.inject(Fault::new(Op::Read, FaultKind::Io).times(2));
        assert!(windows.read(&part).is_err());
    }

    #[test]
    fn what_comes_next_is_read_ahead_up_to_the_end() {
        let content = content(3 * WINDOW);
        let disk = SimDisk::new(1);
        let file = file(&disk, &content);
        let windows = Windows::new(8 * in_memory(WINDOW));
        let first = range(file.as_ref(), 5, 10, 2 * WINDOW + 8192);
        windows.read_ahead(&first);
        assert_eq!(windows.get(&first).unwrap(), None);
        let ahead = range(file.as_ref(), WINDOW, WINDOW + 8192, 3 * WINDOW);
        let at = in_memory(WINDOW);
        let found = windows.get(&ahead).unwrap().unwrap();
        assert!(found.is_new, "nobody read there before");
        assert!(!windows.get(&ahead).unwrap().unwrap().is_new);
        assert_eq!(found.pieces.concat(), content[at..2 * at + 8192]);
        let behind = range(file.as_ref(), 2 * WINDOW + 8192, 10, 3 * WINDOW);
        assert_eq!(windows.get(&behind).unwrap(), None);
    }

    #[test]
    fn the_end_of_the_file_is_an_error() {
        let disk = SimDisk::new(1);
        let file = file(&disk, &content(8192));
        let windows = Windows::new(in_memory(WINDOW));
        let beyond = range(file.as_ref(), 8_000, 1_000, 9_000);
        assert!(windows.read(&beyond).is_err());
        assert!(windows.read(&beyond).is_err(), "nobody waits for ever");
    }
}

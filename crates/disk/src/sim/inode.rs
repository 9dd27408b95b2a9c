//! One file: what readers see, what the device holds, and the changes between the two.

use std::ops::Range;
use std::sync::Arc;

use types::SeededRandom;

use super::pages::{PAGE, Pages, size};
use super::survival::{Portion, Survival};

/// What a device writes whole or not at all.
pub(super) const SECTOR: u64 = 512;

/// A change that no sync covers yet.
#[derive(Clone, Debug)]
struct Change {
    kind: Kind,
    /// Length of the file after it.
    len: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Whole sectors, from this one on. Bytes that the caller did not write are as readers saw them.
    Write { sector: u64, data: Arc<Vec<u8>> },
    /// Blocks taken for a range of bytes.
    Reserve(Range<u64>),
    /// Whole sectors given back or zeroed.
    Punch(Range<u64>),
    /// The length set.
    SetLen,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    /// As readers see it: the page cache.
    pub(super) cached: Pages,
    pub(super) len: u64,
    /// As the device holds it.
    pub(super) durable: Pages,
    pub(super) durable_len: u64,
    changes: Vec<Change>,
    /// It has a name.
    pub(super) linked: bool,
    /// Open files of the present life.
    pub(super) open_count: u32,
}

impl Inode {
    /// An empty file with a name.
    pub(super) fn named() -> Self {
        Self {
            linked: true,
            ..Self::default()
        }
    }

    /// A file with a name that the device holds as it is.
    pub(super) fn synced(bytes: &[u8]) -> Self {
        let mut pages = Pages::default();
        pages.write(0, bytes);
        let len = bytes.len() as u64;
        let (cached, durable) = (pages.clone(), pages);
        Self {
            cached,
            len,
            durable,
            durable_len: len,
            ..Self::named()
        }
    }

    /// Its blocks are taken: somebody can still reach it.
    pub(super) fn counts(&self) -> bool {
        self.linked || self.open_count > 0
    }

    pub(super) fn has_unsynced(&self) -> bool {
        !self.changes.is_empty()
    }

    pub(super) fn read(&self, position: u64, buf: &mut [u8]) -> usize {
        let count = size(self.len.saturating_sub(position)).min(buf.len());
        self.cached.read(position, &mut buf[..count]);
        count
    }

    pub(super) fn write(&mut self, position: u64, data: Vec<u8>) {
        if data.is_empty() {
            return;
        }
        self.len = self.len.max(position + data.len() as u64);
        self.cached.write(position, &data);
        self.note_write(position, data);
    }

    /// Keeps what was written to the cache, widened to whole sectors.
    fn note_write(&mut self, position: u64, data: Vec<u8>) {
        let start = position - position % SECTOR;
        let end = (position + data.len() as u64).next_multiple_of(SECTOR);
        let whole = if data.len() as u64 == end - start {
            data
        } else {
            let mut whole = vec![0; size(end - start)];
            self.cached.read(start, &mut whole);
            whole
        };
        self.note(Kind::Write {
            sector: start / SECTOR,
            data: Arc::new(whole),
        });
    }

    fn note(&mut self, kind: Kind) {
        self.changes.push(Change {
            kind,
            len: self.len,
        });
    }

    pub(super) fn reserve(&mut self, range: Range<u64>) {
        self.cached.reserve(&range);
        self.len = self.len.max(range.end);
        self.note(Kind::Reserve(range));
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.cached.truncate(len);
        self.len = len;
        self.note(Kind::SetLen);
    }

    /// The edges that fill no sector are ordinary writes of zeros.
    pub(super) fn punch(&mut self, range: Range<u64>) {
        let range = range.start..range.end.min(self.len.next_multiple_of(PAGE));
        if range.is_empty() {
            return;
        }
        self.cached.punch(&range);
        let whole = range.start.next_multiple_of(SECTOR)..range.end - range.end % SECTOR;
        if whole.start >= whole.end {
            return self.note_zeros(range);
        }
        self.note_zeros(range.start..whole.start);
        self.note(Kind::Punch(whole.clone()));
        self.note_zeros(whole.end..range.end);
    }

    fn note_zeros(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.note_write(range.start, vec![0; size(range.end - range.start)]);
        }
    }

    /// Makes all changes durable.
    pub(super) fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            self.durable_len = change.len;
            apply_whole(&mut self.durable, &change);
        }
    }

    /// The pages are clean and the device does not have them: what Linux makes of a failed sync.
    pub(super) fn lose_changes(&mut self) {
        self.changes.clear();
    }

    /// Flips bits wherever the byte is kept.
    pub(super) fn corrupt(&mut self, position: u64, mask: u8) {
        for (pages, len) in [
            (&mut self.cached, self.len),
            (&mut self.durable, self.durable_len),
        ] {
            if position < len {
                let mut byte = [0];
                pages.read(position, &mut byte);
                pages.write(position, &[byte[0] ^ mask]);
            }
        }
        for change in &mut self.changes {
            if let Kind::Write { sector, data } = &mut change.kind
                && let Some(index) = position.checked_sub(*sector * SECTOR)
                && let Some(byte) = Arc::make_mut(data).get_mut(size(index))
            {
                *byte ^= mask;
            }
        }
    }

    /// Lets a power cut decide what of the changes the device holds.
    pub(super) fn cut(&mut self, random: &mut SeededRandom) {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            let survival = Survival::choose(changes.len(), random);
            let sizes = survival.sizes(changes.len(), random);
            for (index, change) in changes.iter().enumerate() {
                let portion = survival.portion(index, random);
                apply(&mut self.durable, change, index < sizes, portion, random);
            }
            let last = sizes.checked_sub(1).and_then(|index| changes.get(index));
            self.durable_len = last.map_or(self.durable_len, |change| change.len);
            self.durable.truncate(self.durable_len);
        }
        self.cached = self.durable.clone();
        self.len = self.durable_len;
        self.open_count = 0;
    }
}

/// `sized` says whether the length and the blocks that came with the change survive.
fn apply(
    pages: &mut Pages,
    change: &Change,
    sized: bool,
    portion: Portion,
    random: &mut SeededRandom,
) {
    match &change.kind {
        Kind::SetLen if sized => pages.truncate(change.len),
        Kind::Reserve(range) if sized => pages.reserve(range),
        Kind::SetLen | Kind::Reserve(_) => {}
        Kind::Write { sector, data } => {
            for kept in runs(data.len() as u64 / SECTOR, portion, random) {
                let bytes = &data[size(kept.start * SECTOR)..size(kept.end * SECTOR)];
                pages.write((sector + kept.start) * SECTOR, bytes);
            }
        }
        Kind::Punch(range) => {
            for kept in runs((range.end - range.start) / SECTOR, portion, random) {
                let (start, end) = (kept.start * SECTOR, kept.end * SECTOR);
                pages.punch(&(range.start + start..range.start + end));
            }
        }
    }
}

fn apply_whole(pages: &mut Pages, change: &Change) {
    match &change.kind {
        Kind::SetLen => pages.truncate(change.len),
        Kind::Reserve(range) => pages.reserve(range),
        Kind::Write { sector, data } => pages.write(sector * SECTOR, data),
        Kind::Punch(range) => pages.punch(range),
    }
}

/// The runs of sectors, out of `count`, that survive.
fn runs(count: u64, portion: Portion, random: &mut SeededRandom) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    if matches!(portion, Portion::Everything) {
        runs.push(0..count);
        return runs;
    }
    for index in 0..count {
        if portion.keeps(index, count, random) {
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
    }
    runs
}

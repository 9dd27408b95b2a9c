//! Extents kept in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use types::{PartitionId, SegmentId};

use super::extent::Extent;
use super::handle::Segment;
use crate::error::Error;

type Key = (SegmentId, PartitionId);

/// Bytes that an entry takes besides its extents, about.
const ENTRY_BYTES: usize = 128;

/// Extents that were read lately, under a bound in bytes. The one that was not used for the
/// longest time goes first.
#[derive(Debug)]
pub struct ExtentCache {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    extents: BTreeMap<Key, (u64, Arc<[Extent]>)>,
    /// Keys by their last use.
    uses: BTreeMap<u64, Key>,
    last_use: u64,
    bytes: usize,
}

impl ExtentCache {
    /// A cache of at most `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            kept: Mutex::default(),
        }
    }

    /// The extents of a partition in a segment, if they are kept.
    #[must_use]
    pub fn get(&self, segment: SegmentId, partition: PartitionId) -> Option<Arc<[Extent]>> {
        self.kept.lock().touch((segment, partition))
    }

    /// Keeps the extents of a partition in a segment, unless they alone are more than the bound.
    pub fn insert(&self, segment: SegmentId, partition: PartitionId, extents: Arc<[Extent]>) {
        if size(&extents) <= self.bytes_max {
            self.kept
                .lock()
                .insert((segment, partition), extents, self.bytes_max);
        }
    }

    /// The extents of a partition in a segment, read from its footer unless they are kept. No
    /// lock is held while reading.
    ///
    /// # Errors
    /// Those of [`Segment::extents`].
    pub fn load(&self, segment: &Segment, partition: PartitionId) -> Result<Arc<[Extent]>, Error> {
        if let Some(extents) = self.get(segment.id(), partition) {
            return Ok(extents);
        }
        let extents = segment.extents(partition)?;
        self.insert(segment.id(), partition, Arc::clone(&extents));
        Ok(extents)
    }

    /// Forgets a segment.
    pub fn forget(&self, segment: SegmentId) {
        let mut kept = self.kept.lock();
        let all = (segment, PartitionId(0))..=(segment, PartitionId(u32::MAX));
        let keys: Vec<Key> = kept.extents.range(all).map(|(key, _)| *key).collect();
        for key in keys {
            kept.remove(key);
        }
    }

    /// Bytes that are taken.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kept.lock().bytes
    }
}

fn size(extents: &[Extent]) -> usize {
    size_of_val(extents) + ENTRY_BYTES
}

impl Kept {
    fn touch(&mut self, key: Key) -> Option<Arc<[Extent]>> {
        let (used, extents) = self.extents.get_mut(&key)?;
        self.last_use += 1;
        self.uses.remove(used);
        *used = self.last_use;
        self.uses.insert(self.last_use, key);
        Some(Arc::clone(extents))
    }

    fn insert(&mut self, key: Key, extents: Arc<[Extent]>, bytes_max: usize) {
        // Another reader may have been faster.
        self.remove(key);
        self.last_use += 1;
        self.bytes += size(&extents);
        self.uses.insert(self.last_use, key);
        self.extents.insert(key, (self.last_use, extents));
        while self.bytes > bytes_max
            && let Some((_, oldest)) = self.uses.first_key_value()
        {
            self.remove(*oldest);
        }
    }

    fn remove(&mut self, key: Key) {
        if let Some((used, extents)) = self.extents.remove(&key) {
            self.uses.remove(&used);
            self.bytes -= size(&extents);
        }
    }
}

//! Buffers for reads past the page cache that go round.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use types::limits::HUGE_PAGE_BYTES;

use crate::memory::{aligned, new_memory};

/// Hands out buffers of one size, several of them out of one huge page, and takes each back on its
/// own: who reads in one does not keep its neighbour.
#[derive(Debug)]
pub struct DirectPool {
    buffer_bytes: usize,
    kept_max: usize,
    free: Mutex<Vec<BytesMut>>,
}

impl DirectPool {
    /// A pool of buffers of so many bytes, of which some make a huge page. It keeps `kept_max` that
    /// nobody uses.
    #[must_use]
    pub fn new(buffer_bytes: usize, kept_max: usize) -> Arc<Self> {
        debug_assert!(HUGE_PAGE_BYTES.is_multiple_of(buffer_bytes));
        Arc::new(Self {
            buffer_bytes,
            kept_max,
            free: Mutex::default(),
        })
    }

    /// A buffer of `len` bytes of unknown content, at most as many as the pool's have. It starts at
    /// a block boundary of memory.
    #[must_use]
    pub fn take(self: &Arc<Self>, len: usize) -> DirectBuffer {
        debug_assert!(len <= self.buffer_bytes);
        let free = self.free.lock().pop();
        DirectBuffer {
            memory: free.unwrap_or_else(|| self.make()),
            len: len.min(self.buffer_bytes),
            pool: Arc::clone(self),
        }
    }

    fn make(&self) -> BytesMut {
        let mut rest = aligned(new_memory(HUGE_PAGE_BYTES), HUGE_PAGE_BYTES);
        rest.resize(HUGE_PAGE_BYTES, 0);
        let first = rest.split_to(self.buffer_bytes);
        let mut free = self.free.lock();
        while rest.len() >= self.buffer_bytes {
            free.push(rest.split_to(self.buffer_bytes));
        }
        first
    }
}

/// A buffer of a [`DirectPool`].
#[derive(Debug)]
pub struct DirectBuffer {
    memory: BytesMut,
    len: usize,
    pool: Arc<DirectPool>,
}

impl DirectBuffer {
    /// Its first `len` bytes, to be shared. The pool has it back when the last of them are gone.
    #[must_use]
    pub fn freeze(self, len: usize) -> Bytes {
        let len = len.min(self.len);
        Bytes::from_owner(self).slice(..len)
    }
}

impl Deref for DirectBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }
}

impl DerefMut for DirectBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(..self.len).unwrap_or_default()
    }
}

impl AsRef<[u8]> for DirectBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for DirectBuffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        let mut free = self.pool.free.lock();
        if free.len() < self.pool.kept_max {
            free.push(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = HUGE_PAGE_BYTES / 2;

    #[test]
    fn buffers_share_a_huge_page_and_come_back_one_by_one() {
        let pool = DirectPool::new(HALF, 4);
        let (first, second) = (pool.take(HALF), pool.take(100));
        assert_eq!((first.len(), second.len()), (HALF, 100));
        let pages = [first.as_ptr().addr(), second.as_ptr().addr()].map(|at| at / HUGE_PAGE_BYTES);
        assert_eq!(pages[0], pages[1]);
        let address = first.as_ptr();
        let shared = first.freeze(HALF);
        let part = shared.slice(5..10);
        drop(shared);
        assert_ne!(pool.take(HALF).as_ptr(), address, "somebody reads in it");
        drop(part);
        assert_eq!(pool.take(HALF).as_ptr(), address);
    }

    #[test]
    fn no_more_are_kept_than_wanted() {
        let pool = DirectPool::new(HALF, 3);
        let many: Vec<_> = (0..8).map(|_| pool.take(HALF)).collect();
        drop(many);
        assert_eq!(pool.free.lock().len(), 3);
    }
}

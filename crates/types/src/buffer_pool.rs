//! Memory of large short-lived buffers that goes round instead of back to the allocator.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::{POOLED_BUFFER_BYTES_MAX, POOLED_BUFFER_BYTES_MIN};

/// Keeps a bounded number of bytes of given-back buffers for those who need one next. What lives
/// for milliseconds at a high rate would otherwise be mapped, cleared and unmapped each time, or
/// stay with the allocator. The default pool keeps nothing.
#[derive(Debug, Default)]
pub struct BufferPool {
    kept_bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl BufferPool {
    /// A pool that keeps at most `kept_bytes_max` of what nobody uses.
    #[must_use]
    pub fn new(kept_bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            kept_bytes_max,
            kept: Mutex::default(),
        })
    }

    /// An empty buffer with room for at least `capacity` bytes.
    #[must_use]
    pub fn take(self: &Arc<Self>, capacity: usize) -> PooledBuffer {
        let class = class_of(capacity);
        let kept = class.and_then(|class| self.kept().take(class));
        let mut bytes = kept.unwrap_or_else(|| Vec::with_capacity(class.unwrap_or(capacity)));
        bytes.clear();
        PooledBuffer {
            bytes,
            pool: Arc::clone(self),
        }
    }

    fn give_back(&self, bytes: Vec<u8>) {
        let capacity = bytes.capacity();
        if !(POOLED_BUFFER_BYTES_MIN..=POOLED_BUFFER_BYTES_MAX).contains(&capacity) {
            return;
        }
        let mut kept = self.kept();
        while kept.bytes + capacity > self.kept_bytes_max {
            // Large ones cost more to come by.
            if !kept.drop_smaller(capacity) {
                return;
            }
        }
        kept.bytes += capacity;
        kept.buffers.push(bytes);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The last buffer given back that has room for `class`, if it has not much more.
    fn take(&mut self, class: usize) -> Option<Vec<u8>> {
        let fits = |buffer: &Vec<u8>| (class..=2 * class).contains(&buffer.capacity());
        let at = self.buffers.iter().rposition(fits)?;
        let buffer = self.buffers.swap_remove(at);
        self.bytes -= buffer.capacity();
        Some(buffer)
    }

    /// Lets the smallest buffer go; false when none is smaller than `capacity`.
    fn drop_smaller(&mut self, capacity: usize) -> bool {
        let sizes = self.buffers.iter().map(Vec::capacity).enumerate();
        let Some((at, smallest)) = sizes.min_by_key(|(_, size)| *size) else {
            return false;
        };
        if smallest < capacity {
            self.buffers.swap_remove(at);
            self.bytes -= smallest;
        }
        smallest < capacity
    }
}

/// The size that a buffer of `bytes` gets so that others can use it as well; `None` of one that
/// is too small or too large to be kept.
fn class_of(bytes: usize) -> Option<usize> {
    let class = bytes.checked_next_multiple_of(POOLED_BUFFER_BYTES_MIN)?;
    (bytes > POOLED_BUFFER_BYTES_MIN / 2 && class <= POOLED_BUFFER_BYTES_MAX).then_some(class)
}

/// A buffer that goes back to its pool when it is dropped.
#[derive(Debug)]
pub struct PooledBuffer {
    bytes: Vec<u8>,
    pool: Arc<BufferPool>,
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.bytes));
    }
}

impl Deref for PooledBuffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 4 * POOLED_BUFFER_BYTES_MIN;

    #[test]
    fn what_is_given_back_is_used_again() {
        let pool = BufferPool::new(LARGE);
        let mut first = pool.take(LARGE - 5);
        first.extend_from_slice(b"abc");
        let address = first.as_ptr();
        drop(first);
        let second = pool.take(LARGE);
        assert_eq!(second.as_ptr(), address);
        assert!(second.is_empty());
        assert_eq!(pool.take(LARGE).capacity(), LARGE);
    }

    #[test]
    fn no_more_than_the_bound_is_kept() {
        let pool = BufferPool::new(LARGE);
        let (first, second) = (pool.take(LARGE), pool.take(LARGE));
        drop((first, second));
        assert_eq!(pool.kept().bytes, LARGE);
        assert_eq!(pool.kept().buffers.len(), 1);
    }

    #[test]
    fn larger_buffers_are_kept_in_the_place_of_smaller_ones() {
        let pool = BufferPool::new(LARGE);
        drop((pool.take(LARGE / 2), pool.take(LARGE / 2)));
        assert_eq!(pool.kept().buffers.len(), 2);
        drop(pool.take(LARGE));
        assert_eq!(pool.kept().buffers[0].capacity(), LARGE);
        drop(pool.take(LARGE / 4));
        assert_eq!(pool.kept().bytes, LARGE);
        assert_eq!(pool.kept().buffers.len(), 1);
    }

    #[test]
    fn small_and_huge_buffers_are_not_kept() {
        let pool = BufferPool::new(usize::MAX);
        drop(pool.take(100));
        drop(pool.take(POOLED_BUFFER_BYTES_MAX + 1));
        assert_eq!(pool.kept().bytes, 0);
    }
}

//! Memory for writes past the page cache that goes round.

use std::collections::VecDeque;

use bytes::BytesMut;
use types::limits::HUGE_PAGE_BYTES;

use crate::boundary::block;
use crate::memory::{aligned, new_memory};

/// Hands out buffers that stand one behind the other in large pieces of memory. Whoever lets them go
/// about in the order in which it took them makes whole slabs free, and none is given back to the
/// system and asked for again as long as as many are in use.
#[derive(Debug)]
pub struct Slabs {
    slab_bytes: usize,
    slabs_max: usize,
    /// What is left of the present slab: empty, at a block boundary.
    current: Option<BytesMut>,
    /// The ends of former slabs, oldest first; they hold on to their memory.
    full: VecDeque<BytesMut>,
}

/// Slabs that nobody uses and that are kept beside the one that is taken next.
const FREE_SLABS_KEPT: usize = 3;

impl Slabs {
    /// Slabs of so many bytes, a multiple of [`HUGE_PAGE_BYTES`]; of those in use, so many are
    /// remembered for their next use. More belong to who reads in them.
    #[must_use]
    pub fn new(slab_bytes: usize, slabs_max: usize) -> Self {
        debug_assert!(slab_bytes.is_multiple_of(HUGE_PAGE_BYTES));
        Self {
            slab_bytes,
            slabs_max,
            current: None,
            full: VecDeque::new(),
        }
    }

    /// An empty buffer with room for exactly `bytes`, a multiple of a block, at a block boundary of
    /// memory.
    pub fn take(&mut self, bytes: usize) -> BytesMut {
        debug_assert!(bytes.is_multiple_of(block()));
        if bytes > self.slab_bytes {
            return aligned(new_memory(bytes), bytes);
        }
        let has_room = |slab: &mut BytesMut| slab.capacity() >= bytes;
        let mut current = match self.current.take_if(has_room) {
            Some(current) => current,
            None => self.turn_over(),
        };
        self.current = Some(current.split_off(bytes));
        current
    }

    /// The next slab in the place of the present one.
    fn turn_over(&mut self) -> BytesMut {
        let next = aligned(self.next(), self.slab_bytes);
        self.full.extend(self.current.take());
        if self.full.len() > self.slabs_max {
            self.full.pop_front();
        }
        next
    }

    /// The memory of a slab that no buffer is in any more, else new memory. All but a few of the
    /// other free ones are let go.
    fn next(&mut self) -> BytesMut {
        let whole = self.slab_bytes + HUGE_PAGE_BYTES;
        let mut free = 0;
        let mut next = None;
        self.full.retain_mut(|slab| {
            if !slab.try_reclaim(whole) {
                return true;
            }
            if next.is_none() {
                next = Some(std::mem::take(slab));
                return false;
            }
            free += 1;
            free <= FREE_SLABS_KEPT
        });
        next.unwrap_or_else(|| new_memory(self.slab_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    const BLOCK: usize = 4096;
    const SLAB: usize = 2 * HUGE_PAGE_BYTES;

    fn slabs(slabs_max: usize) -> Slabs {
        Slabs::new(SLAB, slabs_max)
    }

    fn buffer(slabs: &mut Slabs, bytes: usize) -> Bytes {
        let mut buffer = slabs.take(bytes);
        assert_eq!((buffer.len(), buffer.capacity()), (0, bytes));
        buffer.resize(bytes, 7);
        buffer.freeze()
    }

    #[test]
    fn buffers_stand_one_behind_the_other_from_a_huge_page_on() {
        let mut slabs = slabs(4);
        let first = buffer(&mut slabs, 2 * BLOCK);
        let second = buffer(&mut slabs, BLOCK);
        assert!(first.as_ptr().addr().is_multiple_of(HUGE_PAGE_BYTES));
        assert_eq!(first.as_ptr().addr() + 2 * BLOCK, second.as_ptr().addr());
    }

    #[test]
    fn a_slab_is_used_again_once_all_its_buffers_are_gone() {
        let mut slabs = slabs(4);
        let (first, second) = (buffer(&mut slabs, SLAB / 2), buffer(&mut slabs, SLAB / 2));
        let address = first.as_ptr();
        drop(first);
        let other = buffer(&mut slabs, SLAB);
        assert_ne!(other.as_ptr(), address);
        drop(second);
        assert_eq!(buffer(&mut slabs, SLAB).as_ptr(), address);
    }

    #[test]
    fn memory_that_readers_keep_is_left_to_them() {
        let mut slabs = slabs(2);
        let kept: Vec<Bytes> = (0..5).map(|_| buffer(&mut slabs, SLAB)).collect();
        assert_eq!(slabs.full.len(), 2);
        assert!(kept.iter().all(|buffer| buffer.iter().all(|b| *b == 7)));
    }

    #[test]
    fn free_slabs_go_but_for_the_next_ones() {
        let mut slabs = slabs(8);
        let kept: Vec<Bytes> = (0..6).map(|_| buffer(&mut slabs, SLAB)).collect();
        drop(kept);
        buffer(&mut slabs, SLAB);
        assert!(slabs.full.len() <= 1 + FREE_SLABS_KEPT, "{:?}", slabs.full);
    }

    #[test]
    fn what_is_larger_than_a_slab_has_memory_of_its_own() {
        let mut slabs = slabs(4);
        let small = buffer(&mut slabs, BLOCK);
        let large = buffer(&mut slabs, SLAB + 3 * BLOCK);
        assert!(large.as_ptr().addr().is_multiple_of(BLOCK));
        let next = buffer(&mut slabs, BLOCK);
        assert_eq!(small.as_ptr().addr() + BLOCK, next.as_ptr().addr());
    }
}

//! Memory of frames that goes round.

use std::collections::VecDeque;

use bytes::BytesMut;
use disk::bytes_before_boundary;
use types::limits::{BLOCK_BYTES, FRAME_SLAB_BYTES, FRAME_SLABS_MAX};

/// Lays frames one behind the other into large pieces of memory. The tail lets frames go in the
/// order in which they came, so that whole slabs become free, and none is ever given back to the
/// system and asked for again while frames are written.
#[derive(Debug, Default)]
pub(super) struct Slabs {
    /// What is left of the present slab: empty, at a block boundary.
    current: BytesMut,
    /// The ends of former slabs, oldest first; they hold on to their memory.
    full: VecDeque<BytesMut>,
}

impl Slabs {
    /// An empty buffer that starts at a block boundary of memory and has room for `bytes`, a
    /// multiple of a block. What is written to it is taken out of it as a whole.
    pub(super) fn room_for(&mut self, bytes: usize) -> &mut BytesMut {
        if self.current.capacity() < bytes {
            let next = self.next(bytes);
            let full = std::mem::replace(&mut self.current, next);
            self.full.push_back(full);
            if self.full.len() > FRAME_SLABS_MAX {
                self.full.pop_front();
            }
        }
        &mut self.current
    }

    /// A slab that no frame is in any more, else a new one.
    fn next(&mut self, bytes: usize) -> BytesMut {
        let wanted = bytes.max(FRAME_SLAB_BYTES) + block();
        let free = self
            .full
            .iter_mut()
            .position(|slab| slab.try_reclaim(wanted));
        let free = free.and_then(|at| self.full.remove(at));
        let mut slab = free.unwrap_or_else(|| BytesMut::with_capacity(wanted));
        let skipped = bytes_before_boundary(&slab);
        slab.resize(skipped, 0);
        drop(slab.split());
        slab
    }
}

fn block() -> usize {
    usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    /// Writes a frame of so many blocks.
    fn frame(slabs: &mut Slabs, blocks: usize) -> Bytes {
        let room = slabs.room_for(blocks * block());
        assert_eq!(bytes_before_boundary(room), 0);
        room.resize(blocks * block(), 7);
        room.split().freeze()
    }

    #[test]
    fn frames_stand_one_behind_the_other() {
        let mut slabs = Slabs::default();
        let first = frame(&mut slabs, 2);
        let second = frame(&mut slabs, 1);
        assert_eq!(first.as_ptr().addr() + 2 * block(), second.as_ptr().addr());
        assert_eq!((first.len(), second.len()), (2 * block(), block()));
    }

    #[test]
    fn a_slab_is_used_again_once_all_its_frames_are_gone() {
        let mut slabs = Slabs::default();
        let half = FRAME_SLAB_BYTES / block() / 2;
        let (first, second) = (frame(&mut slabs, half), frame(&mut slabs, half));
        let other = frame(&mut slabs, half);
        let address = first.as_ptr();
        drop(first);
        let same = frame(&mut slabs, half);
        assert_eq!(same.as_ptr().addr(), other.as_ptr().addr() + other.len());
        drop(second);
        assert_eq!(frame(&mut slabs, half).as_ptr(), address);
    }

    #[test]
    fn memory_that_readers_keep_is_left_to_them() {
        let mut slabs = Slabs::default();
        let blocks = FRAME_SLAB_BYTES / block();
        let kept: Vec<Bytes> = (0..2 * FRAME_SLABS_MAX)
            .map(|_| frame(&mut slabs, blocks))
            .collect();
        assert!(slabs.full.len() <= FRAME_SLABS_MAX);
        assert!(kept.iter().all(|frame| frame.iter().all(|byte| *byte == 7)));
    }

    #[test]
    fn a_frame_larger_than_a_slab_has_one_of_its_own() {
        let mut slabs = Slabs::default();
        let blocks = FRAME_SLAB_BYTES / block() + 3;
        assert_eq!(frame(&mut slabs, blocks).len(), blocks * block());
        assert_eq!(frame(&mut slabs, 1).len(), block());
    }
}

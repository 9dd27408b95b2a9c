//! Memory for reads and writes past the page cache: on huge pages where the system has them. A device
//! then gets a buffer in one piece instead of one per 4 KiB, which costs a quarter to half of the
//! processor time and on virtual disks about half of the time as well (docs/decisions/0014).

use bytes::{Bytes, BytesMut};
use types::limits::HUGE_PAGE_BYTES;

use crate::boundary::{block, bytes_before_boundary};

/// Memory that has room for `bytes` from the first boundary of huge pages on.
pub(crate) fn new_memory(bytes: usize) -> BytesMut {
    let mut memory = BytesMut::with_capacity(with_boundary(bytes));
    prefer_huge_pages(&mut memory);
    memory
}

/// The part of `bytes` from the first boundary of huge pages on.
pub(crate) fn aligned(mut memory: BytesMut, bytes: usize) -> BytesMut {
    let address = memory.as_ptr().addr();
    let mut part = memory.split_off(address.next_multiple_of(HUGE_PAGE_BYTES) - address);
    drop(part.split_off(bytes));
    part
}

/// So many zeros at a block boundary of memory. As long as they are only read they take none, where
/// the allocator has fresh memory for them.
#[must_use]
pub fn zeros(bytes: usize) -> Bytes {
    // So few gain nothing from a huge page.
    if bytes < HUGE_PAGE_BYTES / 2 {
        let mut memory = BytesMut::zeroed(bytes + block());
        let mut part = memory.split_off(bytes_before_boundary(&memory));
        part.truncate(bytes);
        return part.freeze();
    }
    let mut memory = BytesMut::zeroed(with_boundary(bytes));
    prefer_huge_pages(&mut memory);
    aligned(memory, bytes).freeze()
}

const fn with_boundary(bytes: usize) -> usize {
    bytes.next_multiple_of(HUGE_PAGE_BYTES) + HUGE_PAGE_BYTES
}

#[cfg(target_os = "linux")]
fn prefer_huge_pages(memory: &mut BytesMut) {
    let address = memory.as_ptr().addr();
    let from = address.next_multiple_of(HUGE_PAGE_BYTES) - address;
    let len = memory.capacity().saturating_sub(from) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    #[expect(unsafe_code, reason = "no safe call gives this advice")]
    // SAFETY: the range is memory of ours, from a page boundary on, and the advice changes none of
    // its bytes.
    let advised = unsafe {
        let start = memory.as_mut_ptr().wrapping_add(from);
        rustix::mm::madvise(start.cast(), len, rustix::mm::Advice::LinuxHugepage)
    };
    // A system without them loses nothing but speed.
    advised.ok();
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_memory: &mut BytesMut) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_stand_at_a_boundary_and_are_as_many_as_asked_for() {
        for bytes in [block(), 64 << 10, HUGE_PAGE_BYTES / 2, 3 * HUGE_PAGE_BYTES] {
            let zeros = zeros(bytes);
            assert_eq!(zeros.len(), bytes);
            assert_eq!(bytes_before_boundary(&zeros), 0);
            assert!(zeros.iter().all(|byte| *byte == 0));
        }
    }
}

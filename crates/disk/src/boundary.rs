//! Where buffers for reads and writes past the page cache begin.

use types::limits::BLOCK_BYTES;

/// Bytes of `buffer` before its first block boundary of memory, from which on it may be given to
/// [`File::write_direct_at`](crate::File::write_direct_at) and
/// [`File::read_direct_at`](crate::File::read_direct_at). Less than a block.
#[must_use]
pub fn bytes_before_boundary(buffer: &[u8]) -> usize {
    buffer.as_ptr().addr().next_multiple_of(block()) - buffer.as_ptr().addr()
}

/// Bytes of a block, in memory.
pub(crate) fn block() -> usize {
    usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX)
}

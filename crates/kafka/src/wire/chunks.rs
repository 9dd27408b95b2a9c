use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// One encoded frame, length prefix included, as pieces to write one after the other: what the
/// codec wrote, interleaved with record bytes that it only refers to.
///
/// As a [`Buf`] it goes to vectored writes, and drops each piece as soon as it is written.
#[derive(Debug, Clone, Default)]
pub struct Chunks {
    parts: VecDeque<Bytes>,
    left: usize,
}

impl Chunks {
    /// Bytes not yet written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether all is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The pieces, none of them empty.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.parts.iter()
    }

    /// All bytes in one piece, for tests and small messages: it copies.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.clone().copy_to_bytes(self.left)
    }

    /// Copies the pieces that share their memory with others, so that what waits for long keeps
    /// nothing alive but itself.
    pub(crate) fn detach(&mut self) {
        for part in self.parts.iter_mut().filter(|part| !part.is_unique()) {
            *part = Bytes::copy_from_slice(part);
        }
    }

    pub(crate) fn push(&mut self, part: Bytes) {
        if !part.is_empty() {
            self.left += part.len();
            self.parts.push_back(part);
        }
    }
}

impl IntoIterator for Chunks {
    type Item = Bytes;
    type IntoIter = std::collections::vec_deque::IntoIter<Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter()
    }
}

impl Buf for Chunks {
    fn remaining(&self) -> usize {
        self.left
    }

    fn chunk(&self) -> &[u8] {
        self.parts.front().map_or(&[], Bytes::as_ref)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        for (slice, part) in slices.iter_mut().zip(&self.parts) {
            *slice = IoSlice::new(part);
            filled += 1;
        }
        filled
    }

    fn advance(&mut self, mut count: usize) {
        // PANIC: the contract of `Buf`; a writer never reports more than it was given.
        assert!(count <= self.left, "advanced beyond the end");
        self.left -= count;
        while count > 0 {
            let Some(front) = self.parts.front_mut() else {
                return;
            };
            if count < front.len() {
                front.advance(count);
                return;
            }
            count -= front.len();
            self.parts.pop_front();
        }
    }
}

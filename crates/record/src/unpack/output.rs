//! Where unpacked bytes go.

use crate::BatchError;

/// Unpacked bytes between two ends: filled at one, consumed at the other, counted in all.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    total: usize,
    max: usize,
}

impl Output {
    /// An empty output that takes `max` bytes in all and uses the memory of `bytes`.
    pub(crate) const fn over(bytes: Vec<u8>, max: usize) -> Self {
        Self {
            bytes,
            start: 0,
            end: 0,
            total: 0,
            max,
        }
    }

    /// What was filled and not yet consumed.
    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// How much more may come.
    pub(crate) const fn allowance(&self) -> usize {
        self.max.saturating_sub(self.total)
    }

    /// Space for exactly `count` bytes behind what is filled.
    pub(crate) fn room(&mut self, count: usize) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let needed = self.end.saturating_add(count);
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
        self.bytes.get_mut(self.end..needed).unwrap_or_default()
    }

    /// Takes in `count` bytes that were written to the front of the last [`Output::room`].
    pub(crate) fn filled(&mut self, count: usize) -> Result<usize, BatchError> {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
        self.total = self.total.saturating_add(count);
        if self.total > self.max {
            Err(self.too_large())
        } else {
            Ok(count)
        }
    }

    /// What was filled last, `count` bytes of it.
    pub(crate) fn last(&self, count: usize) -> &[u8] {
        self.bytes
            .get(self.end.saturating_sub(count)..self.end)
            .unwrap_or_default()
    }

    pub(crate) const fn too_large(&self) -> BatchError {
        BatchError::UnpackedTooLarge {
            max_bytes: self.max,
        }
    }

    /// The bytes that were filled and not consumed, with their memory.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.end);
        self.bytes.drain(..self.start.min(self.end));
        self.bytes
    }
}

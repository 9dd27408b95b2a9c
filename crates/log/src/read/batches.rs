//! Whole batches as they were found.

use bytes::Bytes;
use record::{BatchHeader, HEADER_BYTES};
use types::Offset;

use crate::error::{Corruption, Error};

/// Whole batches in offset order, in pieces that are sent one after the other.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    /// The pieces; a batch may lie in two of them.
    pub pieces: Vec<Bytes>,
    /// Bytes of all pieces.
    pub bytes: usize,
}

impl Batches {
    pub(super) fn push(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        self.pieces.push(piece);
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// All pieces as one.
    #[must_use]
    pub fn concat(&self) -> Bytes {
        match self.pieces.as_slice() {
            [one] => one.clone(),
            many => Bytes::from(many.concat()),
        }
    }
}

/// The batches that stand one after the other in `bytes`: their headers and where they end.
///
/// # Errors
/// [`Error::Corrupt`] when something else stands there.
pub fn split(bytes: &Bytes) -> Result<Vec<(BatchHeader, Bytes)>, Error> {
    let mut rest = bytes.clone();
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let header = BatchHeader::parse(&rest).map_err(|_| damaged())?;
        let total = header.total_bytes();
        if total < HEADER_BYTES || total > rest.len() {
            return Err(damaged());
        }
        batches.push((header, rest.split_to(total)));
    }
    Ok(batches)
}

/// Cuts the batches out of `bytes` that hold `from` or come later, as many as fit into
/// `max_bytes`, and one more if `at_least_one`.
pub(super) fn cut(
    bytes: &Bytes,
    from: Offset,
    max_bytes: usize,
    at_least_one: bool,
) -> Result<Bytes, Error> {
    let (mut start, mut end, mut at) = (0, 0, 0);
    for (header, batch) in split(bytes)? {
        let next = at + batch.len();
        if header.last_offset() < from {
            start = next;
            end = next;
        } else if next - start <= max_bytes || (at_least_one && end == start) {
            end = next;
        } else {
            break;
        }
        at = next;
    }
    Ok(bytes.slice(start..end))
}

fn damaged() -> Error {
    Error::Corrupt(Corruption {
        path: std::path::PathBuf::new(),
        position: 0,
        what: "record batches",
        expected: "whole batches one after the other".to_owned(),
        found: "other bytes".to_owned(),
    })
}

//! Whole batches as they were found.

use std::ops::Range;

use bytes::Bytes;
use record::{BatchHeader, HEADER_BYTES};
use types::Offset;

use super::windows::Found;
use crate::error::{Corruption, Error};

/// Whole batches in offset order, in pieces that are sent one after the other.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    /// The pieces; a batch may lie in two of them.
    pub pieces: Vec<Bytes>,
    /// Bytes of all pieces.
    pub bytes: usize,
    /// There are more that could be read now.
    pub is_cut: bool,
    /// They are the first that anybody read where they stand: what comes next is worth reading ahead
    /// ([`Reader::read_ahead`](super::Reader::read_ahead)).
    pub reads_on: bool,
}

impl Batches {
    pub(super) fn push(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        self.pieces.push(piece);
    }

    pub(super) fn take(&mut self, found: Found) {
        self.reads_on |= found.is_new;
        found.pieces.into_iter().for_each(|piece| self.push(piece));
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

/// Batches cut out of others.
pub(super) struct Cut {
    pub(super) batches: Bytes,
    /// Nothing behind them was left.
    pub(super) to_the_end: bool,
}

/// Cuts the batches out of `bytes` that hold offsets of the range, as many as fit into
/// `max_bytes`, and one more if `at_least_one`. The second value says whether the last one is among
/// them: only then what follows `bytes` may be read on to.
pub(super) fn cut(
    bytes: &Bytes,
    range: Range<Offset>,
    max_bytes: usize,
    at_least_one: bool,
) -> Result<Cut, Error> {
    let (mut start, mut end, mut at) = (0, 0, 0);
    for (header, batch) in split(bytes)? {
        let next = at + batch.len();
        if header.base_offset >= range.end {
            break;
        }
        if header.last_offset() < range.start {
            start = next;
            end = next;
        } else if next - start <= max_bytes || (at_least_one && end == start) {
            end = next;
        } else {
            break;
        }
        at = next;
    }
    Ok(Cut {
        batches: bytes.slice(start..end),
        to_the_end: end == bytes.len(),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use record::{BatchBuilder, Codec};

    fn batch(base: i64, value: &[u8]) -> Vec<u8> {
        let mut builder = BatchBuilder::new();
        builder.append(1, None, Some(value), &[]).unwrap();
        let bytes = builder.build(Codec::None).unwrap();
        let checked = record::check(&bytes, &record::Rules::at(1)).unwrap();
        let mut out = checked
            .seal(Offset(base), types::LeaderEpoch(0), None)
            .to_vec();
        out.extend_from_slice(&checked.body);
        out
    }

    fn offsets(cut: &Cut) -> Vec<i64> {
        split(&cut.batches)
            .unwrap()
            .iter()
            .map(|(header, _)| header.base_offset.0)
            .collect()
    }

    #[test]
    fn a_cut_never_leaves_a_batch_out_in_the_middle() {
        let parts = [
            batch(0, &[1; 10]),
            batch(1, &[2; 2_000]),
            batch(2, &[3; 10]),
        ];
        let bytes = Bytes::from(parts.concat());
        let all = Offset(0)..Offset(3);
        let some = cut(&bytes, all.clone(), 500, false).unwrap();
        assert_eq!(offsets(&some), [0]);
        assert!(!some.to_the_end);
        let later = cut(&bytes, Offset(1)..Offset(3), 0, true).unwrap();
        assert_eq!(offsets(&later), [1]);
        assert!(!later.to_the_end);
        let whole = cut(&bytes, all, 10_000, false).unwrap();
        assert_eq!(offsets(&whole), [0, 1, 2]);
        assert!(whole.to_the_end);
        let visible = cut(&bytes, Offset(0)..Offset(2), 10_000, false).unwrap();
        assert_eq!(offsets(&visible), [0, 1]);
        assert!(!visible.to_the_end);
    }
}

//! XXH32 with seed 0, the checksum of LZ4 frames.

use crate::crc::low_half;

const P1: u32 = 0x9e37_79b1;
const P2: u32 = 0x85eb_ca77;
const P3: u32 = 0xc2b2_ae3d;
const P4: u32 = 0x27d4_eb2f;
const P5: u32 = 0x1656_67b1;
const STRIPE_BYTES: usize = 16;

/// The hash of `bytes`.
pub(crate) fn xxh32(bytes: &[u8]) -> u32 {
    let mut hash = Xxh32::new();
    hash.update(bytes);
    hash.finish()
}

/// The hash of bytes that come in pieces.
pub(crate) struct Xxh32 {
    lanes: [u32; 4],
    /// Bytes so far, modulo 2^32.
    total: u32,
    /// Whether a stripe went into the lanes.
    striped: bool,
    /// Bytes that do not fill a stripe yet.
    kept: Vec<u8>,
}

impl Xxh32 {
    pub(crate) fn new() -> Self {
        let lanes = [P1.wrapping_add(P2), P2, 0, 0u32.wrapping_sub(P1)];
        Self {
            lanes,
            total: 0,
            striped: false,
            kept: Vec::new(),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.total = self.total.wrapping_add(low_half(bytes.len() as u64));
        let mut bytes = bytes;
        if !self.kept.is_empty() {
            let missing = STRIPE_BYTES.saturating_sub(self.kept.len());
            let (first, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            self.kept.extend_from_slice(first);
            bytes = rest;
            if let Some(stripe) = self.kept.first_chunk().copied() {
                self.stripe(&stripe);
                self.kept.clear();
            }
        }
        let (stripes, rest) = bytes.as_chunks();
        for stripe in stripes {
            self.stripe(stripe);
        }
        self.kept.extend_from_slice(rest);
    }

    #[inline]
    fn stripe(&mut self, stripe: &[u8; STRIPE_BYTES]) {
        self.striped = true;
        let (words, _) = stripe.as_chunks();
        for (lane, word) in self.lanes.iter_mut().zip(words) {
            let mixed = lane.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(P2));
            *lane = mixed.rotate_left(13).wrapping_mul(P1);
        }
    }

    pub(crate) fn finish(&self) -> u32 {
        let mut hash = if self.striped {
            let turned = self.lanes.iter().zip([1, 7, 12, 18]);
            turned.fold(0u32, |sum, (lane, by)| {
                sum.wrapping_add(lane.rotate_left(by))
            })
        } else {
            P5
        };
        hash = hash.wrapping_add(self.total);
        let (words, bytes) = self.kept.as_chunks();
        for word in words {
            let mixed = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(P3));
            hash = mixed.rotate_left(17).wrapping_mul(P4);
        }
        for byte in bytes {
            let mixed = hash.wrapping_add(u32::from(*byte).wrapping_mul(P5));
            hash = mixed.rotate_left(11).wrapping_mul(P1);
        }
        hash = (hash ^ hash >> 15).wrapping_mul(P2);
        hash = (hash ^ hash >> 13).wrapping_mul(P3);
        hash ^ hash >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_hold() {
        assert_eq!(xxh32(b""), 0x02cc_5d05);
        assert_eq!(xxh32(b"a"), 0x550d_7456);
        assert_eq!(xxh32(b"abc"), 0x32d1_53ff);
        assert_eq!(
            xxh32(b"Nobody inspects the spammish repetition"),
            0xe229_3b2f
        );
    }

    #[test]
    fn pieces_hash_as_the_whole_does() {
        let bytes: Vec<u8> = (0..200).collect();
        for first in 0..40 {
            for second in first..first + 40 {
                let mut hash = Xxh32::new();
                hash.update(&bytes[..first]);
                hash.update(&bytes[first..second]);
                hash.update(&bytes[second..]);
                assert_eq!(hash.finish(), xxh32(&bytes), "cut at {first} and {second}");
            }
        }
    }
}

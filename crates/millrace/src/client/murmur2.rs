//! The partition of a key, as Kafka's Java client chooses it: MurmurHash2 (Austin Appleby, public
//! domain) with the seed that Kafka uses, made positive, modulo the number of partitions.

const SEED: u32 = 0x9747_b28c;
const M: u32 = 0x5bd1_e995;

/// The partition that a key belongs to.
pub(crate) fn partition_of_key(key: &[u8], partitions: u32) -> u32 {
    (murmur2(key) & 0x7fff_ffff)
        .checked_rem(partitions)
        .unwrap_or(0)
}

fn murmur2(bytes: &[u8]) -> u32 {
    // Lengths are taken modulo 2^32, as in the original.
    let mut hash = SEED ^ u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or(u32::MAX);
    let (words, tail) = bytes.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !tail.is_empty() {
        let rest = tail
            .iter()
            .rev()
            .fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
        hash = (hash ^ rest).wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_java_client() {
        // From the unit test of Kafka's `Utils.murmur2`.
        let cases: [(&[u8], i32); 6] = [
            (b"21", -973_932_308),
            (b"foobar", -790_332_482),
            (b"a-little-bit-long-string", -985_981_536),
            (b"a-little-bit-longer-string", -1_486_304_829),
            (
                b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            (b"abc", 479_470_107),
        ];
        for (bytes, expected) in cases {
            assert_eq!(murmur2(bytes).cast_signed(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_partition_is_below_the_number_of_partitions() {
        for i in 0..1_000_u32 {
            assert!(partition_of_key(&i.to_be_bytes(), 7) < 7);
        }
        assert_eq!(partition_of_key(b"x", 0), 0);
    }
}

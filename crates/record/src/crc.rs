//! CRC-32C (Castagnoli), and the joining of two of them without a pass over the bytes.

use crc_fast::{CrcAlgorithm, Digest};

/// The polynomial of CRC-32C, lowest power in the highest bit.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// The polynomial 1 in the same notation.
const ONE: u32 = 1 << 31;

/// `SHIFTS[k][b]` is x to the power of 8 · b · 256^k: the factor by which a CRC moves when
/// b · 256^k bytes follow.
static SHIFTS: [[u32; 256]; 8] = shifts();

/// The CRC-32C of `bytes`.
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// The CRC-32C of what `crc` covers, followed by `bytes`. `crc32c_append(0, b)` is `crc32c(b)`.
#[must_use]
pub fn crc32c_append(crc: u32, bytes: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!crc));
    digest.update(bytes);
    low_half(digest.finalize())
}

/// The CRC-32C of two pieces of which the second has `second_len` bytes, from the CRC of each.
#[must_use]
pub fn crc32c_combine(first: u32, second: u32, second_len: u64) -> u32 {
    let mut moved = first;
    for (table, byte) in SHIFTS.iter().zip(second_len.to_le_bytes()) {
        if byte != 0 {
            let factor = table.get(usize::from(byte)).copied().unwrap_or(ONE);
            moved = multiply(factor, moved);
        }
    }
    moved ^ second
}

pub(crate) fn low_half(wide: u64) -> u32 {
    u32::try_from(wide & u64::from(u32::MAX)).unwrap_or(0)
}

/// Product of two polynomials modulo [`POLYNOMIAL`], without branches.
const fn multiply(a: u32, b: u32) -> u32 {
    let mut product = 0;
    let mut shifted = b;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        product ^= shifted & 0u32.wrapping_sub(a >> bit & 1);
        shifted = shifted >> 1 ^ POLYNOMIAL & 0u32.wrapping_sub(shifted & 1);
    }
    product
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which checks each index"
)]
const fn shifts() -> [[u32; 256]; 8] {
    let mut tables = [[ONE; 256]; 8];
    // x^8: one byte follows.
    let mut unit = 1 << 23;
    let mut k = 0;
    while k < 8 {
        let mut b = 1;
        while b < 256 {
            tables[k][b] = multiply(tables[k][b - 1], unit);
            b += 1;
        }
        unit = multiply(tables[k][255], unit);
        k += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(len: usize) -> Vec<u8> {
        (0..len)
            .map(|i| u8::try_from(i * 31 % 251).unwrap())
            .collect()
    }

    #[test]
    fn published_vectors_hold() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn every_short_length_agrees_with_another_implementation() {
        let bytes = sample(1024);
        for len in 0..bytes.len() {
            assert_eq!(
                crc32c(&bytes[..len]),
                ::crc32c::crc32c(&bytes[..len]),
                "{len} bytes"
            );
        }
        let long = sample(1 << 20);
        assert_eq!(crc32c(&long), ::crc32c::crc32c(&long));
    }

    #[test]
    fn appending_continues_where_the_first_part_ended() {
        let bytes = sample(300);
        for cut in 0..bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(
                crc32c_append(crc32c(first), second),
                crc32c(&bytes),
                "cut at {cut}"
            );
        }
        assert_eq!(crc32c_append(0, &bytes), crc32c(&bytes));
    }

    #[test]
    fn combining_equals_one_pass() {
        for len in [
            0,
            1,
            2,
            39,
            255,
            256,
            257,
            65_535,
            65_536,
            1 << 20,
            (1 << 24) + 77,
        ] {
            let first = sample(40);
            let second = sample(len);
            let whole = crc32c_append(crc32c(&first), &second);
            assert_eq!(
                crc32c_combine(crc32c(&first), crc32c(&second), len as u64),
                whole,
                "{len}"
            );
        }
    }

    #[test]
    fn combining_knows_lengths_beyond_four_gigabytes() {
        let (first, second, len) = (0x1234_5678, 0x9abc_def0, (7_u64 << 32) + 12_345);
        let expected = ::crc32c::crc32c_combine(first, second, usize::try_from(len).unwrap());
        assert_eq!(crc32c_combine(first, second, len), expected);
    }
}

//! Zigzag numbers of variable length, seven bits to the byte, lowest first.

/// Bytes of the longest 32-bit number.
pub(crate) const VARINT_BYTES_MAX: usize = 5;
/// Bytes of the longest 64-bit number.
pub(crate) const VARLONG_BYTES_MAX: usize = 10;

/// Why a number cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// The bytes end within it.
    Truncated,
    /// It has bits that its type has no room for.
    TooLong,
}

#[inline]
pub(crate) fn read_i32(mut next: impl FnMut() -> Option<u8>) -> Result<i32, Bad> {
    let first = next().ok_or(Bad::Truncated)?;
    if first < 0x80 {
        return Ok(unzigzag_i32(u32::from(first)));
    }
    let mut value = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let byte = next().ok_or(Bad::Truncated)?;
        if shift == 28 && byte > 0x0f {
            return Err(Bad::TooLong);
        }
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(unzigzag_i32(value))
}

#[inline]
pub(crate) fn read_i64(mut next: impl FnMut() -> Option<u8>) -> Result<i64, Bad> {
    let first = next().ok_or(Bad::Truncated)?;
    if first < 0x80 {
        return Ok(unzigzag_i64(u64::from(first)));
    }
    let mut value = u64::from(first & 0x7f);
    for shift in [7, 14, 21, 28, 35, 42, 49, 56, 63] {
        let byte = next().ok_or(Bad::Truncated)?;
        if shift == 63 && byte > 0x01 {
            return Err(Bad::TooLong);
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(unzigzag_i64(value))
}

const fn unzigzag_i32(value: u32) -> i32 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

const fn unzigzag_i64(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

pub(crate) fn put(out: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push((rest & 0x7f) as u8);
}

/// Bytes that [`put`] writes for `value`.
pub(crate) const fn size(value: i64) -> usize {
    let bits = 64 - (zigzag(value) | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;

    #[test]
    fn numbers_come_back_and_take_the_size_that_was_told() {
        let edges = [
            0,
            1,
            -1,
            63,
            64,
            -64,
            -65,
            8191,
            8192,
            i64::from(i32::MAX),
            i64::from(i32::MIN),
        ];
        let wide = [i64::MAX, i64::MIN, 1 << 35, -(1 << 49), 1 << 62];
        for value in edges.into_iter().chain(wide) {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(bytes.len(), size(value), "{value}");
            assert_eq!(Cursor::new(&bytes).varlong(), Ok(value));
            if let Ok(small) = i32::try_from(value) {
                assert_eq!(Cursor::new(&bytes).varint(), Ok(small));
            }
        }
    }

    #[test]
    fn known_bytes_have_known_values() {
        assert_eq!(Cursor::new(&[0x01]).varint(), Ok(-1));
        assert_eq!(Cursor::new(&[0x80, 0x01]).varint(), Ok(64));
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).varint(),
            Ok(i32::MIN)
        );
        // Longer than needed, as some encoders write it.
        assert_eq!(Cursor::new(&[0x82, 0x00]).varint(), Ok(1));
    }

    #[test]
    fn cut_and_overlong_numbers_are_told_apart() {
        assert_eq!(Cursor::new(&[]).varint(), Err(Bad::Truncated));
        assert_eq!(Cursor::new(&[0x80; 4]).varint(), Err(Bad::Truncated));
        assert_eq!(Cursor::new(&[0xff; 5]).varint(), Err(Bad::TooLong));
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x10]).varint(),
            Err(Bad::TooLong)
        );
        assert_eq!(Cursor::new(&[0x80; 9]).varlong(), Err(Bad::Truncated));
        assert_eq!(Cursor::new(&[0xff; 10]).varlong(), Err(Bad::TooLong));
    }
}

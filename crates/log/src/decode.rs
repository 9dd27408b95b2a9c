//! Reading and writing the numbers that footers, segment rows and checkpoints are made of.
//! docs/formats/segment-footer.md tells the two variable-length forms.

use std::path::Path;

use crate::error::Corruption;

/// Bytes that are not what a format says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {position} is malformed")]
pub struct Malformed {
    /// Which part of the format.
    pub what: &'static str,
    /// Where in the bytes.
    pub position: usize,
}

impl Malformed {
    /// The fault as damage of a file; `start` is where in the file the bytes were read.
    pub(crate) fn in_file(self, path: &Path, start: u64) -> Corruption {
        Corruption {
            path: path.to_path_buf(),
            position: start.saturating_add(self.position as u64),
            what: self.what,
            expected: "what its format says".to_owned(),
            found: "other bytes".to_owned(),
        }
    }
}

/// A cursor over bytes that nobody has vouched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Decoder<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Where the next byte stands.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    pub(crate) const fn malformed(&self, what: &'static str) -> Malformed {
        Malformed {
            what,
            position: self.position,
        }
    }

    pub(crate) fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let end = self.position.checked_add(len).ok_or(self.malformed(what))?;
        let taken = self
            .bytes
            .get(self.position..end)
            .ok_or(self.malformed(what))?;
        self.position = end;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], Malformed> {
        let fault = self.malformed(what);
        self.take(N, what)?.try_into().map_err(|_| fault)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, Malformed> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self, what: &'static str) -> Result<i64, Malformed> {
        self.array(what).map(i64::from_le_bytes)
    }

    /// A number in groups of seven bits, the lowest first; the high bit says that more follow.
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64, Malformed> {
        let fault = self.malformed(what);
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let group = u64::from(byte & 0x7f);
            if shift == 63 && group > 1 {
                return Err(fault);
            }
            value |= group << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(fault)
    }

    pub(crate) fn varint_u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let fault = self.malformed(what);
        u32::try_from(self.varint(what)?).map_err(|_| fault)
    }

    /// A signed number, folded so that small ones of either sign are short.
    pub(crate) fn zigzag(&mut self, what: &'static str) -> Result<i64, Malformed> {
        let folded = self.varint(what)?;
        Ok((folded >> 1).cast_signed() ^ -((folded & 1).cast_signed()))
    }

    /// A count of things that take at least `least_bytes` each: never more than what is left holds.
    pub(crate) fn count(
        &mut self,
        least_bytes: usize,
        what: &'static str,
    ) -> Result<usize, Malformed> {
        let fault = self.malformed(what);
        let count = usize::try_from(self.varint(what)?).map_err(|_| fault)?;
        let bytes = count.checked_mul(least_bytes).ok_or(fault)?;
        if bytes > self.left() {
            Err(fault)
        } else {
            Ok(count)
        }
    }

    /// Nothing may follow.
    pub(crate) const fn finish(self, what: &'static str) -> Result<(), Malformed> {
        if self.left() == 0 {
            Ok(())
        } else {
            Err(self.malformed(what))
        }
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

pub(crate) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                put_zigzag(&mut bytes, value.cast_signed());
                let mut decoder = Decoder::new(&bytes);
                assert_eq!(decoder.varint("value"), Ok(value));
                assert_eq!(decoder.zigzag("value"), Ok(value.cast_signed()));
                assert_eq!(decoder.finish("end"), Ok(()));
            }
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let too_long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        let fault = Malformed {
            what: "value",
            position: 0,
        };
        assert_eq!(Decoder::new(&too_long).varint("value"), Err(fault));
        assert_eq!(Decoder::new(&[0x80; 11]).varint("value"), Err(fault));
    }

    #[test]
    fn a_count_beyond_the_bytes_left_is_refused() {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, 3);
        bytes.extend_from_slice(&[0; 5]);
        assert_eq!(
            Decoder::new(&bytes).count(2, "rows").map_err(|e| e.what),
            Err("rows")
        );
        bytes.push(0);
        assert_eq!(Decoder::new(&bytes).count(2, "rows"), Ok(3));
    }
}

//! An input taken apart: where a target makes something out of its bytes instead of reading them.

use bytes::Bytes;

/// Gives numbers and bytes from the front of an input; zeros and nothing when it has ended.
#[derive(Clone, Debug)]
pub struct Source {
    rest: Bytes,
}

impl Source {
    /// A source of these bytes.
    pub fn new(input: &Bytes) -> Self {
        Self {
            rest: input.clone(),
        }
    }

    /// What was not taken.
    pub const fn rest(&self) -> &Bytes {
        &self.rest
    }

    /// Whether everything was taken.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next bytes, at most `most`.
    pub fn bytes(&mut self, most: usize) -> Bytes {
        self.rest.split_to(most.min(self.rest.len()))
    }

    /// Bytes whose number the next byte tells; none when that is 0.
    pub fn nullable(&mut self) -> Option<Bytes> {
        let len = usize::from(self.u8()).checked_sub(1)?;
        Some(self.bytes(len))
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes(N);
        let mut array = [0; N];
        array[..bytes.len()].copy_from_slice(&bytes);
        array
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// The next number.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// The next number.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// The next number.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// A time: mostly near zero, sometimes anything.
    pub fn time_ms(&mut self) -> i64 {
        match self.u8() {
            255 => self.u64().cast_signed(),
            near => i64::from(near),
        }
    }
}

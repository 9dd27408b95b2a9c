use bytes::Bytes;
use types::limits::{
    KAFKA_ARRAY_MAX, KAFKA_DECODED_BYTES_MAX, KAFKA_PREALLOCATED_MAX, KAFKA_TAGS_MAX,
};

use super::{Format, Malformed, Wire};

/// What an allocation takes beside its content, as counted against the memory of a message.
const ALLOCATION_BYTES: usize = 16;

/// A cursor over the frame of one message.
///
/// Nothing is allocated for a count before the count is checked against the bytes that are left,
/// and all that is allocated for one message together is bounded.
#[derive(Debug)]
pub struct Reader<'a> {
    frame: &'a Bytes,
    rest: &'a [u8],
    format: Format,
    memory_left: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `frame`, which begins behind the length prefix.
    #[must_use]
    pub fn new(frame: &'a Bytes, format: Format) -> Self {
        Self {
            frame,
            rest: frame,
            format,
            memory_left: KAFKA_DECODED_BYTES_MAX,
        }
    }

    /// Version of the message that is read.
    #[must_use]
    pub fn version(&self) -> i16 {
        self.format.version
    }

    /// Layout of the message that is read.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Sets the layout of what follows; a header and its body differ in it.
    pub fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Bytes not yet read.
    #[must_use]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next bytes, without taking them.
    #[must_use]
    pub fn peek(&self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed::Truncated {
                needed: count,
                left: self.rest.len(),
            })?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads `N` bytes.
    pub fn read_array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(Malformed::Truncated {
                needed: N,
                left: self.rest.len(),
            })?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads a 16-bit number.
    pub fn read_i16(&mut self) -> Result<i16, Malformed> {
        self.read_array().map(i16::from_be_bytes)
    }

    /// Reads a 32-bit number.
    pub fn read_i32(&mut self) -> Result<i32, Malformed> {
        self.read_array().map(i32::from_be_bytes)
    }

    /// Reads an unsigned number of one to five bytes, the lowest seven bits first.
    pub fn read_uvarint(&mut self) -> Result<u32, Malformed> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.read_array()?;
            let bits = u32::from(byte & 0x7f);
            if shift == 28 && bits > 0x0f {
                return Err(Malformed::VarintTooLong);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::VarintTooLong)
    }

    /// Reads the length of an array or of bytes; null is `None`.
    pub fn read_length(&mut self) -> Result<Option<usize>, Malformed> {
        if self.format.flexible {
            self.read_compact_length()
        } else {
            self.read_length_i32()
        }
    }

    fn read_compact_length(&mut self) -> Result<Option<usize>, Malformed> {
        Ok(self
            .read_uvarint()?
            .checked_sub(1)
            .map(|length| length as usize))
    }

    fn read_length_i32(&mut self) -> Result<Option<usize>, Malformed> {
        match self.read_i32()? {
            -1 => Ok(None),
            length => usize::try_from(length)
                .map(Some)
                .map_err(|_| Malformed::NegativeLength(length)),
        }
    }

    /// Reads a string; null is `None`.
    pub fn read_string(&mut self) -> Result<Option<String>, Malformed> {
        if !self.format.flexible {
            return self.read_classic_string();
        }
        let length = self.read_compact_length()?;
        length.map(|length| self.take_string(length)).transpose()
    }

    /// Reads a string with a 16-bit length whatever the format, as headers have it.
    pub fn read_classic_string(&mut self) -> Result<Option<String>, Malformed> {
        match self.read_i16()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length)
                    .map_err(|_| Malformed::NegativeLength(i32::from(length)))?;
                self.take_string(length).map(Some)
            }
        }
    }

    fn take_string(&mut self, length: usize) -> Result<String, Malformed> {
        let bytes = self.take(length)?;
        let text = str::from_utf8(bytes).map_err(|_| Malformed::NotUtf8)?;
        if !text.is_empty() {
            self.charge(length.saturating_add(ALLOCATION_BYTES))?;
        }
        Ok(text.to_owned())
    }

    /// Reads bytes as a slice of the frame; null is `None`.
    pub fn read_bytes(&mut self) -> Result<Option<Bytes>, Malformed> {
        let Some(length) = self.read_length()? else {
            return Ok(None);
        };
        let taken = self.take(length)?;
        Ok(Some(self.frame.slice_ref(taken)))
    }

    /// Reads an array; null is `None`.
    pub fn read_elements<T: Wire>(&mut self) -> Result<Option<Vec<T>>, Malformed> {
        let Some(count) = self.read_length()? else {
            return Ok(None);
        };
        if count > KAFKA_ARRAY_MAX {
            return Err(Malformed::ArrayTooLong { count });
        }
        let left = self.left();
        if count.saturating_mul(T::size_min(self.format)) > left {
            return Err(Malformed::ArrayBeyondEnd { count, left });
        }
        self.charge(count.saturating_mul(size_of::<T>()))?;
        let mut elements = Vec::with_capacity(count.min(KAFKA_PREALLOCATED_MAX));
        for _ in 0..count {
            elements.push(T::decode(self)?);
        }
        Ok(Some(elements))
    }

    /// Reads the tagged fields that end a flexible structure, none in other versions. `field`
    /// gets each tag with a reader that ends where the field ends; what it leaves is skipped.
    pub fn read_tags(
        &mut self,
        mut field: impl FnMut(&mut Self, u32) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if !self.format.flexible {
            return Ok(());
        }
        let count = self.read_uvarint()? as usize;
        if count > KAFKA_TAGS_MAX {
            return Err(Malformed::TooManyTags { count });
        }
        for _ in 0..count {
            let tag = self.read_uvarint()?;
            let size = self.read_uvarint()? as usize;
            let value = self.take(size)?;
            let after = std::mem::replace(&mut self.rest, value);
            field(self, tag)?;
            self.rest = after;
        }
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.memory_left = self
            .memory_left
            .checked_sub(bytes)
            .ok_or(Malformed::TooMuchMemory)?;
        Ok(())
    }
}

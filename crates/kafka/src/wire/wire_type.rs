use bytes::Bytes;
use types::TopicId;

use super::{Format, Malformed, Reader, Writer};

/// A value of the protocol. The version decides how it looks, and comes with the reader or
/// writer.
pub trait Wire: Sized {
    /// The fewest bytes that a value takes.
    fn size_min(format: Format) -> usize;

    /// Reads one value.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Writes the value.
    fn encode(&self, writer: &mut Writer);
}

/// A value that some fields may lack; null and empty are different things.
pub trait Nullable: Wire {
    /// Reads one value or null.
    fn decode_nullable(reader: &mut Reader<'_>) -> Result<Option<Self>, Malformed>;

    /// Writes the value or null.
    fn encode_nullable(value: Option<&Self>, writer: &mut Writer);
}

impl<T: Nullable> Wire for Option<T> {
    fn size_min(format: Format) -> usize {
        T::size_min(format)
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        T::decode_nullable(reader)
    }

    fn encode(&self, writer: &mut Writer) {
        T::encode_nullable(self.as_ref(), writer);
    }
}

macro_rules! numbers {
    ($($number:ty),+) => { $(
        impl Wire for $number {
            fn size_min(_: Format) -> usize {
                size_of::<Self>()
            }

            fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                reader.read_array().map(Self::from_be_bytes)
            }

            fn encode(&self, writer: &mut Writer) {
                writer.put_slice(&self.to_be_bytes());
            }
        }
    )+ };
}

numbers!(i8, i16, i32, i64);

impl Wire for bool {
    fn size_min(_: Format) -> usize {
        1
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        i8::decode(reader).map(|byte| byte != 0)
    }

    fn encode(&self, writer: &mut Writer) {
        i8::from(*self).encode(writer);
    }
}

/// A UUID that names no topic, such as that of a directory.
impl Wire for [u8; 16] {
    fn size_min(_: Format) -> usize {
        16
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.read_array()
    }

    fn encode(&self, writer: &mut Writer) {
        writer.put_slice(self);
    }
}

impl Wire for TopicId {
    fn size_min(_: Format) -> usize {
        16
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.read_array().map(Self)
    }

    fn encode(&self, writer: &mut Writer) {
        writer.put_slice(&self.0);
    }
}

/// Values that can be null say all through [`Nullable`]; plain fields of theirs refuse null.
macro_rules! wire_by_nullable {
    () => {
        fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
            Self::decode_nullable(reader)?.ok_or(Malformed::Null)
        }

        fn encode(&self, writer: &mut Writer) {
            Self::encode_nullable(Some(self), writer);
        }
    };
}
pub(super) use wire_by_nullable;

impl Wire for String {
    fn size_min(format: Format) -> usize {
        if format.flexible { 1 } else { 2 }
    }

    wire_by_nullable!();
}

impl Nullable for String {
    fn decode_nullable(reader: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        reader.read_string()
    }

    fn encode_nullable(value: Option<&Self>, writer: &mut Writer) {
        writer.put_string(value.map(String::as_str));
    }
}

impl Wire for Bytes {
    fn size_min(format: Format) -> usize {
        if format.flexible { 1 } else { 4 }
    }

    wire_by_nullable!();
}

impl Nullable for Bytes {
    fn decode_nullable(reader: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        reader.read_bytes()
    }

    fn encode_nullable(value: Option<&Self>, writer: &mut Writer) {
        writer.put_length(value.map(Self::len));
        if let Some(bytes) = value {
            writer.put_chunk(bytes);
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn size_min(format: Format) -> usize {
        if format.flexible { 1 } else { 4 }
    }

    wire_by_nullable!();
}

impl<T: Wire> Nullable for Vec<T> {
    fn decode_nullable(reader: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        reader.read_elements()
    }

    fn encode_nullable(value: Option<&Self>, writer: &mut Writer) {
        writer.put_length(value.map(Self::len));
        for element in value.into_iter().flatten() {
            element.encode(writer);
        }
    }
}

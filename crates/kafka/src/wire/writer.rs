use bytes::{BufMut, Bytes, BytesMut};
use types::limits::KAFKA_COPIED_CHUNK_BYTES_MAX;

use super::{Chunks, EncodeError, Format, Wire};

/// Room for the length prefix of a frame.
const PREFIX_BYTES: usize = 4;
/// Room taken at first; most messages fit.
const BUFFER_BYTES: usize = 512;

/// Writes one frame. The first error is kept and told by [`Writer::finish`], so that encoders
/// need not pass it on field by field.
#[derive(Debug)]
pub struct Writer {
    /// All that is not spliced in, in one buffer.
    buffer: BytesMut,
    /// Bytes that stand at a position of `buffer` without being copied, in order.
    spliced: Vec<(usize, Bytes)>,
    /// Larger pieces are spliced in, others are copied.
    copied_bytes_max: usize,
    format: Format,
    error: Option<EncodeError>,
}

impl Writer {
    /// A writer of one frame.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let mut buffer = BytesMut::with_capacity(BUFFER_BYTES);
        buffer.put_bytes(0, PREFIX_BYTES);
        Self {
            buffer,
            spliced: Vec::new(),
            copied_bytes_max: KAFKA_COPIED_CHUNK_BYTES_MAX,
            format,
            error: None,
        }
    }

    /// A writer of a part whose size stands before it. It has all bytes in its buffer.
    fn of_part(format: Format) -> Self {
        Self {
            buffer: BytesMut::new(),
            spliced: Vec::new(),
            copied_bytes_max: usize::MAX,
            format,
            error: None,
        }
    }

    /// Version of the message that is written.
    #[must_use]
    pub fn version(&self) -> i16 {
        self.format.version
    }

    /// Sets the layout of what follows; a header and its body differ in it.
    pub fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Notes that the message cannot be written.
    pub fn fail(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
    }

    /// Writes bytes as they are.
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.buffer.put_slice(bytes);
    }

    /// Writes a 16-bit number.
    pub fn put_i16(&mut self, value: i16) {
        self.buffer.put_i16(value);
    }

    /// Writes a 32-bit number.
    pub fn put_i32(&mut self, value: i32) {
        self.buffer.put_i32(value);
    }

    /// Writes an unsigned number of one to five bytes, the lowest seven bits first.
    pub fn put_uvarint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.buffer.put_u8((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.buffer.put_u8((value & 0x7f) as u8);
    }

    /// Writes the length of an array or of bytes; `None` is null.
    pub fn put_length(&mut self, length: Option<usize>) {
        match length {
            None if self.format.flexible => self.put_uvarint(0),
            None => self.put_i32(-1),
            Some(length) if self.format.flexible => self.put_compact_length(length),
            Some(length) => match i32::try_from(length) {
                Ok(length) => self.put_i32(length),
                Err(_) => self.fail(EncodeError::TooLong(length)),
            },
        }
    }

    fn put_compact_length(&mut self, length: usize) {
        // Receivers keep the length in a signed 32-bit number.
        match i32::try_from(length) {
            Ok(fitting) => self.put_uvarint(fitting.unsigned_abs() + 1),
            Err(_) => self.fail(EncodeError::TooLong(length)),
        }
    }

    /// Writes a string; `None` is null.
    pub fn put_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) if self.format.flexible => {
                self.put_compact_length(text.len());
                self.put_slice(text.as_bytes());
            }
            None if self.format.flexible => self.put_uvarint(0),
            _ => self.put_classic_string(text),
        }
    }

    /// Writes a string with a 16-bit length whatever the format, as headers have it.
    pub fn put_classic_string(&mut self, text: Option<&str>) {
        let Some(text) = text else {
            return self.put_i16(-1);
        };
        match i16::try_from(text.len()) {
            Ok(length) => {
                self.put_i16(length);
                self.put_slice(text.as_bytes());
            }
            Err(_) => self.fail(EncodeError::TooLong(text.len())),
        }
    }

    /// Writes bytes without a length. Large ones are referred to, not copied.
    pub fn put_chunk(&mut self, bytes: &Bytes) {
        if bytes.len() <= self.copied_bytes_max {
            self.put_slice(bytes);
        } else {
            self.spliced.push((self.buffer.len(), bytes.clone()));
        }
    }

    /// Writes the tagged fields that end a flexible structure, none in other versions. `fields`
    /// puts them in the order of their tags.
    pub fn put_tags(&mut self, fields: impl FnOnce(&mut Tags)) {
        if !self.format.flexible {
            return;
        }
        let mut tags = Tags {
            count: 0,
            writer: Self::of_part(self.format),
        };
        fields(&mut tags);
        debug_assert!(
            tags.writer.spliced.is_empty(),
            "tagged fields hold no records"
        );
        self.put_uvarint(tags.count);
        self.put_slice(&tags.writer.buffer);
        if let Some(error) = tags.writer.error {
            self.fail(error);
        }
    }

    /// The frame, its length prefix filled in.
    pub fn finish(mut self) -> Result<Chunks, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let spliced: usize = self.spliced.iter().map(|(_, bytes)| bytes.len()).sum();
        let length = self.buffer.len() - PREFIX_BYTES + spliced;
        let prefix = i32::try_from(length).map_err(|_| EncodeError::TooLong(length))?;
        if let Some(first) = self.buffer.first_chunk_mut() {
            *first = prefix.to_be_bytes();
        }
        let mut chunks = Chunks::default();
        let mut taken = 0;
        for (position, bytes) in self.spliced {
            chunks.push(self.buffer.split_to(position - taken).freeze());
            chunks.push(bytes);
            taken = position;
        }
        chunks.push(self.buffer.freeze());
        Ok(chunks)
    }
}

/// The tagged fields of one structure, on their way out.
#[derive(Debug)]
pub struct Tags {
    count: u32,
    writer: Writer,
}

impl Tags {
    /// Puts one field unless it has its default.
    pub fn put<T: Wire + PartialEq>(&mut self, tag: u32, value: &T, default: T) {
        if *value == default {
            return;
        }
        let mut inner = Writer::of_part(self.writer.format);
        value.encode(&mut inner);
        self.count += 1;
        self.writer.put_uvarint(tag);
        match u32::try_from(inner.buffer.len()) {
            Ok(size) => self.writer.put_uvarint(size),
            Err(_) => self.writer.fail(EncodeError::TooLong(inner.buffer.len())),
        }
        self.writer.put_slice(&inner.buffer);
        if let Some(error) = inner.error {
            self.writer.fail(error);
        }
    }
}

//! One record, borrowed from the bytes of its batch.

use types::Offset;

use crate::cursor::Cursor;
use crate::shape::{header_count, nullable_len};
use crate::{BatchHeader, RecordFlaw, TimestampType};

/// One record. Its parts are slices of the batch, or of what the batch was unpacked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Offset in the partition.
    pub offset: Offset,
    /// Offset less the batch's base.
    pub offset_delta: i32,
    /// The record's time; the batch's append time where the topic has that.
    pub timestamp_ms: i64,
    /// The key, or null.
    pub key: Option<&'a [u8]>,
    /// The value, or null (a tombstone).
    pub value: Option<&'a [u8]>,
    /// The headers in the order in which they were written.
    pub headers: Headers<'a>,
}

impl<'a> Record<'a> {
    /// Reads a record whose bytes (behind the length) are exactly `bytes`.
    pub(crate) fn parse(bytes: &'a [u8], batch: &BatchHeader) -> Result<Self, RecordFlaw> {
        let mut cursor = Cursor::new(bytes);
        cursor.byte().ok_or(RecordFlaw::FieldTooLong)?;
        let timestamp_delta = cursor.varlong()?;
        let offset_delta = cursor.varint()?;
        let record = Self {
            offset: batch.base_offset.plus(i64::from(offset_delta)),
            offset_delta,
            timestamp_ms: timestamp_of(batch, timestamp_delta)?,
            key: nullable(&mut cursor)?,
            value: nullable(&mut cursor)?,
            headers: Headers::parse(&mut cursor)?,
        };
        if cursor.rest().is_empty() {
            Ok(record)
        } else {
            Err(RecordFlaw::BytesLeft)
        }
    }
}

/// The time of a record with this delta.
pub(crate) fn timestamp_of(batch: &BatchHeader, delta: i64) -> Result<i64, RecordFlaw> {
    match batch.attributes.timestamp_type() {
        TimestampType::LogAppendTime => Ok(batch.max_timestamp_ms),
        TimestampType::CreateTime => batch
            .base_timestamp_ms
            .checked_add(delta)
            .ok_or(RecordFlaw::TimestampOverflow),
    }
}

fn nullable<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, RecordFlaw> {
    match nullable_len(cursor.varint()?)? {
        Some(len) => cursor.take(len).map(Some).ok_or(RecordFlaw::FieldTooLong),
        None => Ok(None),
    }
}

/// A header of a record. Keys may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The key; by convention UTF-8, which nobody checks.
    pub key: &'a [u8],
    /// The value, or null.
    pub value: Option<&'a [u8]>,
}

/// The headers of a record, in order. They were checked when the record was read.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    cursor: Cursor<'a>,
    left: usize,
}

impl<'a> Headers<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, RecordFlaw> {
        let count = header_count(cursor.varint()?, cursor.rest().len())?;
        let headers = Self {
            cursor: *cursor,
            left: count,
        };
        for _ in 0..count {
            next_header(cursor)?;
        }
        Ok(headers)
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.left = self.left.checked_sub(1)?;
        next_header(&mut self.cursor).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Headers<'_> {}

impl PartialEq for Headers<'_> {
    fn eq(&self, other: &Self) -> bool {
        Iterator::eq(*self, *other)
    }
}

impl Eq for Headers<'_> {}

fn next_header<'a>(cursor: &mut Cursor<'a>) -> Result<Header<'a>, RecordFlaw> {
    let key = nullable(cursor)?.ok_or(RecordFlaw::NullHeaderKey)?;
    Ok(Header {
        key,
        value: nullable(cursor)?,
    })
}

//! The walk through one record's fields that checks their form and keeps nothing of their bytes.

use types::limits;

use crate::RecordFlaw;
use crate::cursor::Cursor;
use crate::varint::Bad;

/// What a check needs to know of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordShape {
    pub(crate) timestamp_delta: i64,
    pub(crate) offset_delta: i32,
    pub(crate) has_key: bool,
}

/// A record's bytes, wherever they come from. `E` is what reading may fail with besides.
pub(crate) trait Fields {
    type Error: From<RecordFlaw>;

    fn byte(&mut self) -> Result<u8, Self::Error>;
    fn varint(&mut self) -> Result<i32, Self::Error>;
    fn varlong(&mut self) -> Result<i64, Self::Error>;
    fn skip(&mut self, count: usize) -> Result<(), Self::Error>;
    /// Bytes of the record that are still to come.
    fn left(&self) -> usize;
}

/// Walks a record whose length was read already and whose bytes end where `fields` ends.
#[inline]
pub(crate) fn walk<F: Fields>(fields: &mut F) -> Result<RecordShape, F::Error> {
    // The record's own attributes are unused so far; any value passes, as in Kafka.
    fields.byte()?;
    let timestamp_delta = fields.varlong()?;
    let offset_delta = fields.varint()?;
    let has_key = skip_nullable(fields)?;
    skip_nullable(fields)?;
    let headers = header_count(fields.varint()?, fields.left())?;
    for _ in 0..headers {
        skip_header(fields)?;
    }
    if fields.left() != 0 {
        return Err(RecordFlaw::BytesLeft.into());
    }
    Ok(RecordShape {
        timestamp_delta,
        offset_delta,
        has_key,
    })
}

/// A header takes two bytes at least, so the count is held against the bytes left.
pub(crate) fn header_count(claimed: i32, left: usize) -> Result<usize, RecordFlaw> {
    let count = usize::try_from(claimed).map_err(|_| RecordFlaw::HeaderCount)?;
    if count > limits::RECORD_HEADERS_MAX || count > left / 2 {
        return Err(RecordFlaw::HeaderCount);
    }
    Ok(count)
}

/// Length of a key or value, `None` for null.
pub(crate) fn nullable_len(claimed: i32) -> Result<Option<usize>, RecordFlaw> {
    match usize::try_from(claimed) {
        Ok(len) => Ok(Some(len)),
        Err(_) if claimed == -1 => Ok(None),
        Err(_) => Err(RecordFlaw::NegativeField),
    }
}

#[inline]
fn skip_nullable<F: Fields>(fields: &mut F) -> Result<bool, F::Error> {
    match nullable_len(fields.varint()?)? {
        Some(len) => fields.skip(len).map(|()| true),
        None => Ok(false),
    }
}

fn skip_header<F: Fields>(fields: &mut F) -> Result<(), F::Error> {
    let key = nullable_len(fields.varint()?)?.ok_or(RecordFlaw::NullHeaderKey)?;
    fields.skip(key)?;
    skip_nullable(fields).map(|_| ())
}

impl From<Bad> for RecordFlaw {
    fn from(bad: Bad) -> Self {
        match bad {
            Bad::Truncated => Self::FieldTooLong,
            Bad::TooLong => Self::Varint,
        }
    }
}

impl Fields for Cursor<'_> {
    type Error = RecordFlaw;

    #[inline]
    fn byte(&mut self) -> Result<u8, RecordFlaw> {
        Cursor::byte(self).ok_or(RecordFlaw::FieldTooLong)
    }

    #[inline]
    fn varint(&mut self) -> Result<i32, RecordFlaw> {
        Ok(Cursor::varint(self)?)
    }

    #[inline]
    fn varlong(&mut self) -> Result<i64, RecordFlaw> {
        Ok(Cursor::varlong(self)?)
    }

    #[inline]
    fn skip(&mut self, count: usize) -> Result<(), RecordFlaw> {
        self.take(count).map(|_| ()).ok_or(RecordFlaw::FieldTooLong)
    }

    #[inline]
    fn left(&self) -> usize {
        self.rest().len()
    }
}

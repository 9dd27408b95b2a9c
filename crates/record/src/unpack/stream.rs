//! A walk over unpacked records that holds a few steps of them at a time.

use types::limits;

use super::{Output, Unpacker};
use crate::cursor::Cursor;
use crate::records::length_flaw;
use crate::shape::{Fields, RecordShape, walk};
use crate::varint::{Bad, VARINT_BYTES_MAX, VARLONG_BYTES_MAX};
use crate::{BatchError, Codec, RecordFlaw};

/// Records up to this size are brought together in memory; the fields of longer ones pass by.
const WHOLE_RECORD_BYTES_MAX: usize = limits::UNPACK_STEP_BYTES;

/// The unpacked bytes of a body, as far as they are unpacked.
pub(crate) struct Stream<'a> {
    unpacker: Unpacker<'a>,
    output: Output,
}

/// What stops a walk: a record, or the batch around it.
#[derive(Debug)]
pub(crate) enum Stop {
    Record(RecordFlaw),
    Batch(BatchError),
}

impl From<RecordFlaw> for Stop {
    fn from(flaw: RecordFlaw) -> Self {
        Self::Record(flaw)
    }
}

impl From<BatchError> for Stop {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl<'a> Stream<'a> {
    pub(crate) fn new(codec: Codec, body: &'a [u8], bytes_max: usize) -> Result<Self, BatchError> {
        let unpacker = Unpacker::new(codec, body)?;
        Ok(Self {
            unpacker,
            output: Output::over(Vec::new(), bytes_max),
        })
    }

    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        self.output.ahead()
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.output.consume(count);
    }

    /// Unpacks until `count` bytes are ahead; false when the body ends before.
    pub(crate) fn want(&mut self, count: usize) -> Result<bool, BatchError> {
        while self.ahead().len() < count {
            if self.unpacker.step(&mut self.output)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether everything was consumed and the body ended as it should.
    pub(crate) fn at_end(&mut self) -> Result<bool, BatchError> {
        self.want(1).map(|more| !more)
    }

    /// Length of the record that follows.
    pub(crate) fn record_len(&mut self) -> Result<usize, Stop> {
        self.want(VARINT_BYTES_MAX)?;
        let len = self
            .number(VARINT_BYTES_MAX, |cursor| cursor.varint())
            .map_err(|stop| {
                // A number cut here is the batch cut short, not a field too long.
                match stop {
                    Stop::Record(RecordFlaw::FieldTooLong) => {
                        Stop::Record(length_flaw(Bad::Truncated))
                    }
                    other => other,
                }
            })?;
        usize::try_from(len).map_err(|_| RecordFlaw::NegativeLength.into())
    }

    /// Walks through the record of `len` bytes that follows.
    pub(crate) fn record(&mut self, len: usize) -> Result<RecordShape, Stop> {
        if len > WHOLE_RECORD_BYTES_MAX {
            return walk(&mut Passing {
                stream: self,
                left: len,
            });
        }
        self.want(len)?;
        let bytes = self.ahead().get(..len).ok_or(RecordFlaw::Truncated)?;
        let shape = walk(&mut Cursor::new(bytes))?;
        self.consume(len);
        Ok(shape)
    }

    /// Reads a number that lies within the next `bytes_max` bytes.
    fn number<T>(
        &mut self,
        bytes_max: usize,
        read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Bad>,
    ) -> Result<T, Stop> {
        let ahead = self.ahead();
        let bytes = ahead.get(..bytes_max).unwrap_or(ahead);
        let mut cursor = Cursor::new(bytes);
        let value = read(&mut cursor).map_err(RecordFlaw::from)?;
        let used = bytes.len().saturating_sub(cursor.rest().len());
        self.consume(used);
        Ok(value)
    }
}

/// The fields of a record that is too long to be held.
struct Passing<'s, 'a> {
    stream: &'s mut Stream<'a>,
    left: usize,
}

impl Passing<'_, '_> {
    fn number<T>(
        &mut self,
        bytes_max: usize,
        read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Bad>,
    ) -> Result<T, Stop> {
        let within = bytes_max.min(self.left);
        let complete = self.stream.want(within)?;
        let before = self.stream.ahead().len();
        let value = self
            .stream
            .number(within, read)
            .map_err(|stop| match stop {
                Stop::Record(RecordFlaw::FieldTooLong) if !complete => RecordFlaw::Truncated.into(),
                other => other,
            })?;
        let used = before.saturating_sub(self.stream.ahead().len());
        self.left = self.left.saturating_sub(used);
        Ok(value)
    }
}

impl Fields for Passing<'_, '_> {
    type Error = Stop;

    fn byte(&mut self) -> Result<u8, Stop> {
        self.number(1, |cursor| cursor.byte().ok_or(Bad::Truncated))
    }

    fn varint(&mut self) -> Result<i32, Stop> {
        self.number(VARINT_BYTES_MAX, |cursor| cursor.varint())
    }

    fn varlong(&mut self) -> Result<i64, Stop> {
        self.number(VARLONG_BYTES_MAX, |cursor| cursor.varlong())
    }

    fn skip(&mut self, count: usize) -> Result<(), Stop> {
        self.left = self
            .left
            .checked_sub(count)
            .ok_or(RecordFlaw::FieldTooLong)?;
        let mut due = count;
        while due > 0 {
            if !self.stream.want(1)? {
                return Err(RecordFlaw::Truncated.into());
            }
            let now = due.min(self.stream.ahead().len());
            self.stream.consume(now);
            due -= now;
        }
        Ok(())
    }

    fn left(&self) -> usize {
        self.left
    }
}

//! Writing a checked batch anew: with another codec, or with the offsets it should have had.

use types::limits;

use crate::cursor::Cursor;
use crate::pack::Packer;
use crate::unpack::{Stop, Stream};
use crate::varint::{self, VARINT_BYTES_MAX, VARLONG_BYTES_MAX};
use crate::{BatchError, BatchHeader, Codec, Flaw, HEADER_BYTES, RecordError, RecordFlaw, Rules};

/// A record's attributes, timestamp delta and offset delta take so much at most.
const FRONT_BYTES_MAX: usize = 1 + VARLONG_BYTES_MAX + VARINT_BYTES_MAX;

/// Packs the records of `body` with `codec`, numbered from 0, and gives the new body. Everything
/// else of the records stays as it is.
pub(crate) fn repack(
    header: &BatchHeader,
    (from, body): (Codec, &[u8]),
    codec: Codec,
    rules: &Rules,
) -> Result<Vec<u8>, BatchError> {
    let bytes_max = rules.max_bytes.saturating_sub(HEADER_BYTES);
    let open = || Stream::new(from, body, rules.unpacked_bytes_max);
    let mut input_bytes = None;
    if codec == Codec::Zstd {
        let counted = Repack::new(open()?, Packer::counter()).run(header.count)?;
        input_bytes = counted.counted();
    }
    let packer = Packer::new(codec, rules.levels, bytes_max, input_bytes)?;
    Repack::new(open()?, packer).run(header.count)?.finish()
}

struct Repack<'a> {
    stream: Stream<'a>,
    packer: Packer,
    /// What the packer has not been given yet: it likes few large pieces.
    pending: Vec<u8>,
}

impl<'a> Repack<'a> {
    const fn new(stream: Stream<'a>, packer: Packer) -> Self {
        Self {
            stream,
            packer,
            pending: Vec::new(),
        }
    }

    /// Moves all records and gives the packer back, to be finished.
    fn run(mut self, count: i32) -> Result<Packer, BatchError> {
        for index in 0..count {
            self.record(index).map_err(|stop| match stop {
                Stop::Record(flaw) => BatchError::InvalidRecords(vec![RecordError { index, flaw }]),
                Stop::Batch(error) => error,
            })?;
        }
        if !self.stream.at_end()? {
            return Err(BatchError::InvalidBatch(Flaw::BytesLeft));
        }
        self.packer.write(&self.pending)?;
        Ok(self.packer)
    }

    fn record(&mut self, index: i32) -> Result<(), Stop> {
        let len = self.stream.record_len()?;
        self.stream.want(len.min(FRONT_BYTES_MAX))?;
        let ahead = self.stream.ahead();
        let within = ahead.get(..len).unwrap_or(ahead);
        let mut cursor = Cursor::new(within);
        cursor.byte().ok_or(RecordFlaw::FieldTooLong)?;
        cursor.varlong().map_err(RecordFlaw::from)?;
        let kept = within.len().saturating_sub(cursor.rest().len());
        cursor.varint().map_err(RecordFlaw::from)?;
        let front = within.len().saturating_sub(cursor.rest().len());

        let index = i64::from(index);
        let rest = len.saturating_sub(front);
        let fixed = kept.saturating_add(varint::size(index));
        let new_len = i64::try_from(fixed.saturating_add(rest));
        let new_len = new_len.map_err(|_| RecordFlaw::Truncated)?;
        varint::put(&mut self.pending, new_len);
        self.pending
            .extend_from_slice(within.get(..kept).unwrap_or_default());
        varint::put(&mut self.pending, index);
        self.stream.consume(front);
        self.copy(rest)
    }

    fn copy(&mut self, count: usize) -> Result<(), Stop> {
        let mut due = count;
        while due > 0 {
            if !self.stream.want(1)? {
                return Err(RecordFlaw::Truncated.into());
            }
            let ahead = self.stream.ahead();
            let now = ahead.get(..due).unwrap_or(ahead);
            self.pending.extend_from_slice(now);
            let copied = now.len();
            self.stream.consume(copied);
            due -= copied;
            self.pass_on()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), BatchError> {
        if self.pending.len() >= limits::UNPACK_STEP_BYTES {
            self.packer.write(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }
}

//! Writing a checked batch anew: with another codec, or with the offsets it should have had.

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
        let mut counter = Packer::counter();
        records(open()?, &mut counter, header.count)?;
        input_bytes = counter.counted();
    }
    let mut packer = Packer::new(codec, rules.levels, bytes_max, input_bytes)?;
    records(open()?, &mut packer, header.count)?;
    packer.finish()
}

fn records(mut stream: Stream<'_>, packer: &mut Packer, count: i32) -> Result<(), BatchError> {
    for index in 0..count {
        record(&mut stream, packer, index).map_err(|stop| match stop {
            Stop::Record(flaw) => BatchError::InvalidRecords(vec![RecordError { index, flaw }]),
            Stop::Batch(error) => error,
        })?;
    }
    if stream.at_end()? {
        Ok(())
    } else {
        Err(BatchError::InvalidBatch(Flaw::BytesLeft))
    }
}

fn record(stream: &mut Stream<'_>, packer: &mut Packer, index: i32) -> Result<(), Stop> {
    let len = stream.record_len()?;
    stream.want(len.min(FRONT_BYTES_MAX))?;
    let ahead = stream.ahead();
    let within = ahead.get(..len.min(ahead.len())).unwrap_or_default();
    let mut cursor = Cursor::new(within);
    cursor.byte().ok_or(RecordFlaw::FieldTooLong)?;
    cursor.varlong().map_err(RecordFlaw::from)?;
    let kept = within.len().saturating_sub(cursor.rest().len());
    cursor.varint().map_err(RecordFlaw::from)?;
    let front = within.len().saturating_sub(cursor.rest().len());

    let rest = len.saturating_sub(front);
    let mut anew = Vec::with_capacity(FRONT_BYTES_MAX + VARINT_BYTES_MAX);
    let new_len = kept
        .saturating_add(varint::size(i64::from(index)))
        .saturating_add(rest);
    varint::put(
        &mut anew,
        i64::try_from(new_len).map_err(|_| RecordFlaw::Truncated)?,
    );
    anew.extend_from_slice(within.get(..kept).unwrap_or_default());
    varint::put(&mut anew, i64::from(index));
    packer.write(&anew)?;
    stream.consume(front);
    copy(stream, packer, rest)
}

fn copy(stream: &mut Stream<'_>, packer: &mut Packer, count: usize) -> Result<(), Stop> {
    let mut due = count;
    while due > 0 {
        if !stream.want(1)? {
            return Err(RecordFlaw::Truncated.into());
        }
        let ahead = stream.ahead();
        let now = ahead.get(..due).unwrap_or(ahead);
        packer.write(now)?;
        let copied = now.len();
        stream.consume(copied);
        due -= copied;
    }
    Ok(())
}

//! Looking for records by time.

use bytes::Bytes;
use types::{Offset, limits};

use crate::record::timestamp_of;
use crate::records::{known_codec, split};
use crate::unpack::{Stop, Stream};
use crate::{BatchError, BatchHeader, RecordError};

/// The first record of the batch whose time is `at_ms` or later: its offset and time.
///
/// # Errors
/// As [`crate::Records::read`].
pub fn offset_for_timestamp(
    batch: &Bytes,
    at_ms: i64,
) -> Result<Option<(Offset, i64)>, BatchError> {
    let mut found = None;
    each_time(batch, |offset, timestamp_ms| {
        if timestamp_ms >= at_ms {
            found = Some((offset, timestamp_ms));
        }
        found.is_none()
    })?;
    Ok(found)
}

/// The first record of the batch that has its largest time: its offset and that time. `None` when
/// the batch has no records.
///
/// # Errors
/// As [`crate::Records::read`].
pub fn offset_of_max_timestamp(batch: &Bytes) -> Result<Option<(Offset, i64)>, BatchError> {
    let mut largest = None;
    each_time(batch, |offset, timestamp_ms| {
        if largest.is_none_or(|(_, max)| timestamp_ms > max) {
            largest = Some((offset, timestamp_ms));
        }
        true
    })?;
    Ok(largest)
}

/// Shows offset and time of each record until `see` has seen enough.
fn each_time(batch: &Bytes, mut see: impl FnMut(Offset, i64) -> bool) -> Result<(), BatchError> {
    let (header, body) = split(batch)?;
    let codec = known_codec(&header)?;
    if header.count <= 0 {
        return Ok(());
    }
    let mut stream = Stream::new(codec, body, limits::UNPACKED_BATCH_BYTES_MAX)?;
    for index in 0..header.count {
        let (offset, timestamp_ms) = next(&mut stream, &header).map_err(|stop| match stop {
            Stop::Record(flaw) => BatchError::InvalidRecords(vec![RecordError { index, flaw }]),
            Stop::Batch(error) => error,
        })?;
        if !see(offset, timestamp_ms) {
            break;
        }
    }
    Ok(())
}

fn next(stream: &mut Stream<'_>, header: &BatchHeader) -> Result<(Offset, i64), Stop> {
    let len = stream.record_len()?;
    let shape = stream.record(len)?;
    let offset = header.base_offset.plus(i64::from(shape.offset_delta));
    Ok((offset, timestamp_of(header, shape.timestamp_delta)?))
}

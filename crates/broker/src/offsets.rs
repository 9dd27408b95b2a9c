//! Finding offsets by time.

use std::sync::Arc;

use log::read::{Mode, Reader, Want, split};
use log::segment::find_by_time;
use record::{BatchHeader, Records};
use types::Offset;

use crate::broker::Broker;
use crate::error::FetchError;
use crate::partition::Partition;

/// What offset is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetQuery {
    /// The first record at or after this time.
    Timestamp(i64),
    /// The first record with the largest time.
    MaxTimestamp,
}

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its offset.
    pub offset: Offset,
    /// Its timestamp.
    pub timestamp_ms: i64,
}

impl Broker {
    /// Looks for an offset by time among what can be read. `None` when no record is so late.
    ///
    /// # Errors
    /// [`FetchError`].
    pub async fn find_offset(
        &self,
        partition: &Arc<Partition>,
        query: OffsetQuery,
    ) -> Result<Option<Found>, FetchError> {
        if partition.is_deleted() {
            return Err(FetchError::UnknownPartition);
        }
        let partition = Arc::clone(partition);
        let found = self
            .run_blocking(move |reader| find(reader, &partition, query))
            .await;
        Ok(found.ok_or(FetchError::Closing)??)
    }
}

fn find(
    reader: &Reader,
    partition: &Partition,
    query: OffsetQuery,
) -> Result<Option<Found>, log::Error> {
    let log_start = partition.log_start();
    let target = match query {
        OffsetQuery::Timestamp(ms) => ms,
        OffsetQuery::MaxTimestamp => {
            let index = partition.index.read();
            let live = index.runs().filter(|run| run.end_offset > log_start);
            let Some(largest) = live.map(|run| run.max_timestamp_ms).max() else {
                return Ok(None);
            };
            largest
        }
    };
    find_at_or_after(reader, partition, log_start, target)
}

/// The first record from `from` on whose timestamp is at least `target`. Timestamps are the
/// producers' and come in any order, so every stretch that may hold one is looked at.
fn find_at_or_after(
    reader: &Reader,
    partition: &Partition,
    from: Offset,
    target: i64,
) -> Result<Option<Found>, log::Error> {
    let mut at = from;
    while let Some((start, end)) = next_stretch(reader, partition, at, target)? {
        let start = start.max(at);
        let want = Want {
            partition: partition.id,
            from: start,
            until: start,
            max_bytes: 0,
            at_least_one: true,
        };
        let mut next = start;
        while next < end {
            let want = Want {
                from: next,
                until: partition.readable_until(next)?,
                ..want
            };
            let batches = reader
                .read(&partition.index, want, Mode::Blocking)?
                .into_batches();
            let Some((header, batch)) = split(&batches.concat())?.into_iter().next() else {
                break;
            };
            if header.max_timestamp_ms >= target
                && let Some(found) = in_batch(&batch, from, target)
            {
                return Ok(Some(found));
            }
            next = header.last_offset().plus(1);
        }
        at = end.max(at.plus(1));
    }
    Ok(None)
}

/// The next stretch of offsets at or after `at` that may hold a record as late as `target`.
fn next_stretch(
    reader: &Reader,
    partition: &Partition,
    at: Offset,
    target: i64,
) -> Result<Option<(Offset, Offset)>, log::Error> {
    let part = {
        let index = partition.index.read();
        let late = index
            .segments()
            .find(|part| part.run.end_offset > at && part.run.max_timestamp_ms >= target);
        match late {
            Some(part) => part.clone(),
            None => {
                let mut batches = index.batches_from(at).map(|(_, batch)| batch);
                let late = batches.find(|batch| batch.max_timestamp_ms >= target);
                return Ok(late.map(|batch| (batch.base_offset, batch.end_offset())));
            }
        }
    };
    let extents = reader.extents_of(&part, partition.id, Mode::Blocking)?;
    let extents = extents.as_deref().unwrap_or_default();
    let later = extents.partition_point(|extent| extent.end_offset <= at);
    let later = extents.get(later..).unwrap_or_default();
    let found = find_by_time(later, target).and_then(|i| later.get(i));
    // A segment whose late records all lie before `at` is passed over whole.
    Ok(Some(found.map_or(
        (part.run.end_offset, part.run.end_offset),
        |extent| (extent.base_offset, extent.end_offset),
    )))
}

fn in_batch(batch: &bytes::Bytes, from: Offset, target: i64) -> Option<Found> {
    let base = BatchHeader::parse(batch).ok()?.base_offset;
    let mut scratch = Vec::new();
    let records = Records::read(batch, &mut scratch).ok()?;
    let found = records.map_while(Result::ok).map(|record| Found {
        offset: base.plus(i64::from(record.offset_delta)),
        timestamp_ms: record.timestamp_ms,
    });
    // A trim may have cut into the batch.
    found
        .into_iter()
        .find(|found| found.offset >= from && found.timestamp_ms >= target)
}

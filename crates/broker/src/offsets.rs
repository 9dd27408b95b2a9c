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
        OffsetQuery::MaxTimestamp => match largest(reader, partition, log_start)? {
            Some(largest) => largest,
            None => return Ok(None),
        },
    };
    find_at_or_after(reader, partition, log_start, target)
}

/// The largest timestamp of the records from `log_start` on.
fn largest(
    reader: &Reader,
    partition: &Partition,
    log_start: Offset,
) -> Result<Option<i64>, log::Error> {
    let (cut, whole, sealed) = {
        let index = partition.index.read();
        let live = || index.runs().filter(|run| run.end_offset > log_start);
        // What a run says counts what was trimmed of it as well.
        let cut = live().find(|run| run.first_offset < log_start);
        let whole = live().filter(|run| run.first_offset >= log_start);
        let whole = whole.map(|run| run.max_timestamp_ms).max();
        (cut, whole, index.segment_at(log_start).cloned())
    };
    let Some(cut) = cut else {
        return Ok(whole);
    };
    let sealed = sealed.filter(|part| part.run.first_offset < log_start);
    let (cut_end, behind) = match sealed {
        None => (cut.end_offset, None),
        Some(part) => {
            let extents = reader.extents_of(&part, partition.id, Mode::Blocking)?;
            let extents = extents.as_deref().unwrap_or_default();
            let (begun_before, behind) =
                extents.split_at(extents.partition_point(|extent| extent.base_offset < log_start));
            let behind = behind.iter().map(|extent| extent.max_timestamp_ms).max();
            let cut_end = begun_before.last().map(|extent| extent.end_offset);
            (cut_end.unwrap_or(log_start), behind)
        }
    };
    let mut in_cut = None;
    each_batch(reader, partition, (log_start, cut_end), |_, batch| {
        let live = records(batch).filter(|found| found.offset >= log_start);
        in_cut = in_cut.max(live.map(|found| found.timestamp_ms).max());
        false
    })?;
    Ok(in_cut.max(behind).max(whole))
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
        let mut found = None;
        each_batch(reader, partition, (start.max(at), end), |header, batch| {
            if header.max_timestamp_ms >= target {
                // A trim may have cut into the batch.
                found = records(batch).find(|of| of.offset >= from && of.timestamp_ms >= target);
            }
            found.is_some()
        })?;
        if found.is_some() {
            return Ok(found);
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

/// Reads the batches of a stretch of offsets, until `visit` has seen enough.
fn each_batch(
    reader: &Reader,
    partition: &Partition,
    (mut next, end): (Offset, Offset),
    mut visit: impl FnMut(&BatchHeader, &bytes::Bytes) -> bool,
) -> Result<(), log::Error> {
    while next < end {
        let want = Want {
            partition: partition.id,
            from: next,
            until: partition.readable_until(next)?,
            max_bytes: 0,
            at_least_one: true,
        };
        let batches = reader
            .read(&partition.index, want, Mode::Blocking)?
            .into_batches();
        let Some((header, batch)) = split(&batches.concat())?.into_iter().next() else {
            break;
        };
        if visit(&header, &batch) {
            break;
        }
        next = header.last_offset().plus(1);
    }
    Ok(())
}

/// The records of a batch.
fn records(batch: &bytes::Bytes) -> impl Iterator<Item = Found> {
    let base = BatchHeader::parse(batch).map(|header| header.base_offset);
    let mut scratch = Vec::new();
    let records = Records::read(batch, &mut scratch).ok();
    let found = base.ok().zip(records).map(|(base, records)| {
        let records = records.map_while(Result::ok);
        let records = records.map(|record| Found {
            offset: base.plus(i64::from(record.offset_delta)),
            timestamp_ms: record.timestamp_ms,
        });
        records.collect::<Vec<_>>()
    });
    found.unwrap_or_default().into_iter()
}

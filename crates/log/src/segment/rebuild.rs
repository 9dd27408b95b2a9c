//! The index of a segment whose footer cannot be read, made anew from its data file: indexes are
//! derived, the log always wins.

use std::collections::BTreeMap;
use std::sync::Arc;

use types::PartitionId;

use super::collect::Collector;
use super::extent::Extent;
use super::handle::Segment;
use super::row::DirectoryRow;
use super::scan::FrameScan;
use crate::error::{Corruption, Error};

/// Extents by partition.
pub(super) type Rebuilt = BTreeMap<PartitionId, Arc<[Extent]>>;

/// Reads the whole data file. A batch that does not match its CRC, be it punched out, comes as a
/// damaged extent: nobody reads below a log start.
///
/// # Errors
/// [`Error::Corrupt`] where a frame header is bad; those of the device.
pub(super) fn rebuild(segment: &Segment) -> Result<Rebuilt, Error> {
    let (data, path) = (&segment.info().data, segment.data_path());
    let mut scan = FrameScan::new(Arc::clone(segment.data()), &path, data.epoch, data.end);
    let mut collector = Collector::new(&path, Box::new(|_| false));
    while scan.step(&mut collector)? {}
    let runs = collector.runs.into_iter();
    Ok(runs.map(|(id, run)| (id, run.extents.into())).collect())
}

/// The extents of a row, if they are about the same offsets.
///
/// # Errors
/// [`Error::Corrupt`] when they are not: the data file is another one.
pub(super) fn rebuilt_extents(
    segment: &Segment,
    rebuilt: &Rebuilt,
    row: &DirectoryRow,
) -> Result<Arc<[Extent]>, Error> {
    let extents = rebuilt.get(&row.partition).cloned().unwrap_or_default();
    let first = extents.first().map(|extent| extent.base_offset);
    let end = extents.last().map(|extent| extent.end_offset);
    if first == Some(row.first_offset) && end == Some(row.end_offset) {
        return Ok(extents);
    }
    Err(Error::Corrupt(Corruption {
        path: segment.data_path(),
        position: 0,
        what: "batches of a partition",
        expected: format!(
            "offsets [{}, {}) of partition {}",
            row.first_offset, row.end_offset, row.partition
        ),
        found: format!("from {first:?} to {end:?}"),
    }))
}

//! Which blocks of a data file hold nothing but dead batches.

use std::ops::Range;

use types::Offset;
use types::limits::BLOCK_BYTES;

use super::extent::Extent;

/// The byte ranges (position and length) of a data file that may be punched: whole blocks of which every byte belongs to
/// extents below the log start of their partition. Each of `runs` is the extents of one partition
/// and its log start ([`i64::MAX`] for a partition that is gone).
///
/// Headers of frames and the padding between frames are never part of an extent, so they survive:
/// replay, verification and sealing find their way through a punched file by them, and check no
/// payload that is dead. Nothing else keeps account of what was punched. So the log start must be
/// that of both kept checkpoints before any range is punched, and it never goes back.
#[must_use]
pub fn dead_ranges<'a>(runs: impl IntoIterator<Item = (&'a [Extent], Offset)>) -> Vec<(u64, u64)> {
    let mut dead: Vec<Range<u64>> = Vec::new();
    for (extents, log_start) in runs {
        let below = extents.partition_point(|extent| extent.end_offset <= log_start);
        let below = extents.get(..below).unwrap_or_default();
        dead.extend(
            below
                .iter()
                .map(|extent| extent.position..extent.end_position()),
        );
    }
    dead.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in dead {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined.into_iter().filter_map(whole_blocks).collect()
}

fn whole_blocks(range: Range<u64>) -> Option<(u64, u64)> {
    let start = range.start.checked_next_multiple_of(BLOCK_BYTES)?;
    let end = range.end - range.end % BLOCK_BYTES;
    (start < end).then(|| (start, end - start))
}

//! Numbers that are handed out once.

use std::ops::Range;

use crate::metadata::{MetadataEntry, MetadataView};

/// Sets producer ids aside; they may be handed out once the entry is applied. A node that stops
/// loses what it has not handed out. Empty once all 2^63 are gone.
#[must_use]
pub fn decide_producer_ids(view: MetadataView<'_>, count: i64) -> (Range<i64>, MetadataEntry) {
    let first = view.next_producer_id();
    let next = first.saturating_add(count.max(0));
    (first..next, MetadataEntry::ProducerIds { next })
}

/// Moves the leader epoch of every partition, after a start that may have lost what a reader knows.
#[must_use]
pub fn decide_leader_epoch(view: MetadataView<'_>) -> MetadataEntry {
    MetadataEntry::LeaderEpochBase {
        epoch: view.leader_epoch_base().saturating_add(1),
    }
}

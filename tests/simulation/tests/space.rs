//! Bytes that nobody needs any more are given back though others in their segment live.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]

use std::sync::Arc;
use std::time::Duration;

use disk::Op;
use log::segment::{Segment, dead_ranges};
use simulation::calm::Calm;
use types::{Offset, PartitionId};

/// A topic that lives and one that is to be deleted, both with records in the same file.
fn scene() -> (Calm, PartitionId, PartitionId) {
    let mut calm = Calm::new().unwrap();
    calm.disk.record_operations(true);
    // After a start checkpoints come without a pause for a moment.
    calm.rest(Duration::from_secs(2));
    let (kept, doomed) = (
        calm.create("kept", 1).unwrap(),
        calm.create("doomed", 1).unwrap(),
    );
    calm.append(kept[0], 14_000).unwrap();
    calm.append(doomed[0], 14_000).unwrap();
    calm.append(doomed[0], 14_000).unwrap();
    (calm, kept[0], doomed[0])
}

/// Fills log files with records that live until the oldest is sealed, and gives its segment.
fn seal(calm: &mut Calm, kept: PartitionId) -> Arc<Segment> {
    while calm.node.owner.segments().next().is_none() {
        calm.append(kept, 14_000).unwrap();
    }
    calm.node.owner.segments().next().unwrap().clone()
}

/// Time in which nothing is asked for: what waits for two checkpoints gets them.
fn rest(calm: &mut Calm) {
    (0..5).for_each(|_| calm.rest(Duration::from_secs(2)));
}

/// The blocks of a partition in a segment that were punched out, and those that were not.
fn blocks(calm: &Calm, segment: &Segment, partition: PartitionId) -> (usize, usize) {
    let extents = segment.stored_extents(partition).unwrap();
    let dead = dead_ranges([(extents.as_ref(), Offset(i64::MAX))]);
    assert!(!dead.is_empty(), "too small a run to be punched");
    let path = segment.data_path();
    let punched: Vec<_> = calm
        .disk
        .operations()
        .into_iter()
        .filter(|operation| operation.op == Op::Punch && *operation.path == *path)
        .map(|operation| operation.position..operation.position + operation.len)
        .collect();
    let is_punched = |(position, len): &(u64, u64)| {
        let holds =
            |range: &std::ops::Range<u64>| range.start <= *position && position + len <= range.end;
        punched.iter().any(holds)
    };
    let gone = dead.iter().filter(|range| is_punched(range)).count();
    (gone, dead.len() - gone)
}

/// Every block of a partition in a segment is punched out once the node has rested.
fn all_is_punched_out(calm: &mut Calm, segment: &Segment, partition: PartitionId) {
    rest(calm);
    let (gone, left) = blocks(calm, segment, partition);
    assert!(
        gone > 0 && left == 0,
        "{gone} ranges are punched out, {left} are not"
    );
}

#[test]
fn what_was_deleted_before_its_file_was_sealed_is_punched_out() {
    let (mut calm, kept, doomed) = scene();
    calm.delete("doomed").unwrap();
    let segment = seal(&mut calm, kept);
    assert_eq!(
        blocks(&calm, &segment, doomed).0,
        0,
        "nothing was deleted from a segment"
    );
    all_is_punched_out(&mut calm, &segment, doomed);
}

#[test]
fn what_was_trimmed_before_its_file_was_sealed_is_punched_out() {
    let (mut calm, kept, doomed) = scene();
    calm.trim_all(doomed).unwrap();
    let segment = seal(&mut calm, kept);
    all_is_punched_out(&mut calm, &segment, doomed);
}

#[test]
fn what_a_life_left_to_be_punched_the_next_one_punches() {
    let (mut calm, kept, doomed) = scene();
    let segment = seal(&mut calm, kept);
    rest(&mut calm);
    // The node has rested, so a checkpoint follows at once: no replay meets the deletion.
    calm.delete("doomed").unwrap();
    assert_eq!(
        blocks(&calm, &segment, doomed).0,
        0,
        "one checkpoint knows of it"
    );
    drop(segment);
    calm.restart(|_| {}).unwrap();
    let segment = calm.node.owner.segments().next().unwrap().clone();
    all_is_punched_out(&mut calm, &segment, doomed);
    assert_eq!(blocks(&calm, &segment, kept).0, 0, "these records live");
}

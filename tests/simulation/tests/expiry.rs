//! Records go soon after their time, also where little is written.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]

use std::time::Duration;

use simulation::calm::Calm;
use types::PartitionId;

const MINUTE: Duration = Duration::from_secs(60);
/// `retention.ms` of eight hours.
const KEPT: (&str, &str) = ("retention.ms", "28800000");
/// Half-hours in that time.
const KEPT_HALF_HOURS: i64 = 16;

/// A node whose files would hold days, and a topic.
fn node(retention: (&str, &str)) -> (Calm, PartitionId) {
    let mut calm = Calm::new().unwrap();
    calm.setup.node.log_file_bytes = 4 << 20;
    calm.power_cut().unwrap();
    let partitions = calm.create_with("slow", 1, &[retention]).unwrap();
    (calm, partitions[0])
}

/// A record every half hour, one offset each, and time for upkeep meanwhile.
fn append_for(calm: &mut Calm, partition: PartitionId, half_hours: i64) {
    for _ in 0..half_hours {
        calm.append(partition, 100).unwrap();
        (0..30).for_each(|_| calm.rest(MINUTE));
    }
}

fn log_start(calm: &Calm, partition: PartitionId) -> i64 {
    calm.partition(partition).unwrap().log_start().0
}

#[test]
fn what_is_sealed_together_expires_not_much_later_than_by_itself() {
    let (mut calm, partition) = node(KEPT);
    // So much that a spare is being filled from here on: files end all the same.
    let large = 40;
    for _ in 0..large {
        calm.append(partition, 16_000).unwrap();
    }
    calm.rest(MINUTE);
    assert_eq!(calm.node.shared.storage_stats().spares_count, 4);
    append_for(&mut calm, partition, KEPT_HALF_HOURS - 1);
    assert_eq!(log_start(&calm, partition), 0);
    // The stop of a file that never filled: what it holds is sealed, and goes as a whole.
    calm.restart(|_| ()).unwrap();
    append_for(&mut calm, partition, 6);
    // An eighth of the time is an hour: no file holds records of more than that and one more.
    let start = log_start(&calm, partition);
    assert!(start >= large + 2, "{start}");
    assert!(calm.node.owner.segments().count() >= 5);
    append_for(&mut calm, partition, KEPT_HALF_HOURS);
    let kept = log_start(&calm, partition)..calm.partition(partition).unwrap().end().0;
    assert!(kept.end - kept.start <= KEPT_HALF_HOURS + 4, "{kept:?}");
    assert!(kept.end - kept.start >= KEPT_HALF_HOURS, "{kept:?}");
}

#[test]
fn a_topic_without_retention_by_time_ends_no_file() {
    let (mut calm, partition) = node(("retention.ms", "-1"));
    append_for(&mut calm, partition, 40);
    assert_eq!(calm.node.owner.segments().count(), 0);
}

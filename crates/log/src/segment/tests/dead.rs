use types::{Offset, PartitionId};

use super::super::*;
use super::fixture::*;

fn extent(base: i64, position: u64, bytes: u32) -> Extent {
    Extent {
        base_offset: Offset(base),
        end_offset: Offset(base + 10),
        position,
        bytes,
        batches: 1,
        max_timestamp_ms: 0,
        max_append_time_ms: 0,
        crc: 0,
        damaged: false,
        dead: false,
    }
}

#[test]
fn only_blocks_full_of_dead_bytes_may_be_punched() {
    let run = [
        extent(0, 10_000, 10_000),
        extent(10, 20_000, 10_000),
        extent(20, 40_000, 9_000),
    ];
    let ranges = |log_start| dead_ranges([(&run[..], Offset(log_start))]);
    assert_eq!(ranges(9), []);
    assert_eq!(ranges(10), [(12_288, 4_096)]);
    assert_eq!(ranges(29), [(12_288, 16_384)], "neighbours count as one");
    assert_eq!(ranges(30), [(12_288, 16_384), (40_960, 4_096)]);
}

#[test]
fn dead_neighbours_of_other_partitions_count_too() {
    let (one, other) = ([extent(0, 8_192, 6_000)], [extent(0, 14_192, 6_288)]);
    let both = dead_ranges([(&other[..], Offset(10)), (&one[..], Offset(i64::MAX))]);
    assert_eq!(both, [(8_192, 12_288)]);
    let one_only = dead_ranges([(&other[..], Offset(9)), (&one[..], Offset(10))]);
    assert_eq!(one_only, [(8_192, 4_096)]);
}

fn dead_below(partition: u32, log_start: i64) -> IsDead {
    Box::new(move |entry| {
        entry.header.partition == PartitionId(partition)
            && entry.header.end_offset() <= Offset(log_start)
    })
}

/// Two partitions with large batches in several frames.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(3, 4 << 20);
    for frame in 0..4 {
        fixture.frame(vec![raw(1, frame, 1, 300_000), raw(2, frame, 1, 50_000)]);
    }
    fixture
}

fn punch(segment: &Segment, partition: u32, log_start: i64) -> u64 {
    let extents = segment.extents(PartitionId(partition)).unwrap();
    let ranges = dead_ranges([(&extents[..], Offset(log_start))]);
    for (position, len) in &ranges {
        segment.punch(*position, *len).unwrap();
    }
    ranges.iter().map(|(_, len)| len).sum()
}

#[test]
fn what_is_alive_survives_a_punch_and_verifies() {
    let fixture = fixture();
    let segment = fixture.seal();
    let before = fixture.disk.used_bytes();
    let punched = punch(&segment, 1, 3);
    assert!(punched > 850_000, "{punched}");
    assert_eq!(before - fixture.disk.used_bytes(), punched);
    let alive = |b: &Written| b.header.partition.0 == 2 || b.header.base_offset.0 == 3;
    for batch in fixture.batches.iter().filter(|b| alive(b)) {
        let mut bytes = vec![0; batch.payload.len()];
        segment
            .data()
            .read_exact_at(&mut bytes, batch.position)
            .unwrap();
        assert!(bytes == batch.payload, "{:?}", batch.header);
    }
    let report = verify(&segment, dead_below(1, 3));
    assert_eq!(report.damages, []);
    assert_eq!(
        (report.dead_payloads, report.good_payloads, report.frames),
        (3, 5, 4)
    );
    assert!(report.punched_blocks > 0);
    assert!(verify(&segment, nothing_is_dead()).damage_count > 0);
}

#[test]
fn damage_beside_a_punched_run_is_found() {
    let fixture = fixture();
    let segment = fixture.seal();
    punch(&segment, 1, 3);
    let live = fixture.of(2)[1].position;
    assert!(fixture.disk.corrupt(&fixture.file.path, live + 1, 1));
    let segment = fixture.segment(segment.info().clone());
    let report = verify(&segment, dead_below(1, 3));
    let hurt: Vec<_> = report
        .damages
        .iter()
        .map(|d| (d.partition, d.corruption.what))
        .collect();
    assert_eq!(hurt, [(Some(PartitionId(2)), "payload")]);
}

#[test]
fn a_file_that_was_punched_before_is_sealed_without_quarantine() {
    let fixture = fixture();
    let segment = fixture.seal();
    punch(&segment, 1, 3);
    let sealed = run(fixture.sealer().with_dead(dead_below(1, 3))).unwrap();
    let row = sealed.row(PartitionId(1)).unwrap();
    assert!(!row.damaged);
    assert_eq!((row.dead_bytes, row.stored_bytes), (900_000, 1_200_000));
    assert_eq!((row.batches, row.records), (4, 4));
    let segment = fixture.segment(sealed);
    let extents = segment.extents(PartitionId(1)).unwrap();
    let dead: Vec<_> = extents.iter().map(|extent| extent.dead).collect();
    assert_eq!(dead, [true, true, true, false]);
    assert_eq!(verify(&segment, dead_below(1, 3)).damages, []);

    let unaware = run(fixture.sealer()).unwrap();
    assert!(unaware.row(PartitionId(1)).unwrap().damaged);
}

#[test]
fn dead_batches_and_live_ones_make_no_common_extent() {
    let mut fixture = Fixture::new(3, 64 << 10);
    fixture.frame((0..6).map(|offset| raw(1, offset, 1, 100)).collect());
    let sealed = run(fixture.sealer().with_dead(dead_below(1, 4))).unwrap();
    let extents = fixture.segment(sealed).extents(PartitionId(1)).unwrap();
    let found: Vec<_> = extents
        .iter()
        .map(|e| (e.base_offset.0, e.end_offset.0, e.dead))
        .collect();
    assert_eq!(found, [(0, 4, true), (4, 6, false)]);
}

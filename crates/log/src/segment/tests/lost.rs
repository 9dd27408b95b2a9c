//! Segments of which a file is missing, short or damaged.

use disk::Disk;
use record::Codec;
use types::{Offset, PartitionId};

use super::super::*;
use super::fixture::*;

const ONE: PartitionId = PartitionId(1);
const TWO: PartitionId = PartitionId(2);

/// Two partitions with three batches each, the first of each in the first frame, and so on.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(1, 256 << 10);
    for base in 0..3 {
        fixture.frame(vec![
            records(1, base, Codec::None, &[1_000 + base]),
            records(2, base, Codec::None, &[1_000 + base]),
        ]);
    }
    fixture
}

fn open(fixture: &Fixture, info: SegmentInfo) -> Segment {
    Segment::open_damaged(fixture.disk(), dir(), info).unwrap()
}

fn hole_of(segment: &Segment, partition: PartitionId) -> Option<(i64, i64, bool)> {
    let hole = segment.hole(partition)?;
    assert_eq!(hole.corruption.path, segment.data_path());
    Some((hole.first_offset.0, hole.end_offset.0, hole.is_marked))
}

#[test]
fn a_segment_that_is_whole_has_no_hole() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    let segment = open(&fixture, info);
    assert_eq!(segment.fault(), None);
    assert_eq!(hole_of(&segment, ONE), None);
    assert_eq!(hole_of(&segment, TWO), None);
}

#[test]
fn a_missing_data_file_is_a_hole_in_each_of_its_partitions() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    fixture.disk.remove(&fixture.file.path).unwrap();
    let segment = open(&fixture, info);
    assert_eq!(segment.fault().unwrap().position, 0);
    assert_eq!(hole_of(&segment, ONE), Some((0, 3, false)));
    assert_eq!(hole_of(&segment, TWO), Some((0, 3, false)));
    assert_eq!(segment.hole(PartitionId(3)), None);
    assert!(
        segment
            .data()
            .read_at(&mut [0; 8], 0)
            .unwrap_err()
            .is_not_found()
    );
}

#[test]
fn a_data_file_that_is_too_short_is_a_hole_from_its_end_on() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    // The second batch of partition 2 is cut in two, the one of partition 1 before it is whole.
    let cut = fixture.of(2)[1].position + 10;
    fixture.open_again().file.set_len(cut).unwrap();
    let segment = open(&fixture, info.clone());
    assert_eq!(segment.fault().unwrap().position, cut);
    assert_eq!(hole_of(&segment, ONE), Some((2, 3, false)));
    assert_eq!(hole_of(&segment, TWO), Some((1, 3, false)));
    // Without the footer nobody knows what stands before the end.
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    let segment = open(&fixture, info);
    assert_eq!(hole_of(&segment, ONE), Some((0, 3, false)));
    assert!(segment.extents(ONE).is_err());
}

#[test]
fn what_ends_before_the_end_of_a_short_file_is_no_hole() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    let last = fixture.of(2)[2].position;
    fixture.open_again().file.set_len(last).unwrap();
    let segment = open(&fixture, info);
    assert_eq!(hole_of(&segment, ONE), None);
    assert_eq!(hole_of(&segment, TWO), Some((2, 3, false)));
}

#[test]
fn a_batch_that_was_marked_when_the_file_was_sealed_is_a_hole_around_it() {
    let fixture = fixture();
    let bad = fixture.of(1)[1].position + 70;
    assert!(fixture.disk.corrupt(&fixture.file.path, bad, 1));
    let info = run(fixture.sealer()).unwrap();
    let segment = open(&fixture, info.clone());
    assert_eq!(hole_of(&segment, ONE), Some((1, 2, true)));
    assert_eq!(hole_of(&segment, TWO), None);
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    assert_eq!(hole_of(&open(&fixture, info), ONE), Some((0, 3, true)));
}

#[test]
fn an_index_that_cannot_be_read_is_made_anew_from_the_data_file() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    let before = open(&fixture, info.clone());
    let whole = [ONE, TWO].map(|id| before.stored_extents(id).unwrap());
    let footer = fixture.disk.open(&fixture.footer_path()).unwrap();
    let first = info.row(ONE).unwrap().extents_position;

    let same = |what: &str| {
        let segment = open(&fixture, info.clone());
        assert_eq!(hole_of(&segment, ONE), None, "{what}");
        assert_eq!(
            [ONE, TWO].map(|id| segment.extents(id).unwrap()),
            whole,
            "{what}"
        );
    };
    assert!(fixture.disk.corrupt(&fixture.footer_path(), first + 3, 4));
    same("damaged");
    footer.set_len(first + 3).unwrap();
    same("too short");
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    same("missing");
    assert!(
        fixture.disk.open(&fixture.footer_path()).is_err(),
        "reading writes nothing"
    );
}

#[test]
fn an_index_made_anew_marks_a_batch_that_is_damaged_by_now() {
    let fixture = fixture();
    let info = run(fixture.sealer()).unwrap();
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    let bad = fixture.of(1)[1].position + 70;
    assert!(fixture.disk.corrupt(&fixture.file.path, bad, 1));
    let extents = open(&fixture, info).extents(ONE).unwrap();
    let marked: Vec<_> = extents.iter().map(|e| (e.base_offset, e.damaged)).collect();
    let expected = [(0, false), (1, true), (2, false)];
    assert_eq!(marked, expected.map(|(offset, bad)| (Offset(offset), bad)));
}

#[test]
fn an_index_is_not_made_of_a_file_with_other_batches_or_a_bad_frame() {
    let fixture = fixture();
    let mut info = run(fixture.sealer()).unwrap();
    fixture.disk.remove(&fixture.footer_path()).unwrap();
    info.rows[0].end_offset = Offset(4);
    let error = open(&fixture, info.clone()).extents(ONE).unwrap_err();
    assert!(
        matches!(&error, crate::Error::Corrupt(c) if c.what == "batches of a partition"),
        "{error:?}"
    );
    let frame = fixture.of(1)[1].position / 4_096 * 4_096;
    assert!(fixture.disk.corrupt(&fixture.file.path, frame + 20, 1));
    let segment = open(&fixture, info);
    for _ in 0..2 {
        let error = segment.extents(TWO).unwrap_err();
        assert!(
            matches!(&error, crate::Error::Corrupt(c) if c.what == "frame header"),
            "{error:?}"
        );
    }
}

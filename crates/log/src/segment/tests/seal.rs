use disk::Disk;
use record::Codec;
use types::{FrameNumber, Offset, PartitionId};

use super::super::*;
use super::fixture::*;
use crate::Error;

fn bytes_of(fixture: &Fixture, partition: u32) -> u64 {
    fixture
        .of(partition)
        .iter()
        .map(|b| b.payload.len() as u64)
        .sum()
}

#[test]
fn a_directory_row_tells_what_is_there_of_a_partition() {
    let fixture = small();
    let info = run(fixture.sealer()).unwrap();
    assert_eq!(info.id, ID);
    assert_eq!(info.class, Class::InPlace);
    assert_eq!(info.data.name, "log/00000000000000000007.log");
    assert_eq!(
        (info.data.sequence, info.data.epoch),
        (fixture.file.sequence, fixture.file.epoch)
    );
    assert_eq!(info.data.end, fixture.end);
    assert_eq!((info.directory, info.created_ms), (DIRECTORY, CREATED_MS));
    let partitions: Vec<_> = info.rows.iter().map(|row| row.partition.0).collect();
    assert_eq!(partitions, [3, 8]);

    let row = info.row(PartitionId(3)).unwrap();
    assert_eq!((row.first_offset, row.end_offset), (Offset(10), Offset(14)));
    assert_eq!((row.batches, row.records, row.first_ordinal), (3, 4, 0));
    assert_eq!(row.stored_bytes, bytes_of(&fixture, 3));
    assert_eq!(row.raw_bytes, None, "one batch is compressed");
    assert_eq!(row.first_append_time_ms, 1_700_000_000_010);
    assert_eq!(row.last_append_time_ms, 1_700_000_000_012);
    assert_eq!((row.min_timestamp_ms, row.max_timestamp_ms), (None, 9_500));
    assert_eq!(row.codecs, Some(Codecs::of(0).and(Codecs::of(1))));
    assert_eq!((row.damaged, row.dead_bytes, row.tier), (false, 0, 0));
    assert_eq!(row.second, None);

    let row = info.row(PartitionId(8)).unwrap();
    assert_eq!((row.first_ordinal, row.records), (4, 2));
    assert_eq!(row.raw_bytes, Some(bytes_of(&fixture, 8)));
    assert_eq!(
        row.min_timestamp_ms, None,
        "two records, and only the first one's is told"
    );
    assert_eq!(row.max_timestamp_ms, 7_000);
    assert_eq!(row.codecs, Some(Codecs::NONE));
}

#[test]
fn a_draft_makes_the_footer_that_reading_makes() {
    let mut long = Fixture::new(1, 4 << 20);
    for offset in 0..40 {
        long.frame(vec![
            raw(5, offset, 1, 20_001),
            metadata(),
            records(1, offset, Codec::None, &[50]),
        ]);
    }
    long.frame(vec![]);
    for fixture in [small(), long] {
        let footer = |fixture: &Fixture| {
            let file = fixture.disk.open(&fixture.footer_path()).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        let read = run(fixture.sealer()).unwrap();
        let bytes = footer(&fixture);
        fixture.disk.remove(&fixture.footer_path()).unwrap();
        let drafted = run(fixture.sealer().with_draft(fixture.draft())).unwrap();
        assert_eq!(drafted, read);
        assert_eq!(footer(&fixture), bytes);
    }
}

#[test]
fn a_draft_takes_no_frame_out_of_order() {
    let mut fixture = Fixture::new(1, 64 << 10);
    for _ in 0..3 {
        fixture.frame(vec![metadata()]);
    }
    let mut draft = FooterDraft::new(&fixture.file.path);
    draft.add(&fixture.frames[0]).unwrap();
    assert!(matches!(
        draft.add(&fixture.frames[2]),
        Err(Error::Corrupt(_))
    ));
}

#[test]
fn the_smallest_timestamp_is_known_when_each_batch_has_one_record() {
    let mut fixture = Fixture::new(1, 64 << 10);
    fixture.frame(vec![
        records(1, 0, Codec::None, &[50]),
        records(1, 1, Codec::Zstd, &[20]),
        records(1, 2, Codec::None, &[90]),
    ]);
    let info = run(fixture.sealer()).unwrap();
    let row = info.row(PartitionId(1)).unwrap();
    assert_eq!((row.min_timestamp_ms, row.max_timestamp_ms), (Some(20), 90));
}

#[test]
fn the_footer_read_whole_says_the_same() {
    let fixture = small();
    let info = run(fixture.sealer()).unwrap();
    let footer = Footer::load(&fixture.disk, dir(), ID).unwrap();
    assert_eq!(footer.info(), info);
    assert_eq!(footer.header.totals.frames, 2);
    assert_eq!(footer.header.totals.first_frame, FrameNumber(100));
    assert_eq!(footer.header.totals.other_entries, 1);
    assert_eq!(footer.header.totals.other_bytes, metadata().1.len() as u64);
    assert_eq!(footer.header.records, 6);
    assert_eq!(
        footer.header.stored_bytes,
        bytes_of(&fixture, 3) + bytes_of(&fixture, 8)
    );
    assert_eq!(footer.block_crcs.len(), 1);
    let data = fixture.disk.contents(&fixture.file.path).unwrap();
    let end = usize::try_from(fixture.end).unwrap();
    assert_eq!(footer.block_crcs[0], record::crc32c(&data[8192..end]));
    let segment = fixture.segment(info);
    for partition in [3, 8, 9] {
        let extents = segment.extents(PartitionId(partition)).unwrap();
        assert_eq!(footer.extents(PartitionId(partition)), &extents[..]);
    }
}

#[test]
fn batches_side_by_side_become_one_extent() {
    let fixture = small();
    let segment = fixture.seal();
    let extents = segment.extents(PartitionId(3)).unwrap();
    assert_eq!(extents.len(), 2, "{extents:?}");
    let batches = fixture.of(3);
    assert_eq!(extents[0].position, batches[0].position);
    assert_eq!(extents[0].batches, 2);
    let joined = [&batches[0].payload[..], &batches[1].payload[..]].concat();
    assert!(extents[0].matches(&joined));
    assert_eq!(
        (extents[0].base_offset, extents[0].end_offset),
        (Offset(10), Offset(12))
    );
    assert_eq!(extents[0].max_timestamp_ms, 5_000);
    assert_eq!(extents[0].max_append_time_ms, 1_700_000_000_011);
    assert_eq!(extents[1].position, batches[2].position);
    assert!(segment.extents(PartitionId(4)).unwrap().is_empty());
}

#[test]
fn offsets_and_times_are_found() {
    let fixture = small();
    let segment = fixture.seal();
    let extents = segment.extents(PartitionId(3)).unwrap();
    let found: Vec<_> = (9..15)
        .map(|offset| find(&extents, Offset(offset)))
        .collect();
    assert_eq!(found, [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
    let found: Vec<_> = [0, 5_000, 5_001, 9_500, 9_501]
        .map(|time| find_by_time(&extents, time))
        .to_vec();
    assert_eq!(found, [Some(0), Some(0), Some(1), Some(1), None]);
}

#[test]
fn a_bad_payload_is_marked_and_its_neighbours_are_served() {
    let fixture = small();
    let bad = fixture.of(3)[1].position;
    assert!(fixture.disk.corrupt(&fixture.file.path, bad + 70, 1));
    let segment = fixture.seal();
    assert!(segment.row(PartitionId(3)).unwrap().damaged);
    assert!(!segment.row(PartitionId(8)).unwrap().damaged);
    let extents = segment.extents(PartitionId(3)).unwrap();
    let damaged: Vec<_> = extents.iter().map(|extent| extent.damaged).collect();
    assert_eq!(damaged, [false, true, false]);
    for extent in extents.iter() {
        let mut bytes = vec![0; extent.bytes as usize];
        segment
            .data()
            .read_exact_at(&mut bytes, extent.position)
            .unwrap();
        assert_eq!(extent.matches(&bytes), !extent.damaged);
    }
    let again = Footer::load(&fixture.disk, dir(), ID).unwrap();
    assert_eq!(&again.info(), segment.info());
}

#[test]
fn a_bad_frame_header_stops_it_and_leaves_no_footer() {
    let fixture = small();
    assert!(fixture.disk.corrupt(&fixture.file.path, 8192 + 33, 1));
    let error = run(fixture.sealer()).unwrap_err();
    let Error::Corrupt(corruption) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (corruption.what, corruption.position),
        ("frame header", 8192)
    );
    assert!(fixture.disk.contents(&fixture.footer_path()).is_none());
}

#[test]
fn an_end_outside_the_frames_is_damage() {
    let fixture = small();
    for end in [fixture.end - 100, fixture.end + 4096] {
        let file = fixture.open_again();
        let sealer = Sealer::new(fixture.disk(), dir(), ID, file, end, DIRECTORY, 0).unwrap();
        let error = run(sealer).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "end {end}: {error:?}");
    }
    let file = fixture.open_again();
    let end = file.file_bytes + 1;
    assert!(Sealer::new(fixture.disk(), dir(), ID, file, end, DIRECTORY, 0).is_err());
}

#[test]
fn offsets_that_go_back_are_damage() {
    let mut fixture = Fixture::new(1, 64 << 10);
    fixture.frame(vec![raw(1, 10, 5, 100), raw(1, 14, 1, 100)]);
    let error = run(fixture.sealer()).unwrap_err();
    assert!(
        matches!(&error, Error::Corrupt(c) if c.what == "offsets"),
        "{error:?}"
    );
}

#[test]
fn a_file_without_frames_becomes_a_segment_without_rows() {
    let fixture = Fixture::new(1, 64 << 10);
    let segment = fixture.seal();
    assert!(segment.info().rows.is_empty());
    assert_eq!(
        Footer::load(&fixture.disk, dir(), ID).unwrap().block_crcs,
        []
    );
    let report = verify(&segment, nothing_is_dead());
    assert_eq!(report, VerifyReport::default());
}

#[test]
fn a_removed_segment_is_gone_after_a_crash_and_may_be_removed_again() {
    let fixture = small();
    let segment = fixture.seal();
    let again = fixture.segment(segment.info().clone());
    segment.remove(&fixture.disk, dir()).unwrap();
    fixture.disk.crash();
    assert!(fixture.disk.contents(&fixture.file.path).is_none());
    assert!(fixture.disk.contents(&fixture.footer_path()).is_none());
    again.remove(&fixture.disk, dir()).unwrap();
}

#[test]
fn the_cache_keeps_what_was_used_last_within_its_bound() {
    let mut fixture = Fixture::new(1, 64 << 10);
    fixture.frame((0..6).map(|partition| raw(partition, 0, 1, 50)).collect());
    let segment = fixture.seal();
    let one = ExtentCache::new(1 << 20);
    one.load(&segment, PartitionId(0)).unwrap();
    let entry = one.bytes();
    assert!(entry > 0);

    let cache = ExtentCache::new(3 * entry);
    for partition in [0, 1, 2, 0, 3] {
        cache.load(&segment, PartitionId(partition)).unwrap();
        assert!(cache.bytes() <= 3 * entry);
    }
    let kept: Vec<_> = (0..6)
        .filter(|p| cache.get(ID, PartitionId(*p)).is_some())
        .collect();
    assert_eq!(kept, [0, 2, 3], "1 was not used for the longest time");
    cache.forget(ID);
    assert_eq!(cache.bytes(), 0);
    let none = ExtentCache::new(entry - 1);
    none.load(&segment, PartitionId(0)).unwrap();
    assert_eq!(none.bytes(), 0);
}

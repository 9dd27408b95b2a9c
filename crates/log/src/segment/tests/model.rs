//! Sealing against a plain list of what was written.

use bytes::Bytes;
use proptest::prelude::*;
use types::{Offset, PartitionId};

use super::super::*;
use super::fixture::*;
use crate::EntryHeader;

/// Frames of batches: (partition, offsets skipped before it, records, bytes).
type Plan = Vec<Vec<(u32, i64, u32, usize)>>;

fn any_plan() -> impl Strategy<Value = Plan> {
    let bytes = prop_oneof![
        8 => 0usize..3_000,
        2 => 3_000usize..90_000,
        1 => 1_000_000usize..1_300_000,
    ];
    let skipped = prop_oneof![6 => Just(0i64), 1 => 1i64..10];
    let batch = (0u32..6, skipped, 1u32..20, bytes);
    prop::collection::vec(prop::collection::vec(batch, 0..12), 0..8)
}

fn write(plan: &Plan) -> Fixture {
    let bytes: usize = plan
        .iter()
        .flatten()
        .map(|(_, _, _, bytes)| bytes + 5_000)
        .sum();
    let file_bytes = (bytes + plan.len() * 8_192 + 65_536) as u64;
    let mut fixture = Fixture::new(1, file_bytes);
    let mut next = [0i64; 6];
    for frame in plan {
        let mut entries: Vec<(EntryHeader, Bytes)> = vec![metadata()];
        for (partition, skipped, count, bytes) in frame {
            let next = &mut next[*partition as usize];
            *next += skipped;
            entries.push(raw(*partition, *next, *count, *bytes));
            *next += i64::from(*count);
        }
        fixture.frame(entries);
    }
    fixture
}

fn check_partition(fixture: &Fixture, segment: &Segment, partition: u32) {
    let batches = fixture.of(partition);
    let extents = segment.extents(PartitionId(partition)).unwrap();
    let Some(row) = segment.row(PartitionId(partition)) else {
        assert!(batches.is_empty() && extents.is_empty());
        return;
    };
    assert_eq!(row.batches, batches.len() as u64);
    assert_eq!(row.first_offset, batches[0].header.base_offset);
    assert_eq!(
        row.end_offset,
        batches[batches.len() - 1].header.end_offset()
    );
    assert_eq!(row.codecs, None);
    let mut rest = batches.as_slice();
    for extent in extents.iter() {
        let (own, later) = rest.split_at(extent.batches as usize);
        let joined: Vec<u8> = own.iter().flat_map(|b| b.payload.iter().copied()).collect();
        let mut read = vec![0; extent.bytes as usize];
        segment
            .data()
            .read_exact_at(&mut read, extent.position)
            .unwrap();
        assert!(read == joined && extent.matches(&joined));
        assert_eq!(extent.base_offset, own[0].header.base_offset);
        assert_eq!(extent.end_offset, own[own.len() - 1].header.end_offset());
        assert!(extent.batches == 1 || extent.bytes <= types::limits::EXTENT_BYTES_MAX);
        rest = later;
    }
    assert!(rest.is_empty());
    for batch in batches {
        let (base, end) = (batch.header.base_offset, batch.header.end_offset());
        for offset in [base, Offset(end.0 - 1)] {
            let extent = extents[find(&extents, offset).unwrap()];
            assert!((extent.base_offset..extent.end_offset).contains(&offset));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_batch_is_found_where_it_was_written(plan in any_plan()) {
        let fixture = write(&plan);
        let segment = fixture.seal();
        (0..6).for_each(|partition| check_partition(&fixture, &segment, partition));
        let footer = Footer::load(&fixture.disk, dir(), ID).unwrap();
        prop_assert_eq!(&footer.info(), segment.info());
        let mut ordinal = 0;
        for row in &segment.info().rows {
            prop_assert_eq!(row.first_ordinal, ordinal);
            ordinal += row.records;
        }
        let report = verify(&segment, nothing_is_dead());
        prop_assert_eq!(report.damage_count, 0);
        prop_assert_eq!(report.frames, plan.len() as u64);
        let payloads = plan.iter().map(|frame| frame.len() as u64 + 1).sum::<u64>();
        prop_assert_eq!(report.good_payloads, payloads);
        prop_assert_eq!(report.good_blocks, footer.block_crcs.len() as u64);
        let encoded = segment.info().encode();
        prop_assert_eq!(&SegmentInfo::decode(&encoded).unwrap(), segment.info());
    }
}

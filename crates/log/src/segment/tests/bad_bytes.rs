//! Footers and descriptions that are not what was written.

use proptest::prelude::*;
use types::{FileEpoch, FileSequence, Offset, PartitionId, SegmentId};

use super::super::*;
use super::fixture::*;
use crate::Error;

fn footer() -> Vec<u8> {
    let fixture = small();
    run(fixture.sealer()).unwrap();
    fixture.disk.contents(&fixture.footer_path()).unwrap()
}

#[test]
fn every_cut_short_and_every_flipped_bit_of_a_footer_is_an_error() {
    let good = footer();
    assert!(parse_footer(&good).is_ok());
    for len in 0..good.len() {
        assert!(parse_footer(&good[..len]).is_err(), "cut to {len}");
    }
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(parse_footer(&bad).is_err(), "bit {bit}");
    }
    let mut longer = good;
    longer.push(0);
    assert!(parse_footer(&longer).is_err());
}

#[test]
fn every_flipped_bit_of_extents_is_an_error() {
    let fixture = small();
    let info = run(fixture.sealer()).unwrap();
    let row = info.row(PartitionId(3)).unwrap().clone();
    let segment = fixture.segment(info);
    let path = fixture.footer_path();
    for byte in row.extents_position..row.extents_position + row.extents_bytes() {
        assert!(fixture.disk.corrupt(&path, byte, 0x20));
        let error = segment.stored_extents(PartitionId(3)).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
        assert!(segment.stored_extents(PartitionId(8)).is_ok());
        assert!(fixture.disk.corrupt(&path, byte, 0x20));
    }
    assert!(segment.stored_extents(PartitionId(3)).is_ok());
}

#[test]
fn a_row_that_claims_more_than_the_footer_holds_is_an_error() {
    let fixture = small();
    let mut info = run(fixture.sealer()).unwrap();
    info.rows[0].extents = u32::MAX;
    let error = fixture
        .segment(info.clone())
        .stored_extents(PartitionId(3))
        .unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)));
    info.footer_bytes = u64::MAX;
    let segment = fixture.segment(info);
    let error = segment.stored_extents(PartitionId(3)).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)));
}

#[test]
fn a_footer_of_another_segment_is_an_error() {
    let fixture = small();
    run(fixture.sealer()).unwrap();
    let other = dir().join(footer_name(SegmentId(43)));
    disk::Disk::rename(&fixture.disk, &fixture.footer_path(), &other).unwrap();
    let error = Footer::load(&fixture.disk, dir(), SegmentId(43)).unwrap_err();
    assert!(matches!(error, Error::Corrupt(c) if c.what == "segment id"));
}

#[test]
fn a_description_names_no_file_outside_the_directory() {
    let fixture = small();
    let info = run(fixture.sealer()).unwrap();
    for name in [
        "",
        "/etc/passwd",
        "../other",
        "log/../../x",
        "log//x",
        "./x",
        "a\0b",
    ] {
        let mut bad = info.clone();
        name.clone_into(&mut bad.data.name);
        assert!(SegmentInfo::decode(&bad.encode()).is_err(), "{name:?}");
    }
}

#[test]
fn every_cut_short_of_a_swap_is_an_error() {
    let fixture = small();
    let sealed = SwapEntry::Sealed(run(fixture.sealer()).unwrap());
    let dropped = SwapEntry::Dropped(vec![SegmentId(1), SegmentId(u64::MAX)]);
    for entry in [sealed, dropped] {
        let bytes = entry.encode();
        assert_eq!(SwapEntry::decode(&bytes).as_ref(), Ok(&entry));
        for len in 0..bytes.len() {
            assert!(SwapEntry::decode(&bytes[..len]).is_err(), "cut to {len}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(SwapEntry::decode(&longer).is_err());
    }
}

#[test]
fn counts_beyond_the_bytes_are_refused_before_memory_is_taken() {
    let mut bytes = vec![1, 2];
    bytes.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(
        SwapEntry::decode(&bytes).map_err(|e| e.what),
        Err("dropped segments")
    );
}

fn any_row() -> impl Strategy<Value = DirectoryRow> {
    let numbers = prop::array::uniform7(any::<u64>());
    let times = prop::array::uniform4(any::<i64>());
    let offsets = (0..i64::MAX, 0..i64::MAX);
    let flags = any::<(bool, u8, u8, bool, bool, bool, bool)>();
    let extents = any::<(u32, u32)>();
    (any::<u32>(), offsets, numbers, times, flags, extents).prop_map(
        |(partition, (a, b), numbers, times, flags, (extents, extents_crc))| {
            let [records, ordinal, batches, stored_bytes, raw, dead, position] = numbers;
            let (damaged, codecs, tier, no_raw, no_min, no_codecs, second) = flags;
            DirectoryRow {
                partition: PartitionId(partition),
                first_offset: Offset(a.min(b)),
                end_offset: Offset(a.max(b)),
                records,
                first_ordinal: ordinal % (u64::MAX - records).max(1),
                batches,
                stored_bytes,
                raw_bytes: (!no_raw).then_some(raw),
                dead_bytes: if stored_bytes == u64::MAX {
                    dead
                } else {
                    dead % (stored_bytes + 1)
                },
                first_append_time_ms: times[0],
                last_append_time_ms: times[1],
                min_timestamp_ms: (!no_min).then_some(times[2]),
                max_timestamp_ms: times[3],
                codecs: (!no_codecs).then_some(Codecs(codecs)),
                damaged,
                tier,
                extents_position: position >> 1,
                extents,
                extents_crc,
                second: second.then(|| Box::new(SecondPlace([tier; 32]))),
            }
        },
    )
}

fn any_info() -> impl Strategy<Value = SegmentInfo> {
    let rows = prop::collection::vec(any_row(), 0..20).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.partition);
        rows.dedup_by_key(|row| row.partition);
        rows
    });
    let class = prop_oneof![
        Just(Class::InPlace),
        Just(Class::Clustered),
        Just(Class::Mixed)
    ];
    let name = "[a-z0-9]{1,40}(/[a-z.]{3,20}x)?";
    (
        any::<(u64, i64, [u8; 16], u64, u64, u64, u64)>(),
        class,
        name,
        rows,
    )
        .prop_map(
            |(
                (id, created_ms, directory, sequence, epoch, end, footer_bytes),
                class,
                name,
                rows,
            )| {
                let (sequence, epoch) = (FileSequence(sequence), FileEpoch(epoch));
                SegmentInfo {
                    id: SegmentId(id),
                    class,
                    created_ms,
                    directory,
                    data: DataFile {
                        name,
                        sequence,
                        epoch,
                        end,
                    },
                    footer_bytes,
                    rows,
                }
            },
        )
}

proptest! {
    #[test]
    fn any_description_comes_back(info in any_info()) {
        prop_assert_eq!(SegmentInfo::decode(&info.encode()), Ok(info));
    }

    #[test]
    fn any_swap_comes_back(info in any_info(), ids in prop::collection::vec(any::<u64>(), 0..50)) {
        let dropped = SwapEntry::Dropped(ids.into_iter().map(SegmentId).collect());
        for entry in [SwapEntry::Sealed(info), dropped] {
            prop_assert_eq!(SwapEntry::decode(&entry.encode()), Ok(entry));
        }
    }

    #[test]
    fn any_bytes_are_decoded_without_panic(
        info in any_info(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = SwapEntry::Sealed(info).encode();
        for (index, byte) in cuts {
            let len = bytes.len();
            bytes[index.index(len)] = byte;
        }
        // Whatever comes out encodes to something that decodes to itself.
        if let Ok(entry) = SwapEntry::decode(&bytes) {
            prop_assert_eq!(SwapEntry::decode(&entry.encode()), Ok(entry));
        }
    }

    #[test]
    fn any_bytes_are_no_footer(bytes in prop::collection::vec(any::<u8>(), 0..1_000)) {
        prop_assert!(parse_footer(&bytes).is_err());
    }
}

/// A header CRC that fits does not make the rest believed.
#[test]
fn wrong_fields_under_a_good_header_crc_are_errors_or_harmless() {
    let good = footer();
    let header_bytes = u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    for position in 8..header_bytes {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[position] = value;
            let covered = u32::from_le_bytes(bad[12..16].try_into().unwrap()) as usize;
            if let Some(fields) = bad.get(8..covered) {
                let crc = record::crc32c(fields);
                bad[4..8].copy_from_slice(&crc.to_le_bytes());
            }
            if let Ok(footer) = parse_footer(&bad) {
                assert!(footer.rows.len() * 168 <= bad.len(), "byte {position}");
            }
        }
    }
}

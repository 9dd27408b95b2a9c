use std::path::Path;
use std::sync::Arc;

use disk::{Disk, Fault, FaultKind, Op, SimDisk, When};
use proptest::prelude::*;
use types::{FileEpoch, FileSequence, FrameNumber, LogIndex, ShardId, Term};

use super::names::next_path;
use super::*;
use crate::Error;

const DIR: &str = "/data";

fn dir() -> &'static Path {
    Path::new(DIR)
}

fn header(number: u64) -> CheckpointHeader {
    CheckpointHeader {
        number,
        directory: *b"0123456789abcdef",
        created_ms: 1_700_000_000_000,
        replay: ReplayPosition {
            sequence: FileSequence(7),
            epoch: FileEpoch(0x0102_0304_0506_0708),
            position: 8192,
            frame: FrameNumber(99),
        },
        proven: FrameNumber(98),
        shards: vec![
            ShardStart {
                shard: ShardId(0),
                applied: LogIndex(5),
                term: Term(1),
            },
            ShardStart {
                shard: ShardId(1),
                applied: LogIndex(1234),
                term: Term(1),
            },
        ],
    }
}

fn row(kind: u8, number: u64, value: &[u8]) -> Row {
    let key = RowKey::Number(number);
    Row {
        kind,
        key,
        index: LogIndex(number + 1),
        value: value.to_vec(),
    }
}

/// Rows that tell which checkpoint they belong to; enough for several blocks.
fn rows_of(number: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..40)
        .map(|i| row(kind::PARTITION, i, &number.to_le_bytes().repeat(800)))
        .collect();
    let key = RowKey::Bytes(b"orders".to_vec());
    rows.push(Row {
        kind: kind::TOPIC,
        key,
        index: LogIndex(3),
        value: Vec::new(),
    });
    rows
}

fn write(disk: &SimDisk, number: u64, previous: Option<u64>) -> Result<Finished, Error> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut writer = CheckpointWriter::begin(disk, dir(), &header(number), previous)?;
    for row in rows_of(number) {
        writer.add(&row);
        if writer.waiting_bytes() > 100_000 {
            writer.step()?;
        }
    }
    writer.finish()
}

fn load(disk: &SimDisk) -> Option<Loaded> {
    Checkpoint::load_newest(disk, dir()).unwrap()
}

fn rows(loaded: &Loaded) -> Vec<Row> {
    loaded.checkpoint.rows().map(Result::unwrap).collect()
}

fn bytes_of(header: &CheckpointHeader, rows: &[Row]) -> Vec<u8> {
    let disk = SimDisk::new(1);
    let mut writer = CheckpointWriter::begin(Arc::new(disk.clone()), dir(), header, None).unwrap();
    for row in rows {
        writer.add(row);
    }
    writer.finish().unwrap();
    disk.contents(&checkpoint_path(dir(), header.number))
        .unwrap()
}

#[test]
fn what_was_written_is_loaded() {
    let disk = SimDisk::new(1);
    assert!(load(&disk).is_none());
    let finished = write(&disk, 1, None).unwrap();
    let loaded = load(&disk).unwrap();
    assert_eq!(loaded.checkpoint.header, header(1));
    assert_eq!(loaded.checkpoint.file_bytes(), finished.file_bytes);
    assert_eq!(finished.rows, 41);
    assert_eq!(loaded.next_number, 2);
    assert!(loaded.damaged.is_none());
    assert_eq!(rows(&loaded), rows_of(1));
}

#[test]
fn the_last_two_are_kept_and_the_third_becomes_room_for_the_next() {
    let disk = SimDisk::new(1);
    let mut previous = None;
    for number in 1..=4 {
        write(&disk, number, previous).unwrap();
        previous = Some(number);
    }
    let names = disk.list(&dir().join(FOLDER)).unwrap();
    let kept = [
        "00000000000000000003.checkpoint",
        "00000000000000000004.checkpoint",
    ];
    assert_eq!(names, [kept[0], kept[1], "next.checkpoint.new"]);
    assert_eq!(rows(&load(&disk).unwrap()), rows_of(4));
}

#[test]
fn what_is_retired_stays_gone_after_a_crash() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        write(&disk, 1, None).unwrap();
        write(&disk, 2, Some(1)).unwrap();
        write(&disk, 3, Some(1)).unwrap();
        disk.crash();
        let names = disk.list(&dir().join(FOLDER)).unwrap();
        let kept = [
            "00000000000000000001.checkpoint",
            "00000000000000000003.checkpoint",
        ];
        assert_eq!(
            names,
            [kept[0], kept[1], "next.checkpoint.new"],
            "seed {seed}"
        );
    }
}

#[test]
fn a_damaged_newest_one_means_the_one_before_and_is_the_one_to_go() {
    let disk = SimDisk::new(1);
    write(&disk, 1, None).unwrap();
    write(&disk, 2, Some(1)).unwrap();
    assert!(disk.corrupt(&checkpoint_path(dir(), 2), 70_000, 4));
    let loaded = load(&disk).unwrap();
    assert_eq!(loaded.checkpoint.number(), 1);
    assert_eq!(rows(&loaded), rows_of(1));
    assert_eq!(loaded.next_number, 3);
    let damaged = loaded.damaged.unwrap();
    assert!(matches!(damaged, Error::Corrupt(c) if c.path == checkpoint_path(dir(), 2)));

    write(&disk, 3, Some(1)).unwrap();
    assert!(disk.corrupt(&checkpoint_path(dir(), 3), 70_000, 4));
    assert_eq!(load(&disk).unwrap().checkpoint.number(), 1);
    assert!(disk.corrupt(&checkpoint_path(dir(), 1), 100, 4));
    let error = Checkpoint::load_newest(&disk, dir()).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
}

#[test]
fn a_newest_one_that_cannot_be_read_means_the_one_before() {
    let disk = SimDisk::new(1);
    write(&disk, 1, None).unwrap();
    write(&disk, 2, Some(1)).unwrap();
    let newest = checkpoint_path(dir(), 2);
    let name = newest.to_string_lossy();
    let unreadable = Fault::new(Op::Read, FaultKind::Io).on(name).forever();
    disk.inject(unreadable);
    let loaded = load(&disk).unwrap();
    assert_eq!(loaded.checkpoint.number(), 1);
    assert!(matches!(loaded.damaged, Some(Error::Disk(_))));
    disk.inject(Fault::new(Op::Read, FaultKind::Io).forever());
    let error = Checkpoint::load_newest(&disk, dir()).unwrap_err();
    assert!(matches!(error, Error::Disk(_)), "{error:?}");
}

#[test]
fn a_checkpoint_under_another_number_is_damage() {
    let disk = SimDisk::new(1);
    write(&disk, 1, None).unwrap();
    disk.rename(&checkpoint_path(dir(), 1), &checkpoint_path(dir(), 2))
        .unwrap();
    let error = Checkpoint::load_newest(&disk, dir()).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
}

/// Cuts the power before and after every operation of the third checkpoint and of what follows
/// it, each with several ways in which unsynced changes survive.
#[test]
fn after_a_cut_anywhere_the_newest_finished_one_or_the_one_before_it_is_loaded() {
    let mut operations = 0;
    for seed in 0..8 {
        for when in [When::Before, When::After] {
            for step in 1.. {
                let disk = SimDisk::new(seed);
                write(&disk, 1, None).unwrap();
                write(&disk, 2, Some(1)).unwrap();
                disk.cut_at(disk.op_count() + step, when);
                let mut finished = 2;
                let result = write(&disk, 3, Some(2))
                    .map(|done| finished = done.number)
                    .and_then(|()| CheckpointWriter::prepare_next(&disk, dir(), 400_000))
                    .and_then(|()| write(&disk, 4, Some(3)))
                    .map(|done| finished = done.number);
                if result.is_ok() {
                    operations = operations.max(step);
                    break;
                }
                disk.crash();
                let loaded = load(&disk).unwrap();
                let number = loaded.checkpoint.number();
                assert!(
                    number == finished || number == finished + 1,
                    "{step} {when:?}"
                );
                assert!(loaded.damaged.is_none(), "seed {seed} step {step} {when:?}");
                assert_eq!(rows(&loaded), rows_of(number));
                let next = loaded.next_number;
                write(&disk, next, Some(number)).unwrap();
                disk.crash();
                assert_eq!(rows(&load(&disk).unwrap()), rows_of(next));
            }
        }
    }
    assert!(operations > 30, "{operations} operations were cut");
}

#[test]
fn a_failed_one_leaves_the_two_old_ones() {
    for (op, nth) in [
        (Op::Write, 2),
        (Op::SyncData, 1),
        (Op::SyncData, 2),
        (Op::Rename, 1),
        (Op::SyncDir, 1),
    ] {
        let disk = SimDisk::new(3);
        write(&disk, 1, None).unwrap();
        write(&disk, 2, Some(1)).unwrap();
        disk.inject(Fault::new(op, FaultKind::Io).nth(nth));
        assert!(write(&disk, 3, Some(2)).is_err(), "{op:?}");
        disk.clear_faults();
        for number in [1, 2] {
            assert!(Checkpoint::load(&disk, dir(), number).is_ok());
        }
        write(&disk, 4, Some(2)).unwrap();
        disk.crash();
        assert_eq!(rows(&load(&disk).unwrap()), rows_of(4), "{op:?}");
    }
}

#[test]
fn prepared_room_is_enough_on_a_full_device() {
    let disk = SimDisk::with_capacity(5, 10 << 20);
    let first = write(&disk, 1, None).unwrap();
    CheckpointWriter::prepare_next(&disk, dir(), first.file_bytes + 100).unwrap();
    disk.set_capacity(disk.used_bytes());
    write(&disk, 2, Some(1)).unwrap();
    assert_eq!(rows(&load(&disk).unwrap()), rows_of(2));
    let error = CheckpointWriter::prepare_next(&disk, dir(), 8 << 20).unwrap_err();
    assert!(matches!(error, Error::Disk(e) if e.is_no_space()));
    assert_eq!(rows(&load(&disk).unwrap()), rows_of(2));
}

#[test]
fn format_version_1_stays_what_it_is() {
    let rows = [
        row(kind::NODE, 0, b"node"),
        Row {
            kind: kind::TOPIC,
            key: RowKey::Bytes(b"orders".to_vec()),
            index: LogIndex(300),
            value: b"topic".to_vec(),
        },
    ];
    let hex: String = bytes_of(&header(5), &rows)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(hex, include_str!("golden_v1.hex").trim());
    let golden = bytes_of(&header(5), &rows);
    assert_eq!(parse_checkpoint(&golden), Ok((header(5), rows.to_vec())));
}

#[test]
fn every_cut_short_and_every_flipped_bit_is_an_error() {
    let rows = [
        row(kind::NODE, 0, b"node"),
        row(kind::SEGMENT, 1, b"a segment"),
    ];
    let good = bytes_of(&header(5), &rows);
    assert!(parse_checkpoint(&good).is_ok());
    for len in 0..good.len() {
        assert!(parse_checkpoint(&good[..len]).is_err(), "cut to {len}");
    }
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(parse_checkpoint(&bad).is_err(), "bit {bit}");
    }
}

#[test]
fn blocks_of_another_checkpoint_do_not_validate() {
    let old = bytes_of(&header(5), &rows_of(5));
    let new = bytes_of(&header(6), &rows_of(6));
    let mut mixed = new;
    mixed[70_000..140_000].copy_from_slice(&old[70_000..140_000]);
    assert!(parse_checkpoint(&mixed).is_err());
    let mut whole_tail = bytes_of(&header(6), &rows_of(6));
    whole_tail[160..].copy_from_slice(&old[160..]);
    assert!(parse_checkpoint(&whole_tail).is_err());
}

fn any_row() -> impl Strategy<Value = Row> {
    let key = prop_oneof![
        any::<u64>().prop_map(RowKey::Number),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(RowKey::Bytes),
    ];
    let value = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..200),
        1 => (any::<u8>(), 0usize..200_000).prop_map(|(byte, len)| vec![byte; len]),
    ];
    (any::<u8>(), key, any::<u64>(), value).prop_map(|(kind, key, index, value)| Row {
        kind,
        key,
        index: LogIndex(index),
        value,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_of_any_size_come_back_in_order(rows in prop::collection::vec(any_row(), 0..30)) {
        let bytes = bytes_of(&header(9), &rows);
        prop_assert_eq!(parse_checkpoint(&bytes), Ok((header(9), rows)));
    }

    #[test]
    fn any_bytes_are_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(parse_checkpoint(&bytes).is_err());
    }

    #[test]
    fn damage_in_a_large_one_is_found(position in 0usize..250_000, mask in 1u8..) {
        let mut bytes = bytes_of(&header(2), &rows_of(2));
        let position = position % bytes.len();
        bytes[position] ^= mask;
        prop_assert!(parse_checkpoint(&bytes).is_err());
    }
}

#[test]
fn nothing_is_left_of_an_interrupted_one_but_room() {
    let disk = SimDisk::new(1);
    let writer = CheckpointWriter::begin(Arc::new(disk.clone()), dir(), &header(1), None).unwrap();
    drop(writer);
    assert!(load(&disk).is_none());
    assert!(disk.contents(&next_path(dir())).is_some());
}

#[test]
fn each_kept_checkpoint_is_told_good_or_damaged() {
    let disk = SimDisk::new(1);
    disk.create_dir(&dir().join(FOLDER)).unwrap();
    write(&disk, 1, None).unwrap();
    write(&disk, 2, Some(1)).unwrap();
    let kept = |disk: &SimDisk| -> Vec<Option<u64>> {
        let kept = Checkpoint::load_kept(disk, dir()).unwrap();
        kept.iter()
            .map(|loaded| loaded.as_ref().ok().map(Checkpoint::number))
            .collect()
    };
    assert_eq!(kept(&disk), [Some(2), Some(1)]);
    assert!(disk.corrupt(&checkpoint_path(dir(), 1), 5_000, 1));
    assert_eq!(kept(&disk), [Some(2), None]);
    let unreadable = Fault::new(Op::Read, FaultKind::Io).on("2.checkpoint");
    disk.inject(unreadable);
    assert_eq!(kept(&disk), [None, None]);
}

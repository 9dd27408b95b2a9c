//! The seeds of the corpora: what our own encoders write, and inputs for the targets that build
//! something themselves.

mod directories;
mod log_files;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use disk::{Disk, SimDisk};
use log::checkpoint::{
    CheckpointHeader, CheckpointWriter, ReplayPosition, Row, RowKey, ShardStart, checkpoint_path,
    kind,
};
use log::file::{FileHeader, FileState, Predecessor};
use log::segment::SwapEntry;
use millrace_broker::leader_epoch::EpochHistory;
use millrace_broker::metadata::{Metadata, MetadataEntry, NodeRow, TopicRow};
use millrace_broker::producer::ProducerStates;
use record::{BatchBuilder, BatchHeader, Codec};
use types::{
    FileEpoch, FileSequence, FrameNumber, LeaderEpoch, LogIndex, Offset, PartitionId,
    ProducerEpoch, ProducerId, Random, SeededRandom, SegmentId, Sequence, ShardId, Term, TopicId,
};

/// An input and its name.
pub(crate) type Seed = (String, Bytes);

/// One input for each way in which a target may take the same bytes.
fn in_forms(seeds: &mut Vec<Seed>, name: &str, forms: &[&[u8]], bytes: &[u8]) {
    for (index, form) in forms.iter().enumerate() {
        let input = [*form, bytes].concat();
        seeds.push((format!("seed-{name}-{index}"), input.into()));
    }
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = SeededRandom::new(seed);
    // Mostly small numbers: they are lengths, and what they are lengths of.
    let mut byte = || match random.below(8) {
        0 => random.next_u64().to_le_bytes()[0],
        _ => random.below(12).to_le_bytes()[0],
    };
    (0..len).map(|_| byte()).collect()
}

pub(crate) fn record_batch() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for codec in Codec::ALL {
        let mut builder = BatchBuilder::new();
        for i in 0..5 {
            let value = format!("value {i} ").repeat(i + 1);
            let headers = [(&b"h"[..], Some(&b"v"[..])), (b"h", None)];
            let (key, value) = (Some(&b"key"[..]), Some(value.as_bytes()));
            let time = 1_000 + i64::from(i % 3 == 1);
            builder.append(time, key, value, &headers[..i % 3]).unwrap();
        }
        let producer = builder
            .clone()
            .producer(ProducerId(9), ProducerEpoch(0), Sequence(7));
        let plain = builder.clone().build(Codec::None).unwrap();
        let (packed, producer) = (
            builder.build(codec).unwrap(),
            producer.build(codec).unwrap(),
        );
        let name = codec.name();
        // As it is; put right; packed anew with each codec; with bounds on times.
        let forms: [&[u8]; 7] = [
            &[0, 5],
            &[1, 5],
            &[0, 0],
            &[0, 1],
            &[0, 2],
            &[0, 3],
            &[1, 0x25],
        ];
        in_forms(&mut seeds, name, &forms, &packed);
        in_forms(
            &mut seeds,
            &format!("{name}-producer"),
            &[&[0, 4], &[1, 0x15]],
            &producer,
        );
        // The attributes name a codec, the records are still to be packed.
        let mut unpacked = plain.to_vec();
        unpacked[22] = codec.bits();
        in_forms(
            &mut seeds,
            &format!("{name}-unpacked"),
            &[&[2, 5], &[2, 0]],
            &unpacked,
        );
        let built = [&[codec.bits(), 1][..], &[5, 0, 0, 2, 6], &noise(1, 120)].concat();
        in_forms(&mut seeds, &format!("{name}-built"), &[&[3, 5]], &built);
    }
    seeds
}

pub(crate) fn log_frame() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, frame) in log_files::frames() {
        in_forms(&mut seeds, name, &[&[0], &[1]], &frame);
    }
    for seed in 0..8 {
        // Epoch, position, numbers, and how many entries there are.
        let front = [noise(seed, 26), vec![u8::try_from(seed).unwrap() * 2]].concat();
        let bytes = [front, noise(seed + 100, 200)].concat();
        in_forms(&mut seeds, &format!("built-{seed}"), &[&[2]], &bytes);
    }
    seeds
}

pub(crate) fn log_file_header() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let predecessor = Predecessor {
        sequence: FileSequence(6),
        epoch: FileEpoch(0x1122_3344_5566_7788),
        end: 1 << 20,
    };
    for (name, state, predecessor, number) in [
        ("first", FileState::Live, None, 1),
        ("next", FileState::Live, Some(predecessor), 7),
        ("spare", FileState::Spare, None, 0),
        ("late", FileState::Live, None, (1 << 62) - 1),
        ("odd", FileState::Spare, Some(predecessor), 7),
    ] {
        let header = FileHeader {
            state,
            sequence: FileSequence(number),
            epoch: FileEpoch(0x99aa_bbcc_ddee_ff00),
            generation: number,
            predecessor,
            first_frame: FrameNumber(number),
            file_bytes: 256 << 20,
            directory: *b"0123456789abcdef",
        };
        // Only zeros follow.
        in_forms(&mut seeds, name, &[&[0], &[1]], &header.encode()[..136]);
    }
    seeds
}

pub(crate) fn log_directory() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, proven, pieces) in directories::directories() {
        in_forms(&mut seeds, name, &[&[0, proven], &[1, proven]], &pieces);
    }
    seeds
}

pub(crate) fn segment_footer() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for sealed in log_files::sealed() {
        in_forms(&mut seeds, sealed.name, &[&[0], &[1]], &sealed.footer);
    }
    seeds
}

pub(crate) fn segment_swap() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for sealed in log_files::sealed() {
        let entry = SwapEntry::Sealed(sealed.info.clone());
        in_forms(&mut seeds, sealed.name, &[&[0]], &entry.encode());
        let name = format!("{}-info", sealed.name);
        in_forms(&mut seeds, &name, &[&[1]], &sealed.info.encode());
    }
    for (name, ids) in [("none", vec![]), ("some", vec![1, 300, u64::MAX])] {
        let ids = ids.into_iter().map(SegmentId).collect();
        in_forms(&mut seeds, name, &[&[0]], &SwapEntry::Dropped(ids).encode());
    }
    seeds
}

fn checkpoint_bytes(shards: u16, rows: &[Row]) -> Vec<u8> {
    let header = CheckpointHeader {
        number: 3,
        directory: *b"0123456789abcdef",
        created_ms: 1_700_000_000_000,
        replay: ReplayPosition {
            sequence: FileSequence(7),
            epoch: FileEpoch(0x0102_0304_0506_0708),
            position: 8_192,
            frame: FrameNumber(99),
        },
        proven: FrameNumber(98),
        shards: (0..shards)
            .map(|shard| ShardStart {
                shard: ShardId(shard),
                applied: LogIndex(1_234),
                term: Term(1),
            })
            .collect(),
    };
    let (sim, dir) = (SimDisk::new(1), Path::new("/data"));
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let mut writer = CheckpointWriter::begin(disk, dir, &header, None).unwrap();
    rows.iter().for_each(|row| writer.add(row));
    writer.finish().unwrap();
    sim.contents(&checkpoint_path(dir, 3)).unwrap()
}

pub(crate) fn checkpoint() -> Vec<Seed> {
    let row = |kind, key, value: &[u8]| Row {
        kind,
        key,
        index: LogIndex(70_000),
        value: value.to_vec(),
    };
    let name = || RowKey::Bytes(b"orders".to_vec());
    let small = [
        row(kind::NODE, RowKey::Number(0), &NodeRow::default().encode()),
        row(kind::TOPIC, name(), &TopicRow::of(&topic()).encode()),
        row(kind::PARTITION, RowKey::Number(300), b""),
        row(kind::LIVE_FILE, RowKey::Number(u64::MAX), &[7; 40]),
    ];
    // Together they begin a second block, one of them across the border.
    let large: Vec<_> = (0..9)
        .map(|number| row(kind::PARTITION, RowKey::Number(number), &[1; 8_000]))
        .collect();
    let tiny: Vec<_> = (0..50).map(|n| row(1, RowKey::Number(n), b"")).collect();
    let mut seeds = Vec::new();
    for (name, shards, rows) in [
        ("empty", 0, &[][..]),
        ("small", 2, &small),
        ("large", 2, &large),
        ("tiny", 1, &tiny),
        ("shards", 40, &small),
    ] {
        let bytes = checkpoint_bytes(shards, rows);
        in_forms(&mut seeds, name, &[&[0], &[1]], &bytes);
    }
    seeds
}

fn topic() -> millrace_broker::metadata::TopicState {
    let mut metadata = Metadata::default();
    metadata.apply(&entries()[0].1);
    let topic = metadata.topic(TopicId([5; 16])).unwrap();
    millrace_broker::metadata::TopicState::clone(topic)
}

fn entries() -> Vec<(&'static str, MetadataEntry)> {
    let id = TopicId([5; 16]);
    let partitions = vec![PartitionId(1), PartitionId(2), PartitionId(70_000)];
    let text = |text: &str| text.to_owned();
    let configs = BTreeMap::from([
        (text("retention.ms"), text("86400000")),
        (text("compression.type"), text("zstd")),
    ]);
    let set = BTreeMap::from([
        (text("retention.ms"), None),
        (text("durability"), Some(text("async"))),
    ]);
    let (name, vhost, created_ms) = (text("orders.new"), text("/"), 1_700_000_000_000);
    let create = MetadataEntry::CreateTopic {
        id,
        name,
        vhost,
        partitions: partitions.clone(),
        configs,
        created_ms,
    };
    vec![
        ("create", create),
        ("delete", MetadataEntry::DeleteTopic { id }),
        ("add", MetadataEntry::AddPartitions { id, partitions }),
        ("set", MetadataEntry::SetTopicConfigs { id, set }),
        ("ids", MetadataEntry::ProducerIds { next: i64::MAX }),
        ("epoch", MetadataEntry::LeaderEpochBase { epoch: -1 }),
    ]
}

/// Histories and producers of a partition in which some batches were appended.
fn partition(batches: i32) -> (EpochHistory, ProducerStates) {
    let (mut history, mut producers) = (EpochHistory::default(), ProducerStates::default());
    let (records, _) = log_files::records(1, 0, Codec::None, &[5]);
    for number in 0..batches {
        let base_offset = Offset(i64::from(number) * 10);
        history.append(LeaderEpoch(number / 2), base_offset);
        let header = BatchHeader {
            producer_id: ProducerId(i64::from(number % 3)),
            producer_epoch: ProducerEpoch(0),
            base_sequence: Sequence(number / 3 * 10),
            count: 10,
            ..BatchHeader::default()
        };
        producers.apply(
            &header,
            &log::EntryHeader {
                base_offset,
                ..records
            },
        );
    }
    (history, producers)
}

pub(crate) fn metadata() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, entry) in entries() {
        in_forms(&mut seeds, name, &[&[0]], &entry.encode());
    }
    in_forms(
        &mut seeds,
        "topic",
        &[&[1]],
        &TopicRow::of(&topic()).encode(),
    );
    let node = NodeRow {
        next_partition: 70_001,
        next_producer_id: 3_000,
        leader_epoch_base: 4,
        next_segment: 1 << 40,
        stamp_ms: 1_700_000_000_000,
    };
    in_forms(&mut seeds, "node", &[&[2]], &node.encode());
    for batches in [0, 1, 30] {
        let (history, producers) = partition(batches);
        in_forms(
            &mut seeds,
            &format!("epochs-{batches}"),
            &[&[3]],
            &history.encode(),
        );
        in_forms(
            &mut seeds,
            &format!("producers-{batches}"),
            &[&[4]],
            &producers.encode(),
        );
    }
    seeds
}

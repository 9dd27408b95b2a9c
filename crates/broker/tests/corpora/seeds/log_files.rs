//! Frames, and log files that were sealed.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use disk::{Disk, SimDisk};
use log::file::{HEADER_BYTES, LogFile};
use log::frame::FrameBuilder;
use log::segment::{IsDead, SealStep, Sealer, SegmentInfo};
use log::{Entry, EntryHeader, Kind, Origin, Payload};
use record::{BatchBuilder, Codec};
use types::{
    FileEpoch, FileSequence, FrameNumber, LogIndex, Offset, PartitionId, SegmentId, ShardId, Term,
};

const EPOCH: FileEpoch = FileEpoch(0x1122_3344_5566_7788);
const FILE_BYTES: u64 = 1 << 20;

/// The entry of a record batch, and the batch.
pub(crate) fn records(
    partition: u32,
    base_offset: i64,
    codec: Codec,
    times: &[i64],
) -> (EntryHeader, Bytes) {
    let mut builder = BatchBuilder::new();
    for time in times {
        builder
            .append(*time, Some(b"key"), Some(b"value"), &[])
            .unwrap();
    }
    let header = EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Kafka,
        partition: PartitionId(partition),
        term: Term(1),
        index: LogIndex(1),
        base_offset: Offset(base_offset),
        count: u32::try_from(times.len()).unwrap(),
        append_time_ms: 1_700_000_000_000,
        max_timestamp_ms: times.iter().copied().max().unwrap_or(-1),
    };
    (header, builder.build(codec).unwrap())
}

fn metadata() -> (EntryHeader, Bytes) {
    let (records, _) = records(0, 0, Codec::None, &[]);
    let header = EntryHeader {
        kind: Kind::Metadata,
        shard: ShardId(0),
        ..records
    };
    (header, Bytes::from_static(b"a topic was made"))
}

type Entries = Vec<(EntryHeader, Bytes)>;

/// The bytes of a frame at `position`.
fn frame(entries: &Entries, position: u64, number: u64) -> Vec<u8> {
    let mut builder = FrameBuilder::default();
    for (header, body) in entries {
        let payload = Payload::from_body(body.clone());
        builder.push(Entry {
            header: *header,
            payload,
        });
    }
    let (number, synced) = (FrameNumber(number), FrameNumber(number - 1));
    let frame = builder.build(FileSequence(7), EPOCH, position, number, synced);
    frame.bytes.to_vec()
}

/// Headers of frames of several sizes; the last one also with what follows its header.
pub(crate) fn frames() -> Vec<(&'static str, Vec<u8>)> {
    let many = |count: u32| -> Entries {
        (0..count)
            .map(|n| records(n % 5, i64::from(n), Codec::None, &[5]))
            .collect()
    };
    let header = |entries: &Entries| {
        let mut bytes = frame(entries, HEADER_BYTES, 9);
        bytes.truncate(80 + 72 * entries.len());
        bytes
    };
    vec![
        ("empty", header(&vec![])),
        ("one", header(&many(1))),
        ("metadata", header(&vec![metadata(), metadata()])),
        ("many", header(&many(60))),
        (
            "whole",
            frame(&vec![metadata(), records(3, 7, Codec::Gzip, &[1])], 0, 1),
        ),
    ]
}

/// A log file that was sealed.
pub(crate) struct Sealed {
    pub(crate) name: &'static str,
    pub(crate) info: SegmentInfo,
    pub(crate) footer: Vec<u8>,
}

/// Log files of one kind each.
pub(crate) fn sealed() -> Vec<Sealed> {
    let runs = |partitions: u32, batches: u32| -> Vec<Entries> {
        let batch = |p, b: u32| records(p, i64::from(b) * 2, Codec::None, &[i64::from(b), 3]);
        let entries = |b| (0..partitions).map(|p| batch(p, b)).collect();
        (0..batches).map(entries).collect()
    };
    let codecs = Codec::ALL.iter().zip(0..);
    let codecs = codecs
        .map(|(codec, n)| records(n % 2, n.into(), *codec, &[n.into()]))
        .collect();
    vec![
        seal("empty", &[], None, false),
        seal("metadata", &[vec![metadata()]], None, false),
        seal("one", &runs(1, 1), None, false),
        seal("many", &runs(40, 2), None, false),
        seal("long", &runs(2, 60), None, false),
        seal("codecs", &[codecs], None, false),
        seal(
            "dead",
            &runs(3, 4),
            Some(Box::new(|e| e.header.base_offset < Offset(3))),
            false,
        ),
        seal("damaged", &runs(3, 4), None, true),
    ]
}

fn seal(name: &'static str, frames: &[Entries], is_dead: Option<IsDead>, damaged: bool) -> Sealed {
    let (disk, dir) = (SimDisk::new(1), Path::new("/data"));
    let path = dir.join("log/00000000000000000007.log");
    disk.create_dir(&dir.join("log")).unwrap();
    disk.create_dir(&dir.join("segments")).unwrap();
    let mut bytes = vec![0; usize::try_from(HEADER_BYTES).unwrap()];
    for (entries, number) in frames.iter().zip(1..) {
        bytes.extend(frame(entries, bytes.len() as u64, number));
    }
    let end = bytes.len() as u64;
    if damaged {
        // The last byte that is not padding belongs to a payload.
        let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        bytes[last] ^= 1;
    }
    disk.place(&path, &bytes);
    let file = disk.open(&path).unwrap();
    let file = LogFile {
        sequence: FileSequence(7),
        epoch: EPOCH,
        path,
        file_bytes: FILE_BYTES,
        file,
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let directory = *b"0123456789abcdef";
    let mut sealer = Sealer::new(
        shared,
        dir,
        SegmentId(42),
        Arc::new(file),
        end,
        directory,
        1_700_000_000_000,
    )
    .unwrap();
    if let Some(is_dead) = is_dead {
        sealer = sealer.with_dead(is_dead);
    }
    let info = loop {
        if let SealStep::Done(info) = sealer.step().unwrap() {
            break info;
        }
    };
    let footer = disk.contents(&info.footer_path(dir)).unwrap();
    Sealed { name, info, footer }
}

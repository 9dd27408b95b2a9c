//! Log files on a simulated disk, and what is in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use disk::{Disk, SimDisk};
use record::{BatchBuilder, Codec};
use types::{
    FileEpoch, FileSequence, FrameNumber, LogIndex, Offset, PartitionId, SegmentId, ShardId, Term,
};

use super::super::*;
use crate::file::{HEADER_BYTES, LogFile};
use crate::frame::{Frame, FrameBuilder};
use crate::{Entry, EntryHeader, Error, Kind, Origin, Payload};

pub(super) const DIRECTORY: [u8; 16] = *b"0123456789abcdef";
pub(super) const CREATED_MS: i64 = 1_700_000_100_000;
pub(super) const ID: SegmentId = SegmentId(42);

pub(super) fn dir() -> &'static Path {
    Path::new("/data")
}

/// A batch that was written, and where.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) header: EntryHeader,
    pub(super) position: u64,
    pub(super) payload: Bytes,
}

/// A log file under construction.
pub(super) struct Fixture {
    pub(super) disk: SimDisk,
    pub(super) file: Arc<LogFile>,
    pub(super) end: u64,
    pub(super) batches: Vec<Written>,
    pub(super) frames: Vec<Frame>,
    next_frame: FrameNumber,
    next_index: LogIndex,
}

impl Fixture {
    pub(super) fn new(seed: u64, file_bytes: u64) -> Self {
        let disk = SimDisk::new(seed);
        disk.create_dir(&dir().join("log")).unwrap();
        disk.create_dir(&dir().join("segments")).unwrap();
        let path = dir().join("log/00000000000000000007.log");
        let file = disk.create(&path).unwrap();
        file.allocate(0, file_bytes).unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(&dir().join("log")).unwrap();
        let (sequence, epoch) = (FileSequence(7), FileEpoch(0x1122_3344_5566_7788));
        Self {
            disk,
            file: Arc::new(LogFile {
                sequence,
                epoch,
                path,
                file_bytes,
                file,
            }),
            end: HEADER_BYTES,
            batches: Vec::new(),
            frames: Vec::new(),
            next_frame: FrameNumber(100),
            next_index: LogIndex(1),
        }
    }

    /// Writes one frame of these entries and syncs it.
    pub(super) fn frame(&mut self, entries: Vec<(EntryHeader, Bytes)>) {
        let mut builder = FrameBuilder::default();
        let mut payloads = Vec::new();
        for (mut header, payload) in entries {
            header.index = self.next_index;
            self.next_index = self.next_index.next();
            payloads.push((header, payload.clone()));
            builder.push(Entry {
                header,
                payload: Payload::from_body(payload),
            });
        }
        let (sequence, epoch) = (self.file.sequence, self.file.epoch);
        let synced = FrameNumber(self.next_frame.0 - 1);
        let frame = builder.build(sequence, epoch, self.end, self.next_frame, synced);
        assert!(
            frame.position + frame.frame_bytes <= self.file.file_bytes,
            "the file is too small"
        );
        self.file
            .file
            .write_direct_at(&frame.bytes, self.end)
            .unwrap();
        self.file.file.sync_data().unwrap();
        self.end += frame.frame_bytes;
        self.next_frame = self.next_frame.next();
        for placed in &frame.entries {
            let (header, payload) = payloads.remove(0);
            assert_eq!(header.index, placed.header.index);
            if header.kind == Kind::Records {
                self.batches.push(Written {
                    header,
                    position: placed.position,
                    payload,
                });
            }
        }
        self.frames.push(frame);
    }

    /// What the writer of the file would have gathered.
    pub(super) fn draft(&self) -> FooterDraft {
        let mut draft = FooterDraft::new(&self.file.path);
        let frames = self.frames.iter();
        frames.for_each(|frame| draft.add(frame).unwrap());
        draft
    }

    pub(super) fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(self.disk.clone())
    }

    pub(super) fn sealer(&self) -> Sealer {
        let file = self.open_again();
        Sealer::new(
            self.disk(),
            dir(),
            ID,
            file,
            self.end,
            DIRECTORY,
            CREATED_MS,
        )
        .unwrap()
    }

    /// After a crash the old handle is dead.
    pub(super) fn open_again(&self) -> Arc<LogFile> {
        let file = self.disk.open(&self.file.path).unwrap();
        let (sequence, epoch) = (self.file.sequence, self.file.epoch);
        let (path, file_bytes) = (self.file.path.clone(), self.file.file_bytes);
        Arc::new(LogFile {
            sequence,
            epoch,
            path,
            file_bytes,
            file,
        })
    }

    pub(super) fn seal(&self) -> Segment {
        self.segment(run(self.sealer()).unwrap())
    }

    pub(super) fn segment(&self, info: SegmentInfo) -> Segment {
        Segment::open(self.disk(), dir(), info).unwrap()
    }

    pub(super) fn footer_path(&self) -> PathBuf {
        dir().join(footer_name(ID))
    }

    /// The batches of a partition in offset order.
    pub(super) fn of(&self, partition: u32) -> Vec<&Written> {
        let own = |b: &&Written| b.header.partition == PartitionId(partition);
        self.batches.iter().filter(own).collect()
    }
}

/// Runs a sealer to its end.
pub(super) fn run(mut sealer: Sealer) -> Result<SegmentInfo, Error> {
    loop {
        match sealer.step()? {
            SealStep::More => {}
            SealStep::Done(info) => return Ok(info),
        }
    }
}

/// Runs a verification to its end.
pub(super) fn verify(segment: &Segment, is_dead: IsDead) -> VerifyReport {
    let mut verifier = Verifier::new(segment, is_dead);
    loop {
        match verifier.step().unwrap() {
            VerifyStep::More => {}
            VerifyStep::Done(report) => return report,
        }
    }
}

pub(super) fn nothing_is_dead() -> IsDead {
    Box::new(|_| false)
}

pub(super) fn batch_header(partition: u32, base_offset: i64, count: u32) -> EntryHeader {
    EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Kafka,
        partition: PartitionId(partition),
        term: Term(1),
        index: LogIndex(0),
        base_offset: Offset(base_offset),
        count,
        append_time_ms: 1_700_000_000_000 + base_offset,
        max_timestamp_ms: 1_600_000_000_000 + base_offset,
    }
}

pub(super) fn metadata() -> (EntryHeader, Bytes) {
    let header = EntryHeader {
        kind: Kind::Metadata,
        ..batch_header(0, 0, 0)
    };
    (header, Bytes::from_static(b"a topic was made"))
}

/// Bytes that are no record batch (its version would be 2): of one value each, so that mixing them up shows.
pub(super) fn raw(
    partition: u32,
    base_offset: i64,
    count: u32,
    len: usize,
) -> (EntryHeader, Bytes) {
    let value = (base_offset.unsigned_abs() * 31 + u64::from(partition)) % 240 + 3;
    let header = batch_header(partition, base_offset, count);
    (header, Bytes::from(vec![u8::try_from(value).unwrap(); len]))
}

/// A record batch.
pub(super) fn records(
    partition: u32,
    base_offset: i64,
    codec: Codec,
    timestamps: &[i64],
) -> (EntryHeader, Bytes) {
    let mut builder = BatchBuilder::new();
    for timestamp in timestamps {
        let value = format!("record of partition {partition}").repeat(3);
        builder
            .append(*timestamp, Some(b"key"), Some(value.as_bytes()), &[])
            .unwrap();
    }
    let count = u32::try_from(timestamps.len()).unwrap();
    let mut header = batch_header(partition, base_offset, count);
    header.max_timestamp_ms = timestamps.iter().copied().max().unwrap_or(-1);
    (header, builder.build(codec).unwrap())
}

/// A small file: two partitions and a metadata entry, in two frames.
pub(super) fn small() -> Fixture {
    let mut fixture = Fixture::new(1, 64 << 10);
    fixture.frame(vec![
        records(3, 10, Codec::None, &[5_000]),
        metadata(),
        records(8, 0, Codec::None, &[7_000, 6_000]),
        records(3, 11, Codec::None, &[4_000]),
    ]);
    fixture.frame(vec![records(3, 12, Codec::Gzip, &[9_000, 9_500])]);
    fixture
}

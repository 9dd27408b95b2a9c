//! What must hold for any bytes that are taken for a frame of the log.

use bytes::Bytes;
use log::frame::{
    DESCRIPTOR_BYTES, EPOCH_AT, FIXED_BYTES, Frame, FrameBuilder, FrameFault, FrameHeader,
};
use log::{Entry, EntryHeader, Kind, Origin, Payload};
use types::limits::{BLOCK_BYTES, FRAME_ENTRIES_MAX};
use types::{FileEpoch, FileSequence, FrameNumber, LogIndex, Offset, PartitionId, ShardId, Term};

use crate::allocated::bounded;
use crate::fields::{put_crc, slice, u32_at, u64_at};
use crate::source::Source;

/// Places of fields (docs/formats/frame.md).
const CRC_AT: usize = 4;
const CRC_FROM: usize = 8;
const HEADER_BYTES_AT: usize = 12;
const POSITION_AT: usize = 40;
/// No file is longer, so that no sum of a position and a length leaves 64 bits.
const POSITION_MAX: u64 = 1 << 62;
/// A frame is built anew only when its payloads are small.
const REBUILT_BYTES_MAX: u64 = 64 << 10;
/// What a header may take in memory for each byte of it.
const ALLOCATED_PER_BYTE_MAX: usize = 2;

/// The first byte says what becomes of the others: 0 they are a frame; 1 they are one once its
/// header's CRC is put right; 2 a frame is built out of them and then changed; 3 both. True when
/// there was a frame.
pub fn check(input: &Bytes) -> bool {
    let mut source = Source::new(input);
    match source.u8() % 4 {
        0 => check_bytes(source.rest()),
        1 => check_bytes(&put_right(source.rest())),
        choice => {
            let frame = build(&mut source);
            check_frame(&frame);
            let changed = changed(&frame.whole, &mut source);
            match choice {
                2 => {
                    check_change(&frame, &changed);
                    true
                }
                _ => check_bytes(&put_right(&changed)),
            }
        }
    }
}

/// A frame that was built, and what it was built of.
struct Built {
    epoch: FileEpoch,
    entries: Vec<(EntryHeader, Vec<u8>)>,
    frame: Frame,
    whole: Bytes,
}

/// Reads bytes that claim to stand where their own fields say.
fn check_bytes(bytes: &Bytes) -> bool {
    let epoch_at = usize::try_from(EPOCH_AT).unwrap_or(usize::MAX);
    let epoch = FileEpoch(u64_at(bytes, epoch_at).unwrap_or(0));
    let position = u64_at(bytes, POSITION_AT).unwrap_or(0);
    if position > POSITION_MAX {
        return false;
    }
    let other = FileEpoch(epoch.0 ^ 1);
    assert!(FrameHeader::parse(bytes, other, position).is_err());
    assert!(FrameHeader::parse(bytes, epoch, position + BLOCK_BYTES).is_err());
    let parse = || FrameHeader::parse(bytes, epoch, position);
    match bounded(bytes.len(), ALLOCATED_PER_BYTE_MAX, parse) {
        Ok(header) => {
            check_header(&header, epoch);
            true
        }
        Err(FrameFault::Short { header_bytes }) => {
            let most = FIXED_BYTES + FRAME_ENTRIES_MAX * DESCRIPTOR_BYTES;
            assert!(bytes.len() < header_bytes && header_bytes <= most);
            false
        }
        Err(_) => false,
    }
}

/// What every header that was read promises, and that it can be built again.
fn check_header(header: &FrameHeader, epoch: FileEpoch) {
    assert!(header.frame_bytes.is_multiple_of(BLOCK_BYTES));
    let mut next = header.payloads_start();
    for entry in &header.entries {
        assert_eq!(entry.position, next);
        next += u64::from(entry.payload_bytes);
    }
    assert!(next <= header.end() && header.end() - next < BLOCK_BYTES);
    let decided = header.decided_order();
    assert!(decided.is_sorted_by_key(|entry| (entry.header.shard, entry.header.index)));
    if header.frame_bytes > REBUILT_BYTES_MAX {
        return;
    }
    let mut builder = FrameBuilder::default();
    for entry in &header.entries {
        let body = Bytes::from(vec![0; entry.payload_bytes as usize]);
        let payload = Payload::from_parts(&[], body, entry.payload_crc);
        builder.push(Entry {
            header: entry.header,
            payload,
        });
    }
    let (number, synced) = (header.number, header.synced);
    let frame = builder.build(FileSequence(1), epoch, header.position, number, synced);
    let whole = frame.bytes;
    assert_eq!(whole.len() as u64, header.frame_bytes);
    let again = FrameHeader::parse(&whole, epoch, header.position).expect("what was built");
    let mut expected = header.clone();
    expected
        .entries
        .sort_by_key(|entry| (entry.header.shard, entry.header.partition));
    let mut next = expected.payloads_start();
    for entry in &mut expected.entries {
        entry.position = next;
        next += u64::from(entry.payload_bytes);
    }
    assert_eq!(again, expected);
}

/// Reading gives back what was built.
fn check_frame(built: &Built) {
    let Built {
        epoch,
        entries,
        frame,
        whole,
    } = built;
    assert_eq!(whole.len() as u64, frame.frame_bytes);
    let header = FrameHeader::parse(whole, *epoch, frame.position).expect("what was built");
    check_header(&header, *epoch);
    assert_eq!(header.entries.len(), entries.len());
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(header, _)| (header.shard, header.partition));
    for (read, (expected, payload)) in header.entries.iter().zip(sorted) {
        assert_eq!(read.header, *expected);
        let at = read.position - frame.position;
        let stored = slice(whole, at, u64::from(read.payload_bytes));
        assert_eq!(stored, Some(payload.as_slice()));
        assert_eq!(read.payload_crc, record::crc32c(payload));
    }
}

/// A change of a header is noticed, unless it hits the one right CRC; one behind the header is the
/// business of the payloads' CRCs.
fn check_change(built: &Built, changed: &Bytes) {
    let covered = u32_at(&built.whole, HEADER_BYTES_AT).unwrap_or(0) as usize;
    let same = changed[..covered] == built.whole[..covered];
    if same || put_right(changed) != *changed {
        let parsed = FrameHeader::parse(changed, built.epoch, built.frame.position);
        assert_eq!(parsed.is_ok(), same);
    }
}

fn put_right(bytes: &Bytes) -> Bytes {
    let mut bytes = bytes.to_vec();
    let end = u32_at(&bytes, HEADER_BYTES_AT).unwrap_or(0) as usize;
    put_crc(&mut bytes, CRC_AT, CRC_FROM, end);
    bytes.into()
}

fn build(source: &mut Source) -> Built {
    let epoch = FileEpoch(source.u64());
    let position = u64::from(source.u16()) * BLOCK_BYTES;
    let (number, synced) = (FrameNumber(source.u64()), FrameNumber(source.u64()));
    let mut builder = FrameBuilder::default();
    let mut entries = Vec::new();
    for _ in 0..source.u8() % 16 {
        let (header, head, body) = (entry_header(source), source.nullable(), body(source));
        let head = head.unwrap_or_default();
        let body_crc = record::crc32c(&body);
        entries.push((header, [&head[..], &body[..]].concat()));
        builder.push(Entry {
            header,
            payload: Payload::from_parts(&head, body, body_crc),
        });
    }
    let frame = builder.build(FileSequence(1), epoch, position, number, synced);
    let whole = frame.bytes.clone();
    Built {
        epoch,
        entries,
        frame,
        whole,
    }
}

/// A few bytes, or so many that the frame refers to them instead of copying them.
fn body(source: &mut Source) -> Bytes {
    match source.u8() {
        255 => vec![source.u8(); 16 << 10].into(),
        len => source.bytes(len.into()),
    }
}

fn entry_header(source: &mut Source) -> EntryHeader {
    let kind = Kind::from_number(source.u8() % 6 + 1).unwrap_or(Kind::Records);
    EntryHeader {
        shard: ShardId(source.u8().into()),
        kind,
        origin: Origin::from_number(source.u8() % 4).unwrap_or(Origin::Kafka),
        partition: PartitionId(source.u8().into()),
        term: Term(source.u8().into()),
        index: LogIndex(source.u8().into()),
        base_offset: Offset(source.u64().cast_signed()),
        count: source.u32(),
        append_time_ms: source.time_ms(),
        max_timestamp_ms: source.time_ms(),
    }
}

/// The bytes with some of them changed, as the rest of the input says: where, and to what.
fn changed(bytes: &Bytes, source: &mut Source) -> Bytes {
    let mut bytes = bytes.to_vec();
    while !source.is_empty() {
        let (at, value) = (usize::from(source.u16()), source.u8());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    }
    bytes.into()
}

use super::*;
use crate::entry::{Kind, Origin, Payload};
use crate::frame::{FrameFault, FrameHeader};
use types::limits::BLOCK_BYTES;
use types::{LogIndex, Offset, PartitionId, ShardId, Term};

const EPOCH: FileEpoch = FileEpoch(0x0123_4567_89ab_cdef);

fn entry(partition: u32, index: u64, body: Bytes) -> Entry {
    let header = EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Kafka,
        partition: PartitionId(partition),
        term: Term(1),
        index: LogIndex(index),
        base_offset: Offset(index.cast_signed() * 10),
        count: 10,
        append_time_ms: 1_000,
        max_timestamp_ms: 900,
    };
    Entry {
        header,
        payload: Payload::from_parts(b"head", body.clone(), record::crc32c(&body)),
    }
}

fn build(entries: impl IntoIterator<Item = Entry>) -> (Frame, Vec<u8>) {
    let mut builder = FrameBuilder::default();
    entries.into_iter().for_each(|entry| builder.push(entry));
    let frame = builder.build(
        FileSequence(3),
        EPOCH,
        8_192,
        FrameNumber(7),
        FrameNumber(5),
    );
    let bytes = frame.bytes.to_vec();
    (frame, bytes)
}

fn at<'a>(bytes: &'a [u8], entry: &PlacedEntry) -> &'a [u8] {
    let from = usize::try_from(entry.position - 8_192).unwrap();
    &bytes[from..from + entry.payload_bytes as usize]
}

#[test]
fn what_is_built_is_read_back_in_the_order_of_decision() {
    let large = Bytes::from(vec![9; 100_000]);
    let small = Bytes::from_static(b"small");
    let (frame, bytes) = build([
        entry(2, 1, small.clone()),
        entry(1, 2, large.clone()),
        entry(2, 3, Bytes::new()),
    ]);
    assert_eq!(bytes.len() as u64, frame.frame_bytes);
    assert_eq!(frame.frame_bytes % BLOCK_BYTES, 0);
    let parsed = FrameHeader::parse(&bytes, EPOCH, 8_192).unwrap();
    assert_eq!(
        (parsed.number, parsed.synced),
        (FrameNumber(7), FrameNumber(5))
    );
    assert_eq!(parsed.frame_bytes, frame.frame_bytes);
    let decided = parsed.decided_order();
    assert_eq!(
        decided.iter().map(|e| e.header.index.0).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let same = decided.iter().zip(&frame.entries);
    assert!(
        same.clone()
            .all(|(a, b)| a.header == b.header && a.position == b.position)
    );
    for (read, placed) in same {
        assert_eq!(read.payload_crc, record::crc32c(at(&bytes, placed)));
    }
    assert_eq!(
        at(&bytes, &frame.entries[0]),
        [b"head", &small[..]].concat()
    );
    assert_eq!(
        at(&bytes, &frame.entries[1]),
        [b"head", &large[..]].concat()
    );
}

#[test]
fn payloads_of_one_partition_stand_together() {
    let body = Bytes::from_static(b"x");
    let order = [(2, 1), (1, 2), (2, 3), (1, 4)];
    let (frame, _) = build(order.map(|(partition, index)| entry(partition, index, body.clone())));
    let mut placed = frame.entries;
    placed.sort_by_key(|e| e.position);
    assert_eq!(
        placed.iter().map(|e| e.header.index.0).collect::<Vec<_>>(),
        [2, 4, 1, 3]
    );
}

#[test]
fn a_frame_starts_at_a_block_boundary_of_memory() {
    for len in [1, 5_000, 300_000] {
        let (frame, _) = build([entry(1, 1, Bytes::from(vec![1; len]))]);
        assert_eq!(frame.bytes.as_ptr().addr() as u64 % BLOCK_BYTES, 0);
        assert_eq!(frame.bytes.len() as u64, frame.frame_bytes);
    }
}

#[test]
fn a_frame_holds_in_its_own_place_and_life_only() {
    let (_, bytes) = build([entry(1, 1, Bytes::from_static(b"x"))]);
    let parse = |epoch, position| FrameHeader::parse(&bytes, epoch, position);
    assert_eq!(parse(FileEpoch(1), 8_192), Err(FrameFault::Epoch));
    assert_eq!(parse(EPOCH, 12_288), Err(FrameFault::Position));
    assert_eq!(
        FrameHeader::parse(&[0; 4096], EPOCH, 8_192),
        Err(FrameFault::Magic)
    );
}

#[test]
fn any_flipped_bit_of_the_header_is_noticed() {
    let (_, bytes) = build([entry(1, 1, Bytes::from_static(b"x"))]);
    let header = FrameHeader::parse(&bytes, EPOCH, 8_192).unwrap();
    let header_bytes = usize::try_from(header.payloads_start() - 8_192).unwrap();
    for byte in 0..header_bytes {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << bit;
            let parsed = FrameHeader::parse(&flipped, EPOCH, 8_192);
            assert!(parsed.is_err(), "bit {bit} of byte {byte} was not noticed");
        }
    }
}

#[test]
fn a_frame_takes_what_fits_and_always_one() {
    let mut builder = FrameBuilder::default();
    let body = Bytes::from(vec![0; 10_000]);
    assert!(builder.takes(&entry(1, 1, body.clone()), 4_096));
    builder.push(entry(1, 1, body.clone()));
    assert!(!builder.takes(&entry(1, 2, body.clone()), 4_096 * 4));
    assert!(builder.takes(&entry(1, 2, body), 4_096 * 8));
}

#[test]
fn the_bytes_are_those_of_the_format_page() {
    let (_, bytes) = build([entry(1, 2, Bytes::from_static(b"body"))]);
    let golden = "4d4c5246\
        d5ac6e4d0100000098000000010000000000000\
        0efcdab8967452301";
    let hex: String = bytes[..32]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let crc: String = bytes[4..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, golden.replace("d5ac6e4d", &crc));
    let fields: Vec<u64> = (32..64)
        .step_by(8)
        .map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()))
        .collect();
    assert_eq!(fields, [7, 8_192, 4_096, 5]);
    assert_eq!(&bytes[152..160], b"headbody");
    let descriptor = &bytes[80..152];
    assert_eq!(descriptor[0..4], 8u32.to_le_bytes());
    let masked = record::crc32c(b"headbody") ^ 0x89ab_cdef ^ 0x0123_4567;
    assert_eq!(descriptor[4..8], masked.to_le_bytes());
    assert_eq!(descriptor[8..12], [1, 0, 1, 1]);
}

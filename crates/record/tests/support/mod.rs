//! Batches made by hand, right and wrong.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;

use bytes::Bytes;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use millrace_record::{BatchHeader, Codec, HEADER_BYTES, Records, crc32c};
use types::{LeaderEpoch, ProducerEpoch, ProducerId, Sequence};

/// Time, key, value and headers of a record.
pub(crate) type Row = (
    i64,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
    Vec<(Vec<u8>, Option<Vec<u8>>)>,
);

/// The rows of a batch, read by [`Records`]; the offsets must be dense.
pub(crate) fn rows(batch: &[u8]) -> Vec<Row> {
    let mut scratch = Vec::new();
    let mut rows = Vec::new();
    for record in Records::read(batch, &mut scratch).unwrap() {
        let record = record.unwrap();
        assert_eq!(record.offset_delta, i32::try_from(rows.len()).unwrap());
        let headers = record
            .headers
            .map(|h| (h.key.to_vec(), h.value.map(<[u8]>::to_vec)));
        let (key, value) = (record.key.map(Into::into), record.value.map(Into::into));
        rows.push((record.timestamp_ms, key, value, headers.collect()));
    }
    rows
}

/// A number as records have them.
pub(crate) fn varint(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut out = Vec::new();
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push((rest & 0x7f) as u8);
    out
}

fn nullable(bytes: Option<&[u8]>) -> Vec<u8> {
    bytes.map_or(varint(-1), |b| [&varint(len(b))[..], b].concat())
}

fn len(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap()
}

/// A record with its length in front.
pub(crate) fn record(
    timestamp_delta: i64,
    offset_delta: i64,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    headers: &[(&[u8], Option<&[u8]>)],
) -> Vec<u8> {
    let mut fields = vec![0];
    fields.extend(varint(timestamp_delta));
    fields.extend(varint(offset_delta));
    fields.extend(nullable(key));
    fields.extend(nullable(value));
    fields.extend(varint(i64::try_from(headers.len()).unwrap()));
    for (key, value) in headers {
        fields.extend(nullable(Some(key)));
        fields.extend(nullable(*value));
    }
    framed(&fields)
}

/// Any bytes as a record, with their length in front.
pub(crate) fn framed(fields: &[u8]) -> Vec<u8> {
    [&varint(len(fields))[..], fields].concat()
}

/// A batch of `count` records with this body, which `codec` says to be packed already.
pub(crate) fn batch_of(codec: Codec, count: i32, body: &[u8]) -> Bytes {
    let header = BatchHeader {
        leader_epoch: LeaderEpoch(-1),
        base_timestamp_ms: 1_000,
        max_timestamp_ms: 1_000,
        producer_id: ProducerId(-1),
        producer_epoch: ProducerEpoch(-1),
        base_sequence: Sequence(-1),
        last_offset_delta: count - 1,
        count,
        ..BatchHeader::default()
    };
    let attributes = header.attributes.with_codec(codec);
    seal(
        BatchHeader {
            attributes,
            ..header
        },
        body,
    )
}

/// Header and body with length and CRC that fit.
pub(crate) fn seal(mut header: BatchHeader, body: &[u8]) -> Bytes {
    header.length = i32::try_from(body.len() + HEADER_BYTES - 12).unwrap();
    header.crc = header.crc_over(crc32c(body));
    [&header.encode()[..], body].concat().into()
}

/// The same batch with another header, the CRC made to fit.
pub(crate) fn with_header(batch: &Bytes, change: impl FnOnce(&mut BatchHeader)) -> Bytes {
    let mut header = BatchHeader::parse(batch).unwrap();
    change(&mut header);
    header.crc = header.crc_over(crc32c(&batch[HEADER_BYTES..]));
    [&header.encode()[..], &batch[HEADER_BYTES..]]
        .concat()
        .into()
}

/// Packs bytes by the codecs' own crates.
pub(crate) fn pack(codec: Codec, bytes: &[u8]) -> Vec<u8> {
    match codec {
        Codec::None => bytes.to_vec(),
        Codec::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Snappy => xerial(bytes, 32 << 10),
        Codec::Lz4 => lz4(lz4_frame(), bytes),
        Codec::Zstd => zstd::stream::encode_all(bytes, 1).unwrap(),
    }
}

/// Independent blocks of 64 KiB.
pub(crate) fn lz4_frame() -> FrameInfo {
    FrameInfo::new()
        .block_mode(BlockMode::Independent)
        .block_size(BlockSize::Max64KB)
}

pub(crate) fn lz4(frame: FrameInfo, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = FrameEncoder::with_frame_info(frame, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Snappy in snappy-java's framing.
pub(crate) fn xerial(bytes: &[u8], block_bytes: usize) -> Vec<u8> {
    let mut out = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for block in bytes.chunks(block_bytes) {
        let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
        out.extend(u32::try_from(packed.len()).unwrap().to_be_bytes());
        out.extend(packed);
    }
    out
}

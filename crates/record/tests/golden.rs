//! The example of the format's description, byte for byte, and one stored batch of each codec
//! that must stay readable forever.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use millrace_record::{BatchBuilder, Codec, Rules, check, verify_crc};
use support::{Row, rows};
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

const DESCRIPTION: &str = include_str!("../../../docs/formats/record-batch.md");

/// The bytes of the description's example; comments start with `#`.
fn example() -> Vec<u8> {
    let block = DESCRIPTION
        .split("```hex\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    hex(block)
}

fn hex(text: &str) -> Vec<u8> {
    let words = text.lines().map(|line| line.split('#').next().unwrap());
    words
        .flat_map(str::split_whitespace)
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

fn sample() -> Vec<Row> {
    let headers = vec![(b"h".to_vec(), Some(b"1".to_vec())), (b"h".to_vec(), None)];
    vec![
        (
            1_700_000_000_000,
            Some(b"key".to_vec()),
            Some(b"value".to_vec()),
            headers,
        ),
        (1_700_000_000_100, None, Some(Vec::new()), vec![]),
    ]
}

fn build(codec: Codec) -> Bytes {
    let mut builder = BatchBuilder::new()
        .base_offset(Offset(0x2a))
        .leader_epoch(LeaderEpoch(7))
        .producer(ProducerId(9), ProducerEpoch(1), Sequence(5));
    for (time, key, value, headers) in sample() {
        let headers: Vec<_> = headers
            .iter()
            .map(|(k, v)| (&k[..], v.as_deref()))
            .collect();
        builder
            .append(time, key.as_deref(), value.as_deref(), &headers)
            .unwrap();
    }
    builder.build(codec).unwrap()
}

#[test]
fn the_described_bytes_are_what_is_built_and_read() {
    assert_eq!(build(Codec::None), example());
    assert_eq!(rows(&example()), sample());
    let header = verify_crc(&example()).unwrap();
    assert_eq!(
        (header.base_offset, header.last_offset()),
        (Offset(0x2a), Offset(0x2b))
    );
    assert_eq!((header.leader_epoch, header.count), (LeaderEpoch(7), 2));
    assert_eq!(header.max_timestamp_ms, 1_700_000_000_100);
    assert_eq!(header.last_sequence(), Sequence(6));
}

#[test]
fn stored_batches_of_each_codec_stay_readable() {
    let stored = [
        (Codec::Gzip, include_str!("golden/gzip.hex")),
        (Codec::Snappy, include_str!("golden/snappy.hex")),
        (Codec::Lz4, include_str!("golden/lz4.hex")),
        (Codec::Zstd, include_str!("golden/zstd.hex")),
    ];
    for (codec, text) in stored {
        let bytes = Bytes::from(hex(text));
        assert_eq!(rows(&bytes), sample(), "{codec}");
        assert_eq!(verify_crc(&bytes).unwrap().attributes.codec(), Some(codec));
        let produced = support::with_header(&bytes, |h| h.base_offset = Offset(0));
        assert!(
            !check(&produced, &Rules::at(1_700_000_000_000))
                .unwrap()
                .repacked
        );
    }
}

//! Our batches against the `kafka-protocol` crate, both ways, for every codec. That crate keeps
//! headers in a map, so keys are unique here; repeated keys are tested elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::{Bytes, BytesMut};
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, Record as TheirRecord, RecordBatchDecoder, RecordBatchEncoder,
    RecordEncodeOptions, TimestampType as TheirType,
};
use millrace_record::{BatchBuilder, Codec, Rules, check, verify_crc};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use support::{Row, rows};
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

/// The identity of a batch: producer, epoch, base sequence, leader epoch, transactional or not.
type Identity = (i64, i16, i32, i32, bool);

fn bytes_of(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..max).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

fn any_row() -> impl Strategy<Value = Row> {
    let headers = btree_map("[a-zé]{0,6}", of(bytes_of(300)), 0..5);
    let headers = headers.prop_map(|map| map.into_iter().map(|(k, v)| (k.into_bytes(), v)));
    let time = 1_000_000_i64..2_000_000;
    (
        time,
        of(bytes_of(500)),
        of(bytes_of(80_000)),
        headers.prop_map(Iterator::collect),
    )
}

fn any_identity() -> impl Strategy<Value = Identity> {
    prop_oneof![
        Just((-1, -1, -1, -1, false)),
        (
            0..i64::MAX,
            0..i16::MAX,
            0..i32::MAX - 100,
            0..i32::MAX,
            any::<bool>()
        ),
    ]
}

fn ours(rows: &[Row], (id, epoch, sequence, leader, transactional): Identity) -> BatchBuilder {
    let mut builder = BatchBuilder::new()
        .producer(ProducerId(id), ProducerEpoch(epoch), Sequence(sequence))
        .leader_epoch(LeaderEpoch(leader));
    if transactional {
        builder = builder.transactional();
    }
    for (time, key, value, headers) in rows {
        let headers: Vec<_> = headers
            .iter()
            .map(|(k, v)| (&k[..], v.as_deref()))
            .collect();
        builder
            .append(*time, key.as_deref(), value.as_deref(), &headers)
            .unwrap();
    }
    builder
}

fn theirs(rows: &[Row], identity: Identity, base: i64) -> Vec<TheirRecord> {
    let (id, epoch, sequence, leader, transactional) = identity;
    let record = |(delta, row): (i32, &Row)| TheirRecord {
        transactional,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: leader,
        producer_id: id,
        producer_epoch: epoch,
        timestamp_type: TheirType::Creation,
        offset: base + i64::from(delta),
        sequence: sequence.wrapping_add(delta),
        timestamp: row.0,
        key: row.1.clone().map(Bytes::from),
        value: row.2.clone().map(Bytes::from),
        headers: row
            .3
            .iter()
            .map(|(k, v)| {
                let key = StrBytes::from_string(String::from_utf8(k.clone()).unwrap());
                (key, v.clone().map(Bytes::from))
            })
            .collect(),
    };
    (0..).zip(rows).map(record).collect()
}

fn compression(codec: Codec) -> Compression {
    match codec {
        Codec::None => Compression::None,
        Codec::Gzip => Compression::Gzip,
        Codec::Snappy => Compression::Snappy,
        Codec::Lz4 => Compression::Lz4,
        Codec::Zstd => Compression::Zstd,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn they_read_what_we_build(rows in vec(any_row(), 1..20), identity in any_identity(), base in 0..1_i64 << 39) {
        for codec in Codec::ALL {
            let batch = ours(&rows, identity).base_offset(Offset(base)).build(codec).unwrap();
            let set = RecordBatchDecoder::decode(&mut batch.clone()).unwrap();
            prop_assert_eq!(set.compression, compression(codec));
            prop_assert_eq!(set.records, theirs(&rows, identity, base));
        }
    }

    #[test]
    fn we_accept_and_read_what_they_build(rows in vec(any_row(), 1..20), identity in any_identity()) {
        for codec in Codec::ALL {
            let options = RecordEncodeOptions { version: 2, compression: compression(codec) };
            let mut bytes = BytesMut::new();
            RecordBatchEncoder::encode(&mut bytes, &theirs(&rows, identity, 0), &options).unwrap();
            let batch = bytes.freeze();
            let header = verify_crc(&batch).unwrap();
            let checked = check(&batch, &Rules { max_bytes: 10 << 20, ..Rules::at(1_500_000) }).unwrap();
            prop_assert!(!checked.repacked);
            prop_assert_eq!(checked.header, header);
            let (id, epoch, sequence, leader, transactional) = identity;
            prop_assert_eq!(header.producer_id, ProducerId(id));
            prop_assert_eq!(header.producer_epoch, ProducerEpoch(epoch));
            prop_assert_eq!(header.base_sequence, Sequence(sequence));
            prop_assert_eq!(header.leader_epoch, LeaderEpoch(leader));
            prop_assert_eq!(header.attributes.is_transactional(), transactional);
            prop_assert_eq!(&support::rows(&batch), &rows);
        }
    }

    #[test]
    fn they_read_what_we_packed_anew_and_sealed(rows in vec(any_row(), 1..20), identity in any_identity()) {
        let plain = ours(&rows, identity).build(Codec::None).unwrap();
        for codec in Codec::ALL {
            let rules = Rules { codec: Some(codec), max_bytes: 10 << 20, ..Rules::at(1_500_000) };
            let checked = check(&plain, &rules).unwrap();
            let sealed = checked.seal(Offset(77), LeaderEpoch(5), None);
            let mut stored = Bytes::from([&sealed[..], &checked.body[..]].concat());
            let set = RecordBatchDecoder::decode(&mut stored).unwrap();
            let (id, epoch, sequence, _, transactional) = identity;
            let expected = theirs(&rows, (id, epoch, sequence, 5, transactional), 77);
            prop_assert_eq!(set.records, expected);
        }
    }
}

#[test]
fn a_batch_of_old_offsets_built_by_them_reads_right_after_the_check() {
    let row = |value: &str| (1_000, None, Some(value.as_bytes().to_vec()), vec![]);
    let expected = vec![row("first"), row("second")];
    for codec in Codec::ALL {
        let mut records = theirs(&expected, (-1, -1, -1, -1, false), 0);
        // Both at offset 0, as clients of before 0.10 numbered what they compressed.
        records[1].offset = 0;
        records[1].sequence = -1;
        let options = RecordEncodeOptions {
            version: 2,
            compression: compression(codec),
        };
        let mut bytes = BytesMut::new();
        RecordBatchEncoder::encode(&mut bytes, &records, &options).unwrap();
        let batch = support::with_header(&bytes.freeze(), |h| h.last_offset_delta = 1);
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert!(checked.repacked);
        let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
        assert_eq!(rows(&stored), expected);
    }
}

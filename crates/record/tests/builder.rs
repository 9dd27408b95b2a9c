//! The builder's limits, and readers on batches that no producer sends.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use millrace_record::{
    BatchBuilder, BatchError, Codec, Corruption, Flaw, HEADER_BYTES, RecordError, RecordFlaw,
    Records, TimestampType, offset_for_timestamp, offset_of_max_timestamp, verify_crc,
};
use support::{batch_of, record, rows, with_header};
use types::{Offset, ProducerEpoch, ProducerId, Sequence, limits};

fn two_at(times: [i64; 2]) -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    for time in times {
        builder.append(time, None, Some(b"v"), &[]).unwrap();
    }
    builder
}

#[test]
fn a_refused_record_leaves_the_builder_as_it_was() {
    let mut builder = two_at([5, 6]);
    let before = builder.clone().build(Codec::None).unwrap();
    let headers = vec![(&b"h"[..], None); limits::RECORD_HEADERS_MAX + 1];
    let refused = |flaw| {
        Err(BatchError::InvalidRecords(vec![RecordError {
            index: 2,
            flaw,
        }]))
    };
    assert_eq!(
        builder.append(7, None, None, &headers),
        refused(RecordFlaw::HeaderCount)
    );
    let overflow = builder.append(i64::MIN, None, None, &[]);
    assert_eq!(overflow, refused(RecordFlaw::TimestampOverflow));
    let huge = vec![0; limits::UNPACKED_BATCH_BYTES_MAX];
    let too_large = builder.append(7, None, Some(&huge), &[]);
    assert!(matches!(too_large, Err(BatchError::TooLarge { .. })));
    assert_eq!(builder.build(Codec::None).unwrap(), before);
}

#[test]
fn a_refused_first_record_does_not_set_the_base_timestamp() {
    let mut builder = BatchBuilder::new();
    let huge = vec![0; limits::UNPACKED_BATCH_BYTES_MAX];
    builder.append(7, None, Some(&huge), &[]).unwrap_err();
    assert!(builder.is_empty());
    builder.append(9, None, None, &[]).unwrap();
    let header = verify_crc(&builder.build(Codec::None).unwrap()).unwrap();
    assert_eq!(header.base_timestamp_ms, 9);
}

#[test]
fn as_many_headers_as_allowed_are_written_and_read() {
    let headers = vec![(&b"h"[..], Some(&b"1"[..])); limits::RECORD_HEADERS_MAX];
    let mut builder = BatchBuilder::new();
    builder.append(7, None, None, &headers).unwrap();
    let batch = builder.build(Codec::Zstd).unwrap();
    assert_eq!(rows(&batch)[0].3.len(), limits::RECORD_HEADERS_MAX);
}

#[test]
fn the_size_is_known_before_the_batch_is_built() {
    let builder = two_at([5, 1_000_000]);
    assert_eq!(builder.count(), 2);
    let expected = builder.total_bytes();
    assert_eq!(builder.build(Codec::None).unwrap().len(), expected);
}

#[test]
fn a_transaction_marker_can_be_built_and_read() {
    let mut builder = BatchBuilder::new()
        .producer(ProducerId(4), ProducerEpoch(2), Sequence(-1))
        .transactional()
        .control();
    // Key: version 0, type 1 (commit). Value: version 0, coordinator epoch 3 (KIP-98).
    builder
        .append(5, Some(&[0, 0, 0, 1]), Some(&[0, 0, 0, 0, 0, 3]), &[])
        .unwrap();
    let batch = builder.build(Codec::None).unwrap();
    let header = verify_crc(&batch).unwrap();
    assert!(header.attributes.is_control() && header.attributes.is_transactional());
    assert_eq!(header.last_sequence(), Sequence(-1));
    assert_eq!(rows(&batch)[0].1.as_deref(), Some(&[0, 0, 0, 1][..]));
}

#[test]
fn append_time_is_what_every_reader_sees() {
    let mut builder = BatchBuilder::new()
        .base_offset(Offset(10))
        .log_append_time(500);
    builder.append(5, None, None, &[]).unwrap();
    builder.append(900, None, None, &[]).unwrap();
    let batch = builder.build(Codec::Gzip).unwrap();
    let header = verify_crc(&batch).unwrap();
    assert_eq!(
        header.attributes.timestamp_type(),
        TimestampType::LogAppendTime
    );
    assert_eq!(
        rows(&batch).iter().map(|row| row.0).collect::<Vec<_>>(),
        [500, 500]
    );
    assert_eq!(
        offset_for_timestamp(&batch, 500),
        Ok(Some((Offset(10), 500)))
    );
    assert_eq!(offset_for_timestamp(&batch, 501), Ok(None));
    assert_eq!(offset_of_max_timestamp(&batch), Ok(Some((Offset(10), 500))));
}

#[test]
fn gaps_that_compaction_left_are_read_as_they_are() {
    let body = [record(0, 3, None, None, &[]), record(9, 7, None, None, &[])].concat();
    let batch = with_header(&batch_of(Codec::None, 2, &body), |h| {
        h.base_offset = Offset(100);
        h.last_offset_delta = 9;
    });
    let mut scratch = Vec::new();
    let records = Records::read(&batch, &mut scratch).unwrap();
    assert_eq!(records.header().next_offset(), Offset(110));
    let offsets: Vec<_> = records.map(|record| record.unwrap().offset).collect();
    assert_eq!(offsets, [Offset(103), Offset(107)]);
    assert_eq!(
        offset_for_timestamp(&batch, 1_001),
        Ok(Some((Offset(107), 1_009)))
    );
}

#[test]
fn reading_stops_at_the_first_error() {
    let good = record(0, 0, None, None, &[]);
    let batch = batch_of(Codec::None, 3, &[&good[..], &[0xff; 5], &good].concat());
    let mut scratch = Vec::new();
    let mut records = Records::read(&batch, &mut scratch).unwrap();
    assert!(records.next().unwrap().is_ok());
    let flaw = RecordFlaw::Varint;
    let expected = BatchError::InvalidRecords(vec![RecordError { index: 1, flaw }]);
    assert_eq!(records.next(), Some(Err(expected)));
    assert_eq!(records.next(), None);
    let left = batch_of(Codec::None, 1, &[&good[..], b"x"].concat());
    let mut records = Records::read(&left, &mut scratch).unwrap();
    assert!(records.next().unwrap().is_ok());
    assert_eq!(
        records.next(),
        Some(Err(BatchError::InvalidBatch(Flaw::BytesLeft)))
    );
    assert_eq!(records.next(), None);
}

#[test]
fn readers_take_the_first_of_several_batches_and_miss_no_cut() {
    let one = two_at([5, 6]).build(Codec::None).unwrap();
    let both = Bytes::from([&one[..], &one[..]].concat());
    assert_eq!(rows(&both).len(), 2);
    assert_eq!(offset_for_timestamp(&both, 7), Ok(None));
    let cut = one.slice(..one.len() - 1);
    let short = Corruption::Truncated {
        have: cut.len(),
        need: one.len(),
    };
    assert_eq!(
        Records::read(&cut, &mut Vec::new()).map(drop),
        Err(BatchError::Corrupt(short))
    );
    assert_eq!(
        offset_for_timestamp(&cut, 7),
        Err(BatchError::Corrupt(short))
    );
}

#[test]
fn an_empty_batch_has_a_header_and_nothing_else() {
    for codec in Codec::ALL {
        let batch = BatchBuilder::new().build(codec).unwrap();
        assert_eq!(batch.len(), HEADER_BYTES);
        assert_eq!(verify_crc(&batch).unwrap().count, 0);
        assert_eq!(offset_of_max_timestamp(&batch), Ok(None));
        assert_eq!(rows(&batch), []);
    }
}

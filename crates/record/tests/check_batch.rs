//! What `check` demands of a batch as a whole: one test for each rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use millrace_record::{
    Attributes, BatchError, BatchHeader, Codec, Corruption, Flaw, HEADER_BYTES, Rules,
    TimestampType, check, verify_crc,
};
use support::{batch_of, record, with_header};
use types::{Offset, ProducerEpoch, ProducerId, Sequence};

fn good() -> Bytes {
    let first = record(0, 0, Some(b"k"), Some(b"v"), &[(b"h", None)]);
    batch_of(
        Codec::None,
        2,
        &[first, record(5, 1, None, None, &[])].concat(),
    )
}

fn refusal(batch: &Bytes) -> BatchError {
    check(batch, &Rules::at(1_000)).unwrap_err()
}

fn flaw_after(change: impl FnOnce(&mut BatchHeader)) -> BatchError {
    refusal(&with_header(&good(), change))
}

#[test]
fn a_good_batch_is_kept_as_a_slice_of_what_came() {
    let batch = good();
    let checked = check(&batch, &Rules::at(1_000)).unwrap();
    assert_eq!(checked.body.as_ptr(), batch[HEADER_BYTES..].as_ptr());
    assert_eq!(checked.total_bytes(), batch.len());
    assert!(!checked.repacked);
}

#[test]
fn no_bytes_are_no_batch() {
    assert_eq!(
        refusal(&Bytes::new()),
        BatchError::InvalidBatch(Flaw::Missing)
    );
}

#[test]
fn a_batch_cut_anywhere_is_corrupt() {
    let batch = good();
    for len in 1..batch.len() {
        let refused = refusal(&batch.slice(..len));
        assert!(
            matches!(refused, BatchError::Corrupt(Corruption::Truncated { .. })),
            "{refused}"
        );
    }
}

#[test]
fn nothing_may_follow_the_one_batch() {
    let twice = Bytes::from([good(), good()].concat());
    let expected = BatchError::InvalidBatch(Flaw::MoreThanOne(good().len()));
    assert_eq!(refusal(&twice), expected);
    assert_eq!(verify_crc(&twice), Err(expected));
}

#[test]
fn another_magic_is_corrupt() {
    let mut bytes = good().to_vec();
    bytes[16] = 1;
    assert_eq!(
        refusal(&bytes.into()),
        BatchError::Corrupt(Corruption::Magic(1))
    );
}

#[test]
fn a_batch_may_have_the_limit_and_no_byte_more() {
    let batch = good();
    let at_limit = Rules {
        max_bytes: batch.len(),
        ..Rules::at(1_000)
    };
    check(&batch, &at_limit).unwrap();
    let below = Rules {
        max_bytes: batch.len() - 1,
        ..at_limit
    };
    let expected = BatchError::TooLarge {
        bytes: batch.len(),
        max_bytes: batch.len() - 1,
    };
    assert_eq!(check(&batch, &below), Err(expected));
}

#[test]
fn every_flipped_bit_is_noticed_except_in_the_leader_epoch() {
    let batch = good();
    let accepted = check(&batch, &Rules::at(1_000)).unwrap();
    for byte in 0..batch.len() {
        for bit in 0..8 {
            let mut bytes = batch.to_vec();
            bytes[byte] ^= 1 << bit;
            let outcome = check(&bytes.into(), &Rules::at(1_000));
            match byte {
                // The CRC does not cover it, and the broker overwrites it.
                12..16 => assert_eq!(outcome.unwrap().body, accepted.body),
                0..8 => assert!(matches!(
                    outcome,
                    Err(BatchError::InvalidBatch(Flaw::BaseOffset(_)))
                )),
                8..12 => assert!(outcome.is_err()),
                16 => assert!(matches!(
                    outcome,
                    Err(BatchError::Corrupt(Corruption::Magic(_)))
                )),
                _ => assert!(
                    matches!(outcome, Err(BatchError::Corrupt(Corruption::Crc { .. }))),
                    "bit {bit} of byte {byte}"
                ),
            }
        }
    }
}

#[test]
fn offsets_are_the_brokers_to_give() {
    for offset in [1, -1, i64::MIN] {
        let refused = flaw_after(|h| h.base_offset = Offset(offset));
        assert_eq!(refused, BatchError::InvalidBatch(Flaw::BaseOffset(offset)));
    }
}

#[test]
fn count_and_last_delta_must_fit_each_other() {
    for (count, last_offset_delta) in [(0, -1), (-1, -2), (2, 0), (2, 2), (1, i32::MIN)] {
        let refused = flaw_after(|h| (h.count, h.last_offset_delta) = (count, last_offset_delta));
        let expected = Flaw::Count {
            count,
            last_offset_delta,
        };
        assert_eq!(refused, BatchError::InvalidBatch(expected));
    }
    let (count, last) = ((1 << 20) + 1, 1 << 20);
    let refused = flaw_after(|h| (h.count, h.last_offset_delta) = (count, last));
    assert_eq!(
        refused,
        BatchError::InvalidBatch(Flaw::TooManyRecords(count))
    );
}

#[test]
fn control_batches_and_delete_horizons_are_the_brokers_to_write() {
    let refused = flaw_after(|h| h.attributes = h.attributes.with_control(true));
    assert_eq!(refused, BatchError::InvalidBatch(Flaw::Control));
    let refused = flaw_after(|h| h.attributes = Attributes(1 << 6));
    assert_eq!(refused, BatchError::InvalidBatch(Flaw::DeleteHorizon));
}

#[test]
fn an_idempotent_producer_sends_epoch_and_sequence() {
    for (epoch, sequence) in [(0, -1), (-1, 0), (-1, -1)] {
        let refused = flaw_after(|h| {
            h.producer_id = ProducerId(7);
            h.producer_epoch = ProducerEpoch(epoch);
            h.base_sequence = Sequence(sequence);
        });
        let expected = Flaw::Sequence {
            producer_id: 7,
            epoch,
            sequence,
        };
        assert_eq!(refused, BatchError::InvalidBatch(expected));
    }
    let idempotent = with_header(&good(), |h| {
        h.producer_id = ProducerId(0);
        h.producer_epoch = ProducerEpoch(0);
        h.base_sequence = Sequence(0);
        h.attributes = h.attributes.with_transactional(true);
    });
    check(&idempotent, &Rules::at(1_000)).unwrap();
}

#[test]
fn a_sequence_without_producer_is_let_pass_as_kafkajs_sends_it() {
    let batch = with_header(&good(), |h| {
        h.producer_epoch = ProducerEpoch(0);
        h.base_sequence = Sequence(0);
    });
    check(&batch, &Rules::at(1_000)).unwrap();
}

#[test]
fn a_transaction_needs_a_producer() {
    let refused = flaw_after(|h| h.attributes = h.attributes.with_transactional(true));
    assert_eq!(
        refused,
        BatchError::InvalidBatch(Flaw::TransactionalWithoutProducer)
    );
}

#[test]
fn a_producer_may_not_claim_the_brokers_clock() {
    let late = TimestampType::LogAppendTime;
    let refused = flaw_after(|h| h.attributes = h.attributes.with_timestamp_type(late));
    assert_eq!(refused, BatchError::LogAppendTimeClaimed);
}

#[test]
fn unknown_codecs_are_refused() {
    for bits in 5..8 {
        let refused = flaw_after(|h| h.attributes = Attributes(bits));
        let bits = u8::try_from(bits).unwrap();
        assert_eq!(refused, BatchError::InvalidBatch(Flaw::UnknownCodec(bits)));
    }
}

#[test]
fn zstd_needs_a_request_that_knows_it() {
    let body = support::pack(Codec::Zstd, &record(0, 0, None, None, &[]));
    let batch = batch_of(Codec::Zstd, 1, &body);
    check(&batch, &Rules::at(1_000)).unwrap();
    let old = Rules {
        zstd_allowed: false,
        ..Rules::at(1_000)
    };
    assert_eq!(
        check(&batch, &old),
        Err(BatchError::UnsupportedCodec(Codec::Zstd))
    );
}

#[test]
fn a_wrong_largest_timestamp_is_put_right_with_the_crc() {
    for claimed in [-1, 0, 1_000, 1_006, i64::MAX] {
        let batch = with_header(&good(), |h| h.max_timestamp_ms = claimed);
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert_eq!(checked.header.max_timestamp_ms, 1_005);
        assert_eq!(checked.max_timestamp_delta, 1);
        let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
        assert_eq!(verify_crc(&stored), Ok(checked.header));
    }
}

#[test]
fn log_append_time_makes_the_first_record_the_largest() {
    let rules = Rules {
        timestamp_type: TimestampType::LogAppendTime,
        ..Rules::at(1_000)
    };
    assert_eq!(check(&good(), &rules).unwrap().max_timestamp_delta, 0);
}

//! What `check` demands of the records: one test for each rule, plain and packed alike.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use millrace_record::{
    BatchError, Codec, Flaw, Levels, RecordError, RecordFlaw, Rules, TimestampType, check,
    verify_crc,
};
use support::{batch_of, framed, pack, record, rows, varint, with_header};
use types::limits;

/// The same records in a batch of each codec.
fn batches(records: &[Vec<u8>]) -> Vec<Bytes> {
    let body = records.concat();
    let count = i32::try_from(records.len()).unwrap();
    Codec::ALL
        .map(|codec| batch_of(codec, count, &pack(codec, &body)))
        .to_vec()
}

fn good() -> Vec<u8> {
    record(0, 0, Some(b"key"), Some(b"value"), &[])
}

#[track_caller]
fn refused_as(flaw: RecordFlaw, second: &[u8]) {
    for batch in batches(&[good(), second.to_vec()]) {
        let expected = vec![RecordError { index: 1, flaw }];
        let outcome = check(&batch, &Rules::at(1_000));
        assert_eq!(outcome, Err(BatchError::InvalidRecords(expected)));
    }
}

/// Fields of a record: attributes, timestamp delta, offset delta 1, then `rest`.
fn fields(rest: &[&[u8]]) -> Vec<u8> {
    framed(&[&[0, 0, 2], &rest.concat()[..]].concat())
}

#[test]
fn lengths_must_fit_the_batch() {
    refused_as(RecordFlaw::Truncated, &varint(1));
    refused_as(RecordFlaw::Truncated, &[]);
    refused_as(RecordFlaw::Truncated, &[0x80]);
    refused_as(RecordFlaw::Truncated, &varint(i64::from(i32::MAX)));
    refused_as(RecordFlaw::NegativeLength, &varint(-1));
    refused_as(RecordFlaw::Varint, &[0xff; 5]);
    refused_as(RecordFlaw::Varint, &[0xff, 0xff, 0xff, 0xff, 0x10]);
}

#[test]
fn fields_must_fit_the_record() {
    let null = varint(-1);
    for cut in 0..7 {
        let whole = [0, 0, 2, 1, 1, 0];
        if cut < whole.len() {
            refused_as(RecordFlaw::FieldTooLong, &framed(&whole[..cut]));
        }
    }
    refused_as(RecordFlaw::FieldTooLong, &fields(&[&varint(9), b"short"]));
    refused_as(
        RecordFlaw::FieldTooLong,
        &fields(&[&null, &varint(i64::from(i32::MAX)), b"v"]),
    );
    refused_as(
        RecordFlaw::NegativeField,
        &fields(&[&varint(-2), &null, &varint(0)]),
    );
    refused_as(
        RecordFlaw::NegativeField,
        &fields(&[&null, &varint(-7), &varint(0)]),
    );
    refused_as(
        RecordFlaw::BytesLeft,
        &fields(&[&null, &null, &varint(0), b"x"]),
    );
    refused_as(
        RecordFlaw::Varint,
        &framed(&[&[0][..], &[0xff; 10]].concat()),
    );
    refused_as(
        RecordFlaw::Varint,
        &framed(&[&[0, 0][..], &[0xff; 5]].concat()),
    );
}

#[test]
fn headers_must_be_countable_and_have_keys() {
    let null = varint(-1);
    let with = |rest: &[&[u8]]| fields(&[&null, &null, &rest.concat()]);
    refused_as(RecordFlaw::HeaderCount, &with(&[&varint(-1)]));
    refused_as(
        RecordFlaw::HeaderCount,
        &with(&[&varint(2), &varint(0), &null]),
    );
    refused_as(
        RecordFlaw::HeaderCount,
        &with(&[&varint(i64::from(i32::MAX))]),
    );
    let many = limits::RECORD_HEADERS_MAX + 1;
    let pairs = [0, 1].repeat(many);
    refused_as(
        RecordFlaw::HeaderCount,
        &with(&[&varint(i64::try_from(many).unwrap()), &pairs]),
    );
    refused_as(
        RecordFlaw::NullHeaderKey,
        &with(&[&varint(1), &null, &null]),
    );
    refused_as(
        RecordFlaw::NegativeField,
        &with(&[&varint(1), &varint(-3), &null]),
    );
    refused_as(
        RecordFlaw::NegativeField,
        &with(&[&varint(1), &varint(0), &varint(-3)]),
    );
    refused_as(
        RecordFlaw::FieldTooLong,
        &with(&[&varint(1), &varint(5), &null]),
    );
}

#[test]
fn flaws_of_records_too_long_to_be_held_are_found_too() {
    let long = vec![b'x'; 200_000];
    let value = [&varint(200_000)[..], &long].concat();
    let null = varint(-1);
    refused_as(
        RecordFlaw::BytesLeft,
        &fields(&[&null, &value, &varint(0), b"x"]),
    );
    refused_as(
        RecordFlaw::HeaderCount,
        &fields(&[&null, &value, &varint(1), b"x"]),
    );
    refused_as(
        RecordFlaw::NullHeaderKey,
        &fields(&[&null, &value, &varint(1), &null, &null]),
    );
    refused_as(
        RecordFlaw::FieldTooLong,
        &fields(&[&null, &varint(200_000), &long[1..]]),
    );
    refused_as(RecordFlaw::FieldTooLong, &fields(&[&null, &value]));
    refused_as(
        RecordFlaw::Varint,
        &framed(&[&[0][..], &[0xff; 10], &value].concat()),
    );
    let whole = fields(&[&null, &value, &varint(0)]);
    refused_as(RecordFlaw::Truncated, &whole[..whole.len() - 1]);
    for batch in batches(&[good(), whole]) {
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert_eq!(checked.header.count, 2);
    }
}

#[test]
fn nothing_may_follow_the_last_record() {
    for codec in Codec::ALL {
        for extra in [&b"\0"[..], &good(), &[1; 100_000]] {
            let batch = batch_of(codec, 1, &pack(codec, &[&good(), extra].concat()));
            let expected = BatchError::InvalidBatch(Flaw::BytesLeft);
            assert_eq!(check(&batch, &Rules::at(1_000)), Err(expected), "{codec}");
        }
    }
}

#[test]
fn a_timestamp_beyond_64_bits_is_refused() {
    for batch in batches(&[good(), record(i64::MAX, 1, None, None, &[])]) {
        let flaw = RecordFlaw::TimestampOverflow;
        let expected = BatchError::InvalidRecords(vec![RecordError { index: 1, flaw }]);
        assert_eq!(check(&batch, &Rules::at(1_000)), Err(expected));
    }
}

#[test]
fn a_compacted_topic_wants_keys_and_hears_of_each_that_lacks() {
    let rules = Rules {
        keys_required: true,
        ..Rules::at(1_000)
    };
    let keyless = |offset| record(0, offset, None, Some(b"v"), &[]);
    let empty = record(0, 1, Some(b""), Some(b"v"), &[]);
    for batch in batches(&[keyless(0), empty, keyless(2)]) {
        let refused = check(&batch, &rules).unwrap_err();
        let flaw = RecordFlaw::NullKey;
        let expected = [
            RecordError { index: 0, flaw },
            RecordError { index: 2, flaw },
        ];
        assert_eq!(refused, BatchError::InvalidRecords(expected.to_vec()));
        assert_eq!(refused.record_errors(), expected);
        check(&batch, &Rules::at(1_000)).unwrap();
    }
}

#[test]
fn timestamps_must_lie_within_the_bounds_which_belong_to_them() {
    let rules = Rules {
        before_max_ms: 100,
        after_max_ms: 10,
        ..Rules::at(1_000)
    };
    let at = |time: i64, offset| record(time - 1_000, offset, None, None, &[]);
    for batch in batches(&[at(900, 0), at(1_010, 1), at(-1, 2)]) {
        check(&batch, &rules).unwrap();
    }
    for batch in batches(&[at(899, 0), at(1_000, 1), at(1_011, 2), at(-2, 3)]) {
        let flaw = |timestamp_ms| RecordFlaw::TimestampOutOfRange {
            timestamp_ms,
            min_ms: 900,
            max_ms: 1_010,
        };
        let expected = [(0, 899), (2, 1_011), (3, -2)].map(|(index, time)| RecordError {
            index,
            flaw: flaw(time),
        });
        let refused = check(&batch, &rules);
        assert_eq!(
            refused,
            Err(BatchError::InvalidTimestamp(expected.to_vec()))
        );
        let append_time = Rules {
            timestamp_type: TimestampType::LogAppendTime,
            ..rules
        };
        check(&batch, &append_time).unwrap();
        check(&batch, &Rules::at(1_000)).unwrap();
    }
}

#[test]
fn a_wrong_time_weighs_more_than_a_missing_key() {
    let rules = Rules {
        keys_required: true,
        after_max_ms: 0,
        ..Rules::at(1_000)
    };
    for batch in batches(&[
        record(0, 0, None, None, &[]),
        record(1, 1, Some(b"k"), None, &[]),
    ]) {
        let refused = check(&batch, &rules).unwrap_err();
        assert!(
            matches!(refused, BatchError::InvalidTimestamp(_)),
            "{refused}"
        );
        assert_eq!(refused.record_errors().len(), 2);
    }
}

#[test]
fn the_list_of_faulty_records_is_bounded() {
    let rules = Rules {
        keys_required: true,
        ..Rules::at(1_000)
    };
    let count = limits::RECORD_ERRORS_MAX + 10;
    let records: Vec<_> = (0..count)
        .map(|i| record(0, i64::try_from(i).unwrap(), None, None, &[]))
        .collect();
    for batch in batches(&records) {
        let refused = check(&batch, &rules).unwrap_err();
        assert_eq!(refused.record_errors().len(), limits::RECORD_ERRORS_MAX);
    }
}

#[test]
fn wrong_inner_offsets_are_written_anew_and_nothing_else_is() {
    let long = vec![b'l'; 150_000];
    let headers: [(&[u8], Option<&[u8]>); 2] = [(b"h", Some(b"1")), (b"h", None)];
    let with = |offsets: [i64; 3]| {
        batches(&[
            record(0, offsets[0], Some(b"a"), Some(b"v"), &headers),
            record(7, offsets[1], None, Some(&long), &[]),
            record(-3, offsets[2], Some(&long), None, &[]),
        ])
    };
    for (wrong, right) in with([0, 0, 100_000]).iter().zip(with([0, 1, 2])) {
        let checked = check(wrong, &Rules::at(1_000)).unwrap();
        assert!(checked.repacked);
        assert_eq!(checked.max_timestamp_delta, 1);
        assert_eq!(checked.header.max_timestamp_ms, 1_007);
        let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
        let header = verify_crc(&stored).unwrap();
        assert_eq!(rows(&stored), rows(&right));
        let came = verify_crc(wrong).unwrap();
        assert_eq!(header.attributes, came.attributes);
        assert_eq!((header.count, header.base_timestamp_ms), (3, 1_000));
        assert!(!check(&right, &Rules::at(1_000)).unwrap().repacked);
    }
}

#[test]
fn offsets_of_every_width_are_written_anew() {
    // Up to two bytes more than before, and up to two less.
    for wrong in [0, -1_000_000_000] {
        let records: Vec<_> = (0..9_000)
            .map(|i| record(i % 500, wrong, Some(&varint(i)), None, &[]))
            .collect();
        for batch in batches(&records) {
            let rules = Rules {
                after_max_ms: 1_000,
                ..Rules::at(1_000)
            };
            let checked = check(&batch, &rules).unwrap();
            let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
            let read = rows(&stored);
            assert_eq!(read.len(), 9_000);
            for (i, row) in (0..).zip(read) {
                assert_eq!((row.0, row.1), (1_000 + i % 500, Some(varint(i))));
            }
        }
    }
}

#[test]
fn packing_anew_obeys_the_size_limit() {
    let batch = batch_of(
        Codec::Zstd,
        1,
        &pack(
            Codec::Zstd,
            &record(0, 0, None, Some(&[b'z'; 100_000]), &[]),
        ),
    );
    for codec in [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Gzip] {
        let rules = Rules {
            codec: Some(codec),
            max_bytes: batch.len(),
            ..Rules::at(1_000)
        };
        let outcome = check(&batch, &rules);
        assert!(
            matches!(outcome, Err(BatchError::TooLarge { .. })),
            "{codec}: {outcome:?}"
        );
        let enough = Rules {
            max_bytes: 200_000,
            ..rules
        };
        let checked = check(&batch, &enough).unwrap();
        assert_eq!(checked.header.attributes.codec(), Some(codec));
    }
}

#[test]
fn every_level_packs_what_can_be_read() {
    let value = b"some text, some more text, and more of the same text".repeat(50);
    let records = [record(0, 0, None, Some(&value), &[])];
    for level in [-100, -1, 0, 1, 6, 9, 19, 22, 1_000] {
        let levels = Levels {
            gzip: level,
            zstd: level,
        };
        for codec in [Codec::Gzip, Codec::Zstd] {
            let plain = &batches(&records)[0];
            let rules = Rules {
                codec: Some(codec),
                levels,
                ..Rules::at(1_000)
            };
            let checked = check(plain, &rules).unwrap();
            let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
            assert_eq!(rows(&stored), rows(plain), "{codec} at level {level}");
        }
    }
}

#[test]
fn the_offset_of_the_largest_time_is_that_of_the_first_record_that_has_it() {
    let at = |delta, offset| record(delta, offset, None, None, &[]);
    for batch in batches(&[at(3, 0), at(9, 1), at(9, 2), at(-2_000, 3)]) {
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert_eq!(
            (checked.header.max_timestamp_ms, checked.max_timestamp_delta),
            (1_009, 1)
        );
    }
    for batch in batches(&[at(-1_001, 0), at(-1_001, 1)]) {
        let batch = with_header(&batch, |h| h.max_timestamp_ms = 5);
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert_eq!(
            (checked.header.max_timestamp_ms, checked.max_timestamp_delta),
            (-1, 0)
        );
    }
}

//! What is built is accepted, and read back as it was.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use millrace_record::{BatchBuilder, Codec, Rules, check, verify_crc};
use support::{Row, rows};
use types::{LeaderEpoch, Offset};

fn sample() -> Vec<Row> {
    let twice = vec![(b"h".to_vec(), Some(b"1".to_vec())), (b"h".to_vec(), None)];
    vec![
        (1_000, Some(b"key".to_vec()), Some(b"value".to_vec()), twice),
        (999, None, Some(vec![]), vec![(vec![], Some(vec![]))]),
        (1_001, Some(vec![]), None, vec![]),
        (
            1_001,
            Some(vec![7; 100_000]),
            Some(vec![8; 200_000]),
            vec![],
        ),
    ]
}

fn build(rows: &[Row], codec: Codec) -> bytes::Bytes {
    let mut builder = BatchBuilder::new();
    for (timestamp_ms, key, value, headers) in rows {
        let headers: Vec<_> = headers
            .iter()
            .map(|(k, v)| (&k[..], v.as_deref()))
            .collect();
        builder
            .append(*timestamp_ms, key.as_deref(), value.as_deref(), &headers)
            .unwrap();
    }
    builder.build(codec).unwrap()
}

#[test]
fn every_codec_gives_back_what_went_in() {
    for codec in Codec::ALL {
        let batch = build(&sample(), codec);
        assert_eq!(rows(&batch), sample(), "{codec}");
        let checked = check(&batch, &Rules::at(1_000)).unwrap();
        assert_eq!(checked.body, batch[61..], "{codec} is kept byte for byte");
        assert!(!checked.repacked);
        assert_eq!(checked.max_timestamp_delta, 2);
        assert_eq!(checked.header.max_timestamp_ms, 1_001);
        assert_eq!(checked.header.count, 4);
    }
}

#[test]
fn a_sealed_header_fits_its_body() {
    for codec in Codec::ALL {
        let checked = check(&build(&sample(), codec), &Rules::at(1_000)).unwrap();
        for append_ms in [None, Some(77)] {
            let header = checked.seal(Offset(40), LeaderEpoch(3), append_ms);
            let stored = [&header[..], &checked.body[..]].concat();
            let read = verify_crc(&stored).unwrap();
            assert_eq!(
                (read.base_offset, read.leader_epoch),
                (Offset(40), LeaderEpoch(3))
            );
            assert_eq!(read.last_offset(), Offset(43));
            assert_eq!(read.max_timestamp_ms, append_ms.unwrap_or(1_001));
            let times: Vec<_> = rows(&stored).iter().map(|row| row.0).collect();
            let expected = append_ms.map_or(vec![1_000, 999, 1_001, 1_001], |ms| vec![ms; 4]);
            assert_eq!(times, expected);
        }
    }
}

#[test]
fn recompression_keeps_every_record() {
    for from in Codec::ALL {
        for to in Codec::ALL {
            let batch = build(&sample(), from);
            let rules = Rules {
                codec: Some(to),
                ..Rules::at(1_000)
            };
            let checked = check(&batch, &rules).unwrap();
            assert_eq!(checked.repacked, from != to);
            assert_eq!(checked.header.attributes.codec(), Some(to));
            let header = checked.seal(Offset(0), LeaderEpoch(0), None);
            let stored = [&header[..], &checked.body[..]].concat();
            verify_crc(&stored).unwrap();
            assert_eq!(rows(&stored), sample(), "{from} to {to}");
        }
    }
}

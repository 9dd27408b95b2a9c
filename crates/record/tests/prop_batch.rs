//! Any rows, any damage, any bytes: nothing panics, nothing false is accepted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use millrace_record::{
    BatchBuilder, BatchHeader, Codec, HEADER_BYTES, Records, Rules, check, crc32c, crc32c_combine,
    offset_for_timestamp, offset_of_max_timestamp, verify_crc,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::Index;
use support::{Row, batch_of, pack, rows, seal};
use types::Offset;

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => vec(any::<u8>(), 0..30),
        1 => (any::<u8>(), 0..100_000_usize).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

fn any_row() -> impl Strategy<Value = Row> {
    let headers = vec((vec(0_u8..3, 0..2), of(any_bytes())), 0..4);
    let time = prop_oneof![Just(-1), 0..1_000_i64, any::<i64>().prop_map(|t| t / 4)];
    (time, of(any_bytes()), of(any_bytes()), headers)
}

fn any_codec() -> impl Strategy<Value = Codec> {
    proptest::sample::select(Codec::ALL.to_vec())
}

fn build(rows: &[Row], codec: Codec) -> Bytes {
    let mut builder = BatchBuilder::new();
    for (time, key, value, headers) in rows {
        let headers: Vec<_> = headers
            .iter()
            .map(|(k, v)| (&k[..], v.as_deref()))
            .collect();
        builder
            .append(*time, key.as_deref(), value.as_deref(), &headers)
            .unwrap();
    }
    builder.build(codec).unwrap()
}

fn lenient() -> Rules {
    Rules {
        max_bytes: 10 << 20,
        after_max_ms: i64::MAX,
        ..Rules::at(0)
    }
}

/// Every way in; the outcome does not matter, that there is one does.
fn enter(bytes: &Bytes) {
    for codec in [None, Some(Codec::None), Some(Codec::Lz4)] {
        let rules = Rules {
            codec,
            unpacked_bytes_max: 1 << 20,
            ..lenient()
        };
        if let Ok(checked) = check(bytes, &rules) {
            let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
            assert_eq!(verify_crc(&stored), Ok(checked.header));
            let count = usize::try_from(checked.header.count).unwrap();
            assert_eq!(rows(&stored).len(), count, "what was accepted can be read");
        }
    }
    let mut scratch = Vec::new();
    if let Ok(records) = Records::read_within(bytes, &mut scratch, 1 << 20) {
        for record in records.flatten() {
            let headers = record.headers.len();
            assert_eq!(record.headers.count(), headers);
        }
    }
    drop(verify_crc(bytes));
    drop(BatchHeader::parse(bytes));
    drop(offset_for_timestamp(bytes, 500));
    drop(offset_of_max_timestamp(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn rows_come_back_as_they_went_in(rows in vec(any_row(), 1..12), codec in any_codec(), to in any_codec()) {
        let batch = build(&rows, codec);
        prop_assert_eq!(&support::rows(&batch), &rows);
        let checked = check(&batch, &Rules { codec: Some(to), ..lenient() }).unwrap();
        let stored = [&checked.header.encode()[..], &checked.body[..]].concat();
        prop_assert_eq!(verify_crc(&stored), Ok(checked.header));
        prop_assert_eq!(checked.body_crc, crc32c(&checked.body));
        prop_assert_eq!(&support::rows(&stored), &rows);
        let max = rows.iter().map(|row| row.0).max().unwrap();
        let first = rows.iter().position(|row| row.0 == max).unwrap();
        prop_assert_eq!(checked.header.max_timestamp_ms, max);
        prop_assert_eq!(checked.max_timestamp_delta, i32::try_from(first).unwrap());
    }

    #[test]
    fn records_are_found_by_time(rows in vec(any_row(), 1..12), codec in any_codec(), at in 0..1_000_i64) {
        let batch = build(&rows, codec);
        let (index, row) = match rows.iter().enumerate().find(|(_, row)| row.0 >= at) {
            Some((index, row)) => (Some(index), Some(row.0)),
            None => (None, None),
        };
        let found = offset_for_timestamp(&batch, at).unwrap();
        prop_assert_eq!(found.map(|f| f.0), index.map(|i| Offset(i64::try_from(i).unwrap())));
        prop_assert_eq!(found.map(|f| f.1), row);
        let max = rows.iter().map(|row| row.0).max().unwrap();
        let first = i64::try_from(rows.iter().position(|row| row.0 == max).unwrap()).unwrap();
        prop_assert_eq!(offset_of_max_timestamp(&batch).unwrap(), Some((Offset(first), max)));
    }

    #[test]
    fn a_changed_byte_is_never_accepted(rows in vec(any_row(), 1..6), codec in any_codec(), at in any::<Index>(), xor in 1..=255_u8) {
        let batch = build(&rows, codec);
        let mut bytes = batch.to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= xor;
        let bytes = Bytes::from(bytes);
        let covered = !(12..16).contains(&at);
        prop_assert_eq!(check(&bytes, &lenient()).is_err(), covered);
        enter(&bytes);
    }

    #[test]
    fn a_cut_batch_is_never_accepted(rows in vec(any_row(), 1..6), codec in any_codec(), at in any::<Index>()) {
        let batch = build(&rows, codec);
        let cut = batch.slice(..at.index(batch.len()));
        prop_assert!(check(&cut, &lenient()).is_err());
        prop_assert!(verify_crc(&cut).is_err());
        enter(&cut);
    }

    /// Damage behind the CRC: what a client can send on purpose.
    #[test]
    fn a_damaged_body_with_a_fitting_crc_is_handled(
        rows in vec(any_row(), 1..6),
        codec in any_codec(),
        damage in vec((any::<Index>(), any::<u8>()), 1..4),
        cut in of(any::<Index>()),
    ) {
        let batch = build(&rows, codec);
        let header = BatchHeader::parse(&batch).unwrap();
        let mut body = batch[HEADER_BYTES..].to_vec();
        for (at, byte) in damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        enter(&seal(header, &body));
    }

    /// The same, inside the packed bytes.
    #[test]
    fn damaged_records_with_a_fitting_crc_are_handled(
        rows in vec(any_row(), 1..6),
        codec in any_codec(),
        damage in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let plain = build(&rows, Codec::None);
        let mut body = plain[HEADER_BYTES..].to_vec();
        for (at, byte) in damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let count = i32::try_from(rows.len()).unwrap();
        let plain = check(&batch_of(Codec::None, count, &body), &lenient());
        let packed = check(&batch_of(codec, count, &pack(codec, &body)), &lenient());
        // Packed or not, the verdict is the same.
        prop_assert_eq!(plain.map(|c| c.header.max_timestamp_ms), packed.map(|c| c.header.max_timestamp_ms));
    }

    #[test]
    fn any_bytes_are_handled(bytes in vec(any::<u8>(), 0..300), codec in 0..8_u8) {
        let codec_byte = [&[0, 0, 0, 0, 0, codec][..], &bytes].concat();
        enter(&Bytes::from(bytes.clone()));
        enter(&Bytes::from(codec_byte));
        for codec in Codec::ALL {
            enter(&batch_of(codec, 3, &bytes));
        }
    }

    #[test]
    fn crcs_of_pieces_combine(a in vec(any::<u8>(), 0..500), b in vec(any::<u8>(), 0..5_000)) {
        let combined = crc32c_combine(crc32c(&a), crc32c(&b), b.len() as u64);
        prop_assert_eq!(combined, ::crc32c::crc32c(&[a, b].concat()));
    }
}

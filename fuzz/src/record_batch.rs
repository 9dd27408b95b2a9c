//! What must hold for any bytes that are taken for a record batch.

use bytes::Bytes;
use record::{
    BatchBuilder, BatchHeader, CheckedBatch, Codec, HEADER_BYTES, Records, Rules, TimestampType,
    check as check_batch, crc32c, offset_for_timestamp, offset_of_max_timestamp, verify_crc,
};
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

use crate::allocated::within;
use crate::packed::packed;
use crate::source::Source;

/// Records may unpack to so much here, so that no input takes long.
const UNPACKED_BYTES_MAX: usize = 1 << 20;
/// Where the records of a log append time stand, and what they are checked at.
const NOW_MS: i64 = 1_000;

/// The first byte says how the batch is made of what follows the second, which says by which rules
/// it is checked. 0: it is the batch; 1: it is one once its length and CRC are put right; 2: a
/// header and records that are still to be packed; 3: records are built out of it. True when the
/// rules were fulfilled.
pub fn check(input: &Bytes) -> bool {
    let mut source = Source::new(input);
    let (form, rules) = (source.u8(), rules(source.u8()));
    match form % 4 {
        0 => check_bytes(source.rest(), &rules),
        1 => {
            let body = source.rest().slice(body(source.rest()));
            check_bytes(&put_right(source.rest(), &body), &rules)
        }
        2 => check_bytes(&pack(source.rest()), &rules),
        _ => check_built(&mut source, &rules),
    }
}

fn rules(choice: u8) -> Rules {
    let bit = |number: u8| choice & (1 << number) != 0;
    let codec = Codec::from_bits(choice % 8);
    let wide = !bit(5);
    let (max_bytes, unpacked_bytes_max) = if bit(6) {
        (300, 1_000)
    } else {
        (64 << 10, UNPACKED_BYTES_MAX)
    };
    Rules {
        max_bytes,
        unpacked_bytes_max,
        timestamp_type: if bit(4) {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        },
        before_max_ms: if wide { i64::MAX } else { 500 },
        after_max_ms: if wide { i64::MAX } else { 500 },
        keys_required: bit(3),
        codec,
        zstd_allowed: !bit(7),
        ..Rules::at(NOW_MS)
    }
}

/// What checking and reading `len` bytes may hold: the codecs' own, a growing buffer with what one
/// block of 255 for each byte gives, and a body that is packed anew.
fn held_bytes_max(len: usize, rules: &Rules) -> usize {
    (2 << 20) + 4 * rules.max_bytes + 1_024 * len
}

fn check_bytes(batch: &Bytes, rules: &Rules) -> bool {
    let rows = rows(batch);
    check_searches(batch, rows.as_deref());
    let checked = within(held_bytes_max(batch.len(), rules), || {
        check_batch(batch, rules)
    });
    let Ok(checked) = checked else { return false };
    let rows = rows.expect("a checked batch can be read");
    check_stored(&checked, &rows, rules);
    if !checked.repacked {
        assert_eq!(checked.body, batch.slice(HEADER_BYTES..));
    }
    true
}

/// A record of a batch, apart from its offset.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    timestamp_ms: i64,
    key: Option<Bytes>,
    value: Option<Bytes>,
    headers: Vec<(Bytes, Option<Bytes>)>,
}

/// All records with their offsets, unless one cannot be read.
fn rows(batch: &Bytes) -> Option<Vec<(Offset, Row)>> {
    let mut scratch = Vec::new();
    let most = 4 * UNPACKED_BYTES_MAX + 1_024 * batch.len() + (1 << 20);
    let read = |scratch| Records::read_within(batch, scratch, UNPACKED_BYTES_MAX);
    let mut records = within(most, || read(&mut scratch)).ok()?;
    let mut rows = Vec::new();
    for record in records.by_ref() {
        let Ok(record) = record else {
            assert!(records.next().is_none(), "an error ends the records");
            return None;
        };
        let owned = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
        let row = Row {
            timestamp_ms: record.timestamp_ms,
            key: record.key.map(owned),
            value: record.value.map(owned),
            headers: record
                .headers
                .map(|header| (owned(header.key), header.value.map(owned)))
                .collect(),
        };
        rows.push((record.offset, row));
    }
    Some(rows)
}

/// Searches find what looking at every record finds.
fn check_searches(batch: &Bytes, rows: Option<&[(Offset, Row)]>) {
    drop(verify_crc(batch));
    // What cannot be unpacked within the bound here would take long there.
    let Some(rows) = rows else { return };
    let times = || rows.iter().map(|(offset, row)| (*offset, row.timestamp_ms));
    let first = times().map(|(_, time)| time).next().unwrap_or(0);
    for at_ms in [i64::MIN, 0, first, first.saturating_add(1), i64::MAX] {
        let found = offset_for_timestamp(batch, at_ms).expect("readable records");
        assert_eq!(found, times().find(|(_, time)| *time >= at_ms));
    }
    let max = times().map(|(_, time)| time).max();
    let expected = times().find(|(_, time)| Some(*time) == max);
    assert_eq!(offset_of_max_timestamp(batch), Ok(expected));
    if let Ok(batches) = log::read::split(batch) {
        let whole: Vec<u8> = batches
            .iter()
            .flat_map(|(_, bytes)| bytes.to_vec())
            .collect();
        assert_eq!(whole, batch[..]);
    }
}

/// What is stored is a good batch with the producer's records, and is the same when it comes again.
fn check_stored(checked: &CheckedBatch, sent: &[(Offset, Row)], rules: &Rules) {
    assert_eq!(checked.body_crc, crc32c(&checked.body));
    assert!(checked.total_bytes() <= rules.max_bytes);
    let stored = stored(checked, Offset(7), None);
    let header = verify_crc(&stored).expect("a sealed batch");
    assert_eq!(header.base_offset, Offset(7));
    assert_eq!(header.leader_epoch, LeaderEpoch(3));
    let read = rows(&stored).expect("a sealed batch");
    assert_eq!(read.len(), sent.len());
    for (index, ((offset, row), (_, expected))) in read.iter().zip(sent).enumerate() {
        assert_eq!(
            *offset,
            Offset(7).plus(i64::try_from(index).unwrap_or(i64::MAX))
        );
        assert_eq!(row, expected);
    }
    let max = offset_of_max_timestamp(&stored).expect("a sealed batch");
    if rules.timestamp_type == TimestampType::CreateTime {
        let delta = i64::from(checked.max_timestamp_delta);
        assert_eq!(max, Some((Offset(7).plus(delta), header.max_timestamp_ms)));
    }
    let stamped = rows(&self::stored(checked, Offset(7), Some(-5))).expect("a sealed batch");
    assert!(stamped.iter().all(|(_, row)| row.timestamp_ms == -5));

    let again = self::stored(checked, Offset(0), None);
    let wider = Rules {
        unpacked_bytes_max: 2 * rules.unpacked_bytes_max,
        // The rules may ask for zstd of a client that knows nothing of it.
        zstd_allowed: true,
        ..*rules
    };
    let again = check_batch(&again, &wider).expect("what was accepted is accepted again");
    assert!(!again.repacked);
    assert_eq!(again.body, checked.body);
    assert_eq!(again.max_timestamp_delta, checked.max_timestamp_delta);
    assert_eq!(again.header.crc, checked.header.crc);
}

fn stored(checked: &CheckedBatch, base_offset: Offset, append_ms: Option<i64>) -> Bytes {
    let header = checked.seal(base_offset, LeaderEpoch(3), append_ms);
    [&header[..], &checked.body[..]].concat().into()
}

/// Whatever a builder takes comes back from what it builds.
fn check_built(source: &mut Source, rules: &Rules) -> bool {
    let codec = Codec::from_bits(source.u8() % 8).unwrap_or_default();
    let mut builder = BatchBuilder::new();
    if source.u8() % 2 == 1 {
        let (id, epoch) = (source.u16(), source.u8());
        let sequence = Sequence(source.u16().into());
        builder = builder.producer(ProducerId(id.into()), ProducerEpoch(epoch.into()), sequence);
    }
    let mut expected = Vec::new();
    for _ in 0..source.u8() % 16 {
        let row = Row {
            timestamp_ms: source.time_ms(),
            key: source.nullable(),
            value: source.nullable(),
            headers: (0..source.u8() % 4)
                .map(|_| (source.nullable().unwrap_or_default(), source.nullable()))
                .collect(),
        };
        let headers: Vec<_> = row
            .headers
            .iter()
            .map(|(key, value)| (&key[..], value.as_deref()))
            .collect();
        let (key, value) = (row.key.as_deref(), row.value.as_deref());
        let offset = Offset(i64::try_from(expected.len()).unwrap_or(i64::MAX));
        // Times may lie too far from the first one; nothing else is refused.
        if builder
            .append(row.timestamp_ms, key, value, &headers)
            .is_ok()
        {
            expected.push((offset, row));
        }
    }
    let batch = builder.build(codec).expect("a small batch");
    assert_eq!(rows(&batch).as_ref(), Some(&expected));
    let header = verify_crc(&batch).expect("what was built");
    assert_eq!(BatchHeader::parse(&header.encode()), Ok(header));
    // Under log append time the records' own times are not looked at.
    let anything = Rules {
        timestamp_type: TimestampType::LogAppendTime,
        ..Rules::at(NOW_MS)
    };
    let checked = check_batch(&batch, &anything);
    assert_eq!(checked.is_ok(), !expected.is_empty(), "{checked:?}");
    check_bytes(&batch, rules)
}

/// Where the body of a batch is, if there is one.
fn body(batch: &Bytes) -> std::ops::Range<usize> {
    HEADER_BYTES.min(batch.len())..batch.len()
}

/// The header of `batch` before `body`, its length, magic and CRC put right.
fn put_right(batch: &Bytes, body: &[u8]) -> Bytes {
    let mut front = batch.slice(..HEADER_BYTES.min(batch.len())).to_vec();
    front.resize(HEADER_BYTES, 0);
    let length = i32::try_from(HEADER_BYTES - 12 + body.len()).unwrap_or(i32::MAX);
    front[8..12].copy_from_slice(&length.to_be_bytes());
    front[16] = 2;
    let mut header = BatchHeader::parse(&front).expect("a header with its length");
    header.crc = header.crc_over(crc32c(body));
    [&header.encode()[..], body].concat().into()
}

/// The batch whose header stands before records that are not packed yet.
fn pack(batch: &Bytes) -> Bytes {
    let records = batch.slice(body(batch));
    let header = put_right(batch, &records);
    let header = BatchHeader::parse(&header).expect("a header with its length");
    let codec = Codec::from_bits(header.attributes.codec_bits()).unwrap_or_default();
    put_right(batch, &packed(codec, &records))
}

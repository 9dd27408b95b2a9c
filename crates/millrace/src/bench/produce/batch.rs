//! A batch, written straight into the request.

use anyhow::Context;
use record::{Attributes, BatchBuilder, BatchHeader, Codec, HEADER_BYTES, crc32c};
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

use super::template::Template;
use crate::client::Producer;

/// What a batch holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contents {
    pub(super) records: i32,
    /// Time of the first record.
    pub(super) base_timestamp_ms: i64,
    /// Nanoseconds between two records.
    pub(super) interval_ns: u64,
    pub(super) producer: Option<(Producer, i32)>,
    pub(super) codec: Codec,
}

impl Contents {
    fn timestamp_delta_ms(&self, index: i32) -> i64 {
        let delta_ns = self
            .interval_ns
            .saturating_mul(u64::try_from(index).unwrap_or(0));
        i64::try_from(delta_ns / 1_000_000).unwrap_or(i64::MAX)
    }

    fn header(&self) -> BatchHeader {
        let none = Producer { id: -1, epoch: -1 };
        let (producer, sequence) = self.producer.unwrap_or((none, -1));
        let last = self.records - 1;
        BatchHeader {
            base_offset: Offset::ZERO,
            leader_epoch: LeaderEpoch(-1),
            attributes: Attributes::default(),
            last_offset_delta: last,
            base_timestamp_ms: self.base_timestamp_ms,
            max_timestamp_ms: self.base_timestamp_ms + self.timestamp_delta_ms(last),
            producer_id: ProducerId(producer.id),
            producer_epoch: ProducerEpoch(producer.epoch),
            base_sequence: Sequence(sequence),
            count: self.records,
            ..BatchHeader::default()
        }
    }
}

/// Appends a batch to `out`.
pub(super) fn put(
    out: &mut Vec<u8>,
    template: &mut Template,
    contents: &Contents,
) -> anyhow::Result<()> {
    match contents.codec {
        Codec::None => put_plain(out, template, contents),
        codec => put_packed(out, template, contents, codec),
    }
}

/// Record by record into the buffer that goes to the socket; the CRC in one pass at the end.
fn put_plain(
    out: &mut Vec<u8>,
    template: &mut Template,
    contents: &Contents,
) -> anyhow::Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    for index in 0..contents.records {
        let delta_ms = contents.timestamp_delta_ms(index);
        put_record(out, template.value(), index.into(), delta_ms);
    }
    let mut header = contents.header();
    header.length = i32::try_from(out.len() - start - 12).context("the batch is too large")?;
    let (front, body) = out.split_at_mut(start + HEADER_BYTES);
    header.crc = header.crc_over(crc32c(body));
    if let Some(place) = front.last_chunk_mut::<HEADER_BYTES>() {
        *place = header.encode();
    }
    Ok(())
}

/// A record of a null key and no headers.
fn put_record(out: &mut Vec<u8>, value: &[u8], index: i64, timestamp_delta_ms: i64) {
    let value_bytes = i64::try_from(value.len()).unwrap_or(i64::MAX);
    // Attributes, null key, count of headers.
    let fixed_bytes = 3;
    let numbers_bytes =
        varint_bytes(timestamp_delta_ms) + varint_bytes(index) + varint_bytes(value_bytes);
    put_varint(out, fixed_bytes + numbers_bytes + value_bytes);
    out.push(0);
    put_varint(out, timestamp_delta_ms);
    put_varint(out, index);
    put_varint(out, -1);
    put_varint(out, value_bytes);
    out.extend_from_slice(value);
    put_varint(out, 0);
}

fn put_packed(
    out: &mut Vec<u8>,
    template: &mut Template,
    contents: &Contents,
    codec: Codec,
) -> anyhow::Result<()> {
    let mut builder = BatchBuilder::new();
    if let Some((producer, sequence)) = contents.producer {
        let (id, epoch) = (ProducerId(producer.id), ProducerEpoch(producer.epoch));
        builder = builder.producer(id, epoch, Sequence(sequence));
    }
    for index in 0..contents.records {
        let timestamp_ms = contents.base_timestamp_ms + contents.timestamp_delta_ms(index);
        builder.append(timestamp_ms, None, Some(template.value()), &[])?;
    }
    out.extend_from_slice(&builder.build(codec)?);
    Ok(())
}

/// Zigzag and seven bits a byte, as in protocol buffers.
fn put_varint(out: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        out.push(u8::try_from(rest & 0x7f).unwrap_or(0) | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap_or(0));
}

fn varint_bytes(value: i64) -> i64 {
    i64::from(
        (u64::BITS - zigzag(value).leading_zeros())
            .max(1)
            .div_ceil(7),
    )
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use record::{Records, Rules, check};

    use super::*;

    fn contents(codec: Codec) -> Contents {
        Contents {
            records: 300,
            base_timestamp_ms: 1_000,
            interval_ns: 500_000,
            producer: Some((Producer { id: 7, epoch: 2 }, 40)),
            codec,
        }
    }

    #[test]
    fn batches_pass_the_brokers_own_check_and_hold_what_was_asked_for() {
        for codec in Codec::ALL {
            let mut out = vec![9; 5];
            put(&mut out, &mut Template::new(100, 1), &contents(codec)).expect("written");
            assert_eq!(out[..5], [9; 5]);
            let batch = Bytes::from(out).slice(5..);
            let checked = check(&batch, &Rules::at(1_000)).expect("valid");
            assert_eq!(checked.header.count, 300);
            assert_eq!(checked.header.max_timestamp_ms, 1_149);
            assert_eq!(checked.header.producer_id, ProducerId(7));
            assert_eq!(checked.header.base_sequence, Sequence(40));
            let mut scratch = Vec::new();
            let mut template = Template::new(100, 1);
            for record in Records::read(&batch, &mut scratch).expect("readable") {
                let record = record.expect("a record");
                assert_eq!(record.value, Some(template.value()));
                assert_eq!(record.key, None);
            }
        }
    }

    #[test]
    fn an_uncompressed_batch_is_the_builders_byte_for_byte() {
        let mut ours = Vec::new();
        put_plain(&mut ours, &mut Template::new(77, 3), &contents(Codec::None)).expect("written");
        let mut theirs = Vec::new();
        put_packed(
            &mut theirs,
            &mut Template::new(77, 3),
            &contents(Codec::None),
            Codec::None,
        )
        .expect("written");
        assert_eq!(ours, theirs);
    }
}

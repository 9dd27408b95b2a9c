//! Building a batch record by record.

use bytes::Bytes;
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence, limits};

use crate::pack::Packer;
use crate::{
    BatchError, BatchHeader, Codec, Flaw, HEADER_BYTES, Levels, RecordError, RecordFlaw,
    TimestampType, crc32c, varint,
};

/// What a header is built from: key and value, which may be null.
type HeaderParts<'a> = (&'a [u8], Option<&'a [u8]>);

/// Builds a batch. Its records get the offsets 0, 1, 2 and so on from the base offset.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    header: BatchHeader,
    max_timestamp_ms: i64,
    records: Vec<u8>,
    levels: Levels,
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchBuilder {
    /// An empty batch of no idempotent producer, at base offset 0.
    #[must_use]
    pub fn new() -> Self {
        let header = BatchHeader {
            leader_epoch: LeaderEpoch(-1),
            producer_id: ProducerId::NONE,
            producer_epoch: ProducerEpoch(-1),
            base_sequence: Sequence(-1),
            ..BatchHeader::default()
        };
        Self {
            header,
            max_timestamp_ms: -1,
            records: Vec::new(),
            levels: Levels::default(),
        }
    }

    /// Sets the offset of the first record.
    #[must_use]
    pub const fn base_offset(mut self, base_offset: Offset) -> Self {
        self.header.base_offset = base_offset;
        self
    }

    /// Sets the leader epoch.
    #[must_use]
    pub const fn leader_epoch(mut self, leader_epoch: LeaderEpoch) -> Self {
        self.header.leader_epoch = leader_epoch;
        self
    }

    /// Makes it a batch of an idempotent producer.
    #[must_use]
    pub const fn producer(
        mut self,
        id: ProducerId,
        epoch: ProducerEpoch,
        base_sequence: Sequence,
    ) -> Self {
        self.header.producer_id = id;
        self.header.producer_epoch = epoch;
        self.header.base_sequence = base_sequence;
        self
    }

    /// Makes it part of a transaction.
    #[must_use]
    pub const fn transactional(mut self) -> Self {
        self.header.attributes = self.header.attributes.with_transactional(true);
        self
    }

    /// Makes it a control batch.
    #[must_use]
    pub const fn control(mut self) -> Self {
        self.header.attributes = self.header.attributes.with_control(true);
        self
    }

    /// Gives all records this append time instead of their own.
    #[must_use]
    pub const fn log_append_time(mut self, append_ms: i64) -> Self {
        let attributes = self.header.attributes;
        self.header.attributes = attributes.with_timestamp_type(TimestampType::LogAppendTime);
        self.header.max_timestamp_ms = append_ms;
        self
    }

    /// Sets how hard the codec tries.
    #[must_use]
    pub const fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When the record, its headers or the batch exceed what the format or the limits allow; the
    /// builder is then as it was before.
    pub fn append(
        &mut self,
        timestamp_ms: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[HeaderParts<'_>],
    ) -> Result<(), BatchError> {
        let index = self.header.count;
        let bad = |flaw| BatchError::InvalidRecords(vec![RecordError { index, flaw }]);
        if self.count() >= limits::BATCH_RECORDS_MAX {
            return Err(BatchError::InvalidBatch(Flaw::TooManyRecords(index)));
        }
        if headers.len() > limits::RECORD_HEADERS_MAX {
            return Err(bad(RecordFlaw::HeaderCount));
        }
        if index == 0 {
            self.header.base_timestamp_ms = timestamp_ms;
        }
        let delta = timestamp_ms.checked_sub(self.header.base_timestamp_ms);
        let delta = delta.ok_or_else(|| bad(RecordFlaw::TimestampOverflow))?;
        let fields = fields_bytes(key, value, headers);
        let len = 1 + varint::size(delta) + varint::size(i64::from(index)) + fields;
        self.admit(len)?;
        self.put(len, delta, (key, value), headers);
        self.max_timestamp_ms = match index {
            0 => timestamp_ms,
            _ => self.max_timestamp_ms.max(timestamp_ms),
        };
        self.header.count = index.saturating_add(1);
        Ok(())
    }

    fn admit(&self, record_bytes: usize) -> Result<(), BatchError> {
        let bytes = self
            .total_bytes()
            .saturating_add(record_bytes)
            .saturating_add(5);
        let max_bytes = limits::UNPACKED_BATCH_BYTES_MAX;
        if bytes > max_bytes {
            Err(BatchError::TooLarge { bytes, max_bytes })
        } else {
            Ok(())
        }
    }

    fn put(
        &mut self,
        len: usize,
        timestamp_delta: i64,
        (key, value): (Option<&[u8]>, Option<&[u8]>),
        headers: &[HeaderParts<'_>],
    ) {
        let out = &mut self.records;
        put_len(out, len);
        out.push(0);
        varint::put(out, timestamp_delta);
        varint::put(out, i64::from(self.header.count));
        put_nullable(out, key);
        put_nullable(out, value);
        put_len(out, headers.len());
        for (key, value) in headers {
            put_nullable(out, Some(key));
            put_nullable(out, *value);
        }
    }

    /// Records added so far.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::try_from(self.header.count).unwrap_or(0)
    }

    /// Whether no record was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.header.count == 0
    }

    /// Size that the batch would have uncompressed.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        HEADER_BYTES.saturating_add(self.records.len())
    }

    /// The batch, its records packed with `codec`. Without records it is one as compaction leaves
    /// behind.
    ///
    /// # Errors
    /// When the codec fails, or its output is too long for the length field.
    pub fn build(self, codec: Codec) -> Result<Bytes, BatchError> {
        let body = if codec == Codec::None || self.is_empty() {
            self.records
        } else {
            let bytes_max = limits::UNPACKED_BATCH_BYTES_MAX.saturating_mul(2);
            let input_bytes = Some(self.records.len());
            let mut packer = Packer::new(codec, self.levels, bytes_max, input_bytes)?;
            packer.write(&self.records)?;
            packer.finish()?
        };
        let mut header = self.header;
        header.length = BatchHeader::length_with(body.len());
        header.last_offset_delta = header.count.saturating_sub(1);
        header.attributes = header.attributes.with_codec(codec);
        if header.attributes.timestamp_type() == TimestampType::CreateTime {
            header.max_timestamp_ms = self.max_timestamp_ms;
        }
        header.crc = header.crc_over(crc32c(&body));
        let mut batch = Vec::with_capacity(HEADER_BYTES.saturating_add(body.len()));
        batch.extend_from_slice(&header.encode());
        batch.extend_from_slice(&body);
        Ok(batch.into())
    }
}

/// Bytes of a record from the key's length on.
fn fields_bytes(key: Option<&[u8]>, value: Option<&[u8]>, headers: &[HeaderParts<'_>]) -> usize {
    let headers_bytes = headers.iter().fold(0, |sum: usize, (key, value)| {
        sum.saturating_add(nullable_bytes(Some(key)))
            .saturating_add(nullable_bytes(*value))
    });
    nullable_bytes(key)
        .saturating_add(nullable_bytes(value))
        .saturating_add(varint::size(signed(headers.len())))
        .saturating_add(headers_bytes)
}

fn nullable_bytes(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(1, |bytes| {
        varint::size(signed(bytes.len())).saturating_add(bytes.len())
    })
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            put_len(out, bytes.len());
            out.extend_from_slice(bytes);
        }
        None => varint::put(out, -1),
    }
}

/// Lengths are bounded by [`BatchBuilder::admit`] far below 2^31.
fn put_len(out: &mut Vec<u8>, len: usize) {
    varint::put(out, signed(len));
}

fn signed(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

//! Why a batch is refused. The variants of [`BatchError`] are what a front end maps to its codes.

use thiserror::Error;

use crate::Codec;

/// Why a batch is refused. Each variant names the Kafka error code that says the same; front ends
/// map them exhaustively.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BatchError {
    /// The bytes are not those that were sent: `CORRUPT_MESSAGE` (2).
    #[error("corrupt batch: {0}")]
    Corrupt(Corruption),
    /// The batch as it came, or as it would be stored, exceeds the topic's limit:
    /// `MESSAGE_TOO_LARGE` (10).
    #[error("batch of {bytes} bytes exceeds the limit of {max_bytes}")]
    TooLarge {
        /// Size of the batch; at least so much when it grew past the limit.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// The records unpack to more than a batch may: `MESSAGE_TOO_LARGE` (10).
    #[error("records unpack to more than {max_bytes} bytes")]
    UnpackedTooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// Records lie outside the topic's time bounds: `INVALID_TIMESTAMP` (32) with record errors.
    #[error("records have timestamps out of range, the first: {}", first(.0))]
    InvalidTimestamp(Vec<RecordError>),
    /// The producer claims the broker's clock: `INVALID_TIMESTAMP` (32).
    #[error("a producer may not set the timestamp type to log append time")]
    LogAppendTimeClaimed,
    /// The codec is not known to the version of the request: `UNSUPPORTED_COMPRESSION_TYPE` (76).
    #[error("{0} needs a newer version of the produce request")]
    UnsupportedCodec(Codec),
    /// The batch as a whole is wrong: `INVALID_RECORD` (87).
    #[error("invalid batch: {0}")]
    InvalidBatch(Flaw),
    /// Records are wrong: `INVALID_RECORD` (87) with record errors.
    #[error("invalid records, the first: {}", first(.0))]
    InvalidRecords(Vec<RecordError>),
}

fn first(errors: &[RecordError]) -> String {
    errors.first().map_or_else(String::new, ToString::to_string)
}

impl BatchError {
    /// The records at fault, by their index in the batch; at most
    /// [`types::limits::RECORD_ERRORS_MAX`] are listed.
    #[must_use]
    pub fn record_errors(&self) -> &[RecordError] {
        match self {
            Self::InvalidTimestamp(errors) | Self::InvalidRecords(errors) => errors,
            _ => &[],
        }
    }
}

/// How bytes differ from what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Corruption {
    /// Bytes are missing.
    #[error("{have} bytes where {need} belong")]
    Truncated {
        /// Bytes that are there.
        have: usize,
        /// Bytes that should be.
        need: usize,
    },
    /// The format is not 2.
    #[error("magic {0} is not supported")]
    Magic(i8),
    /// The length field does not even cover the header.
    #[error("impossible batch length {0}")]
    Length(i32),
    /// The checksum does not fit.
    #[error("crc is {computed:#010x}, the header says {stored:#010x}")]
    Crc {
        /// What the header says.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
}

/// What is wrong with a batch as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// There are no bytes.
    #[error("there is no batch")]
    Missing,
    /// Something follows the batch.
    #[error("{0} bytes follow the one batch that is allowed")]
    MoreThanOne(usize),
    /// Offsets are the broker's to give.
    #[error("base offset is {0} instead of 0")]
    BaseOffset(i64),
    /// Count and last offset delta do not fit each other, or there is no record.
    #[error("count {count} does not fit last offset delta {last_offset_delta}")]
    Count {
        /// The header's count.
        count: i32,
        /// The header's last offset delta.
        last_offset_delta: i32,
    },
    /// More records than a batch may have.
    #[error("{0} records exceed the limit of a batch")]
    TooManyRecords(i32),
    /// Control batches are the broker's to write.
    #[error("a producer may not write control records")]
    Control,
    /// The delete horizon is the broker's to set.
    #[error("a producer may not set a delete horizon")]
    DeleteHorizon,
    /// An idempotent producer's batch needs an epoch and a sequence number.
    #[error("producer {producer_id} sends epoch {epoch} and sequence {sequence}")]
    Sequence {
        /// The producer.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
        /// The first record's sequence number.
        sequence: i32,
    },
    /// A transaction needs a producer id.
    #[error("a transactional batch without producer id")]
    TransactionalWithoutProducer,
    /// No codec has this number.
    #[error("unknown compression codec {0}")]
    UnknownCodec(u8),
    /// The records cannot be unpacked.
    #[error("records are not valid {0}")]
    Unpack(Codec),
    /// The records cannot be packed.
    #[error("records cannot be compressed with {0}")]
    Pack(Codec),
    /// Bytes follow the last record.
    #[error("bytes follow the last record")]
    BytesLeft,
}

/// A record that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("record {index}: {flaw}")]
pub struct RecordError {
    /// Position in the batch, from 0.
    pub index: i32,
    /// What is wrong with it; its text is the message for Produce v8.
    pub flaw: RecordFlaw,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordFlaw {
    /// The batch ends before the record does.
    #[error("record is longer than the rest of the batch")]
    Truncated,
    /// The length is negative.
    #[error("record length is negative")]
    NegativeLength,
    /// A number is not encoded as it must be.
    #[error("malformed variable-length number")]
    Varint,
    /// A field reaches beyond the record's length.
    #[error("a field is longer than the rest of the record")]
    FieldTooLong,
    /// A key's or value's length is below -1.
    #[error("a field has a negative length")]
    NegativeField,
    /// The header count is negative, above the limit, or above what the bytes could hold.
    #[error("invalid number of headers")]
    HeaderCount,
    /// A header has no key.
    #[error("a header has a null key")]
    NullHeaderKey,
    /// The fields end before the record's length does.
    #[error("bytes follow the last field of the record")]
    BytesLeft,
    /// Base timestamp plus delta leaves 64 bits.
    #[error("timestamp overflows")]
    TimestampOverflow,
    /// A compacted topic needs keys.
    #[error("a compacted topic cannot accept a record without key")]
    NullKey,
    /// The timestamp lies outside the topic's bounds.
    #[error("timestamp {timestamp_ms} is out of range: it must lie within [{min_ms}, {max_ms}]")]
    TimestampOutOfRange {
        /// The record's.
        timestamp_ms: i64,
        /// The earliest allowed.
        min_ms: i64,
        /// The latest allowed.
        max_ms: i64,
    },
}

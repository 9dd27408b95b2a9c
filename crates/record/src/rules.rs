//! What the broker demands of a produced batch.

use types::limits;

use crate::{Codec, Levels, TimestampType};

/// What the broker demands of a produced batch: the topic's settings and the request's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// `max.message.bytes`: largest batch, as compressed.
    pub max_bytes: usize,
    /// Most that the records may unpack to.
    pub unpacked_bytes_max: usize,
    /// `message.timestamp.type`. Under log append time the records' own times are not looked at.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how far a record may lie in the past.
    pub before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how far a record may lie in the future.
    pub after_max_ms: i64,
    /// The broker's wall clock.
    pub now_ms: i64,
    /// Whether a null key is refused, as compacted topics do.
    pub keys_required: bool,
    /// `compression.type`: what batches of any other codec are packed anew with; `None` keeps
    /// the producer's.
    pub codec: Option<Codec>,
    /// How hard to try when packing anew.
    pub levels: Levels,
    /// Whether the request is new enough for zstd (Produce 7).
    pub zstd_allowed: bool,
}

impl Rules {
    /// Kafka's defaults of a topic, at `now_ms`.
    #[must_use]
    pub fn at(now_ms: i64) -> Self {
        Self {
            max_bytes: limits::BATCH_BYTES_DEFAULT,
            unpacked_bytes_max: limits::UNPACKED_BATCH_BYTES_MAX,
            timestamp_type: TimestampType::CreateTime,
            before_max_ms: i64::MAX,
            after_max_ms: 3_600_000,
            now_ms,
            keys_required: false,
            codec: None,
            levels: Levels::default(),
            zstd_allowed: true,
        }
    }
}

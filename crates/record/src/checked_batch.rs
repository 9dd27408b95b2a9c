//! A batch that can be stored.

use bytes::Bytes;
use types::{LeaderEpoch, Offset};

use crate::{BatchHeader, HEADER_BYTES, TimestampType};

/// A batch that was checked in depth and can be stored: header fields may still be changed, the
/// body may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedBatch {
    /// The header, with base offset 0, the true largest timestamp, and a CRC that fits both.
    pub header: BatchHeader,
    /// Everything behind the header.
    pub body: Bytes,
    /// CRC-32C of the body alone.
    pub body_crc: u32,
    /// Offset delta of the first record that has the largest timestamp; 0 under log append time,
    /// where all have the same.
    pub max_timestamp_delta: i32,
    /// Whether the body was packed anew instead of being kept byte for byte.
    pub repacked: bool,
}

impl CheckedBatch {
    /// The header bytes to store: with its place in the partition and, where the topic wants it,
    /// the append time. The CRC is joined from its parts, without a pass over the body.
    #[must_use]
    pub fn seal(
        &self,
        base_offset: Offset,
        leader_epoch: LeaderEpoch,
        log_append_time_ms: Option<i64>,
    ) -> [u8; HEADER_BYTES] {
        let mut header = BatchHeader {
            base_offset,
            leader_epoch,
            ..self.header
        };
        if let Some(append_ms) = log_append_time_ms {
            header.attributes = header
                .attributes
                .with_timestamp_type(TimestampType::LogAppendTime);
            header.max_timestamp_ms = append_ms;
        }
        header.crc = header.crc_over(self.body_crc);
        header.encode()
    }

    /// Size of header and body.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        HEADER_BYTES.saturating_add(self.body.len())
    }
}

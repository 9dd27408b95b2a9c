//! Entries: the decisions that frames carry.

use bytes::Bytes;
use smallvec::SmallVec;
use types::{LogIndex, Offset, PartitionId, ShardId, Term};

/// What an entry is. The numbers stand on disk (docs/formats/frame.md) and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A record batch of a partition.
    Records = 1,
    /// A change of the cluster's metadata; the crate above knows its bytes.
    Metadata = 2,
    /// The log start of a partition moved to the entry's base offset.
    Trim = 3,
    /// Segments took the place of log files or of other segments (shard 0).
    Swap = 4,
    /// The node stopped in order: nothing follows in this life.
    CleanStop = 5,
    /// The stamp was set by hand.
    Clock = 6,
}

impl Kind {
    /// The kind with this number; numbers 16 to 31 are kept for consensus.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Records,
            2 => Self::Metadata,
            3 => Self::Trim,
            4 => Self::Swap,
            5 => Self::CleanStop,
            6 => Self::Clock,
            _ => return None,
        })
    }
}

/// Which protocol a batch came from; it stands beside the batch, never inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Origin {
    /// Made by the broker itself.
    Internal = 0,
    /// Kafka: the batch is as the client sent it.
    Kafka = 1,
    /// AMQP 0-9-1.
    Amqp = 2,
    /// RocketMQ remoting.
    RocketMq = 3,
}

impl Origin {
    /// The origin with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Internal,
            1 => Self::Kafka,
            2 => Self::Amqp,
            3 => Self::RocketMq,
            _ => return None,
        })
    }
}

/// What the log itself must know of an entry. 72 bytes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// Shard that decided it.
    pub shard: ShardId,
    /// What it is.
    pub kind: Kind,
    /// Where a batch came from.
    pub origin: Origin,
    /// Partition it is about, 0 where it has none.
    pub partition: PartitionId,
    /// Term under which it was decided.
    pub term: Term,
    /// Its position in the shard's log.
    pub index: LogIndex,
    /// First offset of a batch; new log start of a trim.
    pub base_offset: Offset,
    /// Offsets that the batch takes (last offset delta + 1), 0 for other kinds.
    pub count: u32,
    /// When the broker decided it: milliseconds since 1970, monotone per shard.
    pub append_time_ms: i64,
    /// Largest record timestamp of a batch, -1 where there is none.
    pub max_timestamp_ms: i64,
}

impl EntryHeader {
    /// The offset after the batch.
    #[must_use]
    pub fn end_offset(&self) -> Offset {
        self.base_offset.plus(i64::from(self.count))
    }
}

/// The bytes of an entry: a small head that the broker made and a body that came from outside,
/// which is referenced, not copied, when it is large.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    head: SmallVec<[u8; HEAD_BYTES]>,
    body: Bytes,
    crc: u32,
}

/// Room for a head in place: the header of a record batch is 61 bytes.
const HEAD_BYTES: usize = 64;

impl Payload {
    /// A payload without a head.
    #[must_use]
    pub fn from_body(body: Bytes) -> Self {
        let crc = record::crc32c(&body);
        Self {
            head: SmallVec::new(),
            body,
            crc,
        }
    }

    /// A head and a body whose CRC-32C is known, so that nobody passes over the body again.
    #[must_use]
    pub fn from_parts(head: &[u8], body: Bytes, body_crc: u32) -> Self {
        let crc = record::crc32c_combine(record::crc32c(head), body_crc, body.len() as u64);
        Self {
            head: SmallVec::from_slice(head),
            body,
            crc,
        }
    }

    /// The part that the broker made.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The part that came from outside.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// CRC-32C of head and body.
    #[must_use]
    pub const fn crc(&self) -> u32 {
        self.crc
    }

    /// Length of head and body.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One decision of an owner, ready to be written.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What the log knows of it.
    pub header: EntryHeader,
    /// Its bytes.
    pub payload: Payload,
}

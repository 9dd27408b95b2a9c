//! Newtypes for the numbers of the data model. `docs/formats` says where each is stored.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }
    };
}

number! {
    /// Position of a record in its partition; 39 bits are used, never negative in stored data.
    Offset(i64)
}
number! {
    /// Number of a partition, unique in the node and never reused (24 bits are used).
    PartitionId(u32)
}
number! {
    /// A group of partitions that one owner decides for, and later one Raft group.
    ShardId(u16)
}
number! {
    /// Raft term under which an entry was decided; 1 on a single node.
    Term(u64)
}
number! {
    /// Position of an entry in its shard's log, dense from 1.
    LogIndex(u64)
}
number! {
    /// Epoch of a partition's leader, as Kafka clients see it.
    LeaderEpoch(i32)
}
number! {
    /// Id of an idempotent producer (KIP-98); -1 means none.
    ProducerId(i64)
}
number! {
    /// Epoch of an idempotent producer (KIP-98).
    ProducerEpoch(i16)
}
number! {
    /// Sequence number of a producer's record in a partition; wraps from 2^31 - 1 to 0 (KIP-98).
    Sequence(i32)
}
number! {
    /// Random bits that mark one life of a log file; bytes of a former life never validate.
    FileEpoch(u64)
}
number! {
    /// Number of a file of the log directory, never reused while the file lives; names the file.
    FileSequence(u64)
}
number! {
    /// Number of a frame in the node's log, dense from 1.
    FrameNumber(u64)
}
number! {
    /// Number of a segment, never reused.
    SegmentId(u64)
}

impl Offset {
    /// The first offset of every partition.
    pub const ZERO: Self = Self(0);

    /// The offset `count` records further on, saturating.
    #[must_use]
    pub const fn plus(self, count: i64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// Records between `earlier` and `self`.
    #[must_use]
    pub const fn minus(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl LogIndex {
    /// The index that follows.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl FrameNumber {
    /// The number that follows.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl ProducerId {
    /// What a batch of no idempotent producer carries.
    pub const NONE: Self = Self(-1);
}

impl Sequence {
    /// The sequence `count` records further on, wrapping as KIP-98 says.
    #[must_use]
    pub const fn plus(self, count: i32) -> Self {
        let sum = self.0 as i64 + count as i64;
        let wrapped = if sum > i32::MAX as i64 {
            sum - (i32::MAX as i64 + 1)
        } else {
            sum
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "wrapped into 0..=i32::MAX above"
        )]
        Self(wrapped as i32)
    }
}

/// Id of a topic: a random UUID, never reused (KIP-516).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TopicId(pub [u8; 16]);

impl TopicId {
    /// What the Kafka protocol sends for "no id".
    pub const ZERO: Self = Self([0; 16]);

    /// A random (version 4) UUID from two random words.
    #[must_use]
    pub const fn from_random(high: u64, low: u64) -> Self {
        let mut bytes = (((high as u128) << 64) | low as u128).to_be_bytes();
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        Self(bytes)
    }
}

impl fmt::Display for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopicId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_wraps_to_zero_after_the_largest() {
        assert_eq!(Sequence(i32::MAX).plus(1), Sequence(0));
        assert_eq!(Sequence(i32::MAX - 1).plus(3), Sequence(1));
        assert_eq!(Sequence(4).plus(3), Sequence(7));
    }

    #[test]
    fn topic_id_prints_as_a_version_4_uuid() {
        let id = TopicId::from_random(0, 0);
        assert_eq!(id.to_string(), "00000000-0000-4000-8000-000000000000");
    }
}

//! The attribute bits of a batch.

use crate::Codec;

const CODEC_MASK: i16 = 0b111;
const LOG_APPEND_TIME: i16 = 1 << 3;
const TRANSACTIONAL: i16 = 1 << 4;
const CONTROL: i16 = 1 << 5;
const DELETE_HORIZON: i16 = 1 << 6;

/// Whose clock the timestamps of a batch, or of a topic, come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// The producer's, record by record.
    #[default]
    CreateTime,
    /// The broker's, one for the whole batch.
    LogAppendTime,
}

/// The attributes of a batch, as they stand on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes(pub i16);

impl Attributes {
    /// The three bits that name the codec.
    #[must_use]
    pub fn codec_bits(self) -> u8 {
        u8::try_from(self.0 & CODEC_MASK).unwrap_or(0)
    }

    /// The codec, unless the number is none that we know.
    #[must_use]
    pub fn codec(self) -> Option<Codec> {
        Codec::from_bits(self.codec_bits())
    }

    /// The same attributes with another codec.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self(self.0 & !CODEC_MASK | i16::from(codec.bits()))
    }

    /// Whose clock the timestamps come from.
    #[must_use]
    pub const fn timestamp_type(self) -> TimestampType {
        if self.0 & LOG_APPEND_TIME == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// The same attributes with another timestamp type.
    #[must_use]
    pub const fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        self.with(
            LOG_APPEND_TIME,
            matches!(timestamp_type, TimestampType::LogAppendTime),
        )
    }

    /// Whether the batch belongs to a transaction.
    #[must_use]
    pub const fn is_transactional(self) -> bool {
        self.0 & TRANSACTIONAL != 0
    }

    /// The same attributes, in a transaction or not.
    #[must_use]
    pub const fn with_transactional(self, on: bool) -> Self {
        self.with(TRANSACTIONAL, on)
    }

    /// Whether the batch holds a control record (a transaction's end) instead of data.
    #[must_use]
    pub const fn is_control(self) -> bool {
        self.0 & CONTROL != 0
    }

    /// The same attributes, control or data.
    #[must_use]
    pub const fn with_control(self, on: bool) -> Self {
        self.with(CONTROL, on)
    }

    /// Whether the base timestamp is the time from which tombstones may go (KIP-534).
    #[must_use]
    pub const fn has_delete_horizon(self) -> bool {
        self.0 & DELETE_HORIZON != 0
    }

    const fn with(self, bit: i16, on: bool) -> Self {
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_read_and_written_alone() {
        let plain = Attributes(0);
        assert_eq!(plain.with_codec(Codec::Zstd), Attributes(4));
        assert_eq!(
            plain.with_timestamp_type(TimestampType::LogAppendTime),
            Attributes(8)
        );
        assert_eq!(plain.with_transactional(true), Attributes(16));
        assert_eq!(plain.with_control(true), Attributes(32));
        assert!(Attributes(64).has_delete_horizon());
        let all = Attributes(0x7f);
        assert_eq!(all.codec(), None);
        assert_eq!(all.with_codec(Codec::None), Attributes(0x78));
        assert_eq!(
            all.with_timestamp_type(TimestampType::CreateTime),
            Attributes(0x77)
        );
        assert_eq!(all.with_transactional(false), Attributes(0x6f));
        assert_eq!(all.with_control(false), Attributes(0x5f));
    }

    #[test]
    fn numbers_and_names_of_codecs_go_both_ways() {
        for codec in Codec::ALL {
            assert_eq!(Codec::from_bits(codec.bits()), Some(codec));
            assert_eq!(Codec::from_name(codec.name()), Some(codec));
            assert_eq!(Attributes(-1).with_codec(codec).codec(), Some(codec));
        }
        assert_eq!(Codec::from_bits(5), None);
        assert_eq!(Codec::from_name("uncompressed"), Some(Codec::None));
        assert_eq!(Codec::from_name("brotli"), None);
    }
}

//! The codecs that a batch may name.

use std::fmt;

/// How the records of a batch are compressed. The number is what the attributes hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Codec {
    /// As they are.
    #[default]
    None = 0,
    /// One gzip member (RFC 1952).
    Gzip = 1,
    /// Snappy blocks in snappy-java's framing, or one bare block.
    Snappy = 2,
    /// One LZ4 frame.
    Lz4 = 3,
    /// Zstandard frames (RFC 8878); needs Produce 7 and Fetch 10 (KIP-110).
    Zstd = 4,
}

impl Codec {
    /// Every codec, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec with this number in a batch's attributes.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Self::None),
            1 => Some(Self::Gzip),
            2 => Some(Self::Snappy),
            3 => Some(Self::Lz4),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The number that stands in a batch's attributes.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// The name in Kafka's settings; no compression is `uncompressed` in `compression.type` and
    /// `none` in a producer's, so both are read by [`Codec::from_name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The codec of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "none" | "uncompressed" => Some(Self::None),
            "gzip" => Some(Self::Gzip),
            "snappy" => Some(Self::Snappy),
            "lz4" => Some(Self::Lz4),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How hard the codecs try when we compress. LZ4 and snappy have one level here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// 1 to 9; anything else means 6, as Kafka's -1 does.
    pub gzip: i32,
    /// 1 to 22, negative for faster ones; clamped to what the library knows.
    pub zstd: i32,
}

impl Default for Levels {
    fn default() -> Self {
        Self { gzip: -1, zstd: 3 }
    }
}

//! Packing records, streaming, into memory that is bounded.

mod sink;
mod snappy;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use zstd::stream::write::Encoder as ZstdEncoder;

use crate::{BatchError, Codec, Flaw, Levels};
use sink::Sink;
use snappy::Snappy;

/// Takes record bytes in and gives the body of a batch.
pub(crate) struct Packer {
    codec: Codec,
    bytes_max: usize,
    kind: Kind,
}

enum Kind {
    Count(usize),
    None(Sink),
    Gzip(Box<GzEncoder<Sink>>),
    Snappy(Box<Snappy>),
    Lz4(Box<FrameEncoder<Sink>>),
    Zstd(ZstdEncoder<'static, Sink>),
}

impl Packer {
    /// A packer whose output may have `bytes_max` bytes. `input_bytes` is the exact size of what
    /// will be written, where that is known: it keeps zstd's tables and window small, here and on
    /// readers.
    pub(crate) fn new(
        codec: Codec,
        levels: Levels,
        bytes_max: usize,
        input_bytes: Option<usize>,
    ) -> Result<Self, BatchError> {
        let sink = Sink::new(bytes_max);
        let kind = match codec {
            Codec::None => Kind::None(sink),
            Codec::Gzip => Kind::Gzip(Box::new(GzEncoder::new(sink, gzip_level(levels.gzip)))),
            Codec::Snappy => Kind::Snappy(Box::new(Snappy::new(sink))),
            Codec::Lz4 => Kind::Lz4(Box::new(FrameEncoder::with_frame_info(lz4_frame(), sink))),
            Codec::Zstd => {
                let encoder = zstd_encoder(sink, levels.zstd, input_bytes);
                Kind::Zstd(encoder.map_err(|error| failed(codec, bytes_max, &error))?)
            }
        };
        Ok(Self {
            codec,
            bytes_max,
            kind,
        })
    }

    /// A packer that only counts what it is given.
    pub(crate) const fn counter() -> Self {
        Self {
            codec: Codec::None,
            bytes_max: usize::MAX,
            kind: Kind::Count(0),
        }
    }

    /// What a counter was given.
    pub(crate) const fn counted(&self) -> Option<usize> {
        match self.kind {
            Kind::Count(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        let written = match &mut self.kind {
            Kind::Count(count) => {
                *count = count.saturating_add(bytes.len());
                Ok(())
            }
            Kind::None(sink) => sink.write_all(bytes),
            Kind::Gzip(encoder) => encoder.write_all(bytes),
            Kind::Snappy(encoder) => encoder.write_all(bytes),
            Kind::Lz4(encoder) => encoder.write_all(bytes),
            Kind::Zstd(encoder) => encoder.write_all(bytes),
        };
        written.map_err(|error| failed(self.codec, self.bytes_max, &error))
    }

    pub(crate) fn finish(self) -> Result<Vec<u8>, BatchError> {
        let sink = match self.kind {
            Kind::Count(_) => Ok(Sink::new(0)),
            Kind::None(sink) => Ok(sink),
            Kind::Gzip(encoder) => encoder.finish(),
            Kind::Snappy(encoder) => encoder.finish(),
            Kind::Lz4(encoder) => encoder.finish().map_err(io::Error::from),
            Kind::Zstd(encoder) => encoder.finish(),
        };
        sink.map(Sink::into_bytes)
            .map_err(|error| failed(self.codec, self.bytes_max, &error))
    }
}

fn gzip_level(level: i32) -> Compression {
    match u32::try_from(level) {
        Ok(level @ 1..=9) => Compression::new(level),
        _ => Compression::new(6),
    }
}

/// Kafka's reader knows only independent blocks; 64 KiB is what its writer uses.
fn lz4_frame() -> FrameInfo {
    FrameInfo::new()
        .block_mode(BlockMode::Independent)
        .block_size(BlockSize::Max64KB)
}

fn zstd_encoder(
    sink: Sink,
    level: i32,
    input_bytes: Option<usize>,
) -> io::Result<ZstdEncoder<'static, Sink>> {
    let known = zstd::compression_level_range();
    let mut encoder = ZstdEncoder::new(sink, level.clamp(*known.start(), *known.end()))?;
    encoder.set_pledged_src_size(input_bytes.map(|bytes| bytes as u64))?;
    Ok(encoder)
}

fn failed(codec: Codec, max_bytes: usize, error: &io::Error) -> BatchError {
    if error.kind() == io::ErrorKind::FileTooLarge {
        BatchError::TooLarge {
            bytes: max_bytes.saturating_add(1),
            max_bytes,
        }
    } else {
        BatchError::InvalidBatch(Flaw::Pack(codec))
    }
}

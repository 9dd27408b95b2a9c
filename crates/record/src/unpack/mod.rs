//! Unpacking records: in steps, within a bound, and never by what the data claims of itself.
//!
//! An [`Unpacker`] reads a body that is all there and gives its output step by step. A
//! [`Stream`] walks over that output without holding more of it than it must.

mod gzip;
mod lz4;
mod output;
mod snappy;
mod stream;
mod xxh32;
mod zstd;

use crate::{BatchError, Codec, Flaw};

pub(crate) use lz4::is_linked;
pub(crate) use output::Output;
pub(crate) use stream::{Stop, Stream};

/// One compressed body under way.
pub(crate) enum Unpacker<'a> {
    /// Not compressed: what is still to be given.
    Plain(&'a [u8]),
    Gzip(Box<gzip::Gzip<'a>>),
    Snappy(snappy::Snappy<'a>),
    Lz4(Box<lz4::Lz4<'a>>),
    Zstd(zstd::Zstd<'a>),
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(codec: Codec, body: &'a [u8]) -> Result<Self, BatchError> {
        Ok(match codec {
            Codec::None => Self::Plain(body),
            Codec::Gzip => Self::Gzip(Box::new(gzip::Gzip::new(body))),
            Codec::Snappy => Self::Snappy(snappy::Snappy::new(body)?),
            Codec::Lz4 => Self::Lz4(Box::new(lz4::Lz4::new(body)?)),
            Codec::Zstd => Self::Zstd(zstd::Zstd::new(body)?),
        })
    }

    /// Adds some bytes to `output`. 0 says that the body ended as it should, with nothing left.
    fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        match self {
            Self::Plain(rest) => plain(rest, output),
            Self::Gzip(gzip) => gzip.step(output),
            Self::Snappy(snappy) => snappy.step(output),
            Self::Lz4(lz4) => lz4.step(output),
            Self::Zstd(zstd) => zstd.step(output),
        }
    }
}

fn plain(rest: &mut &[u8], output: &mut Output) -> Result<usize, BatchError> {
    let count = types::limits::UNPACK_STEP_BYTES.min(rest.len());
    let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
    output.room(now.len()).copy_from_slice(now);
    *rest = later;
    output.filled(now.len())
}

/// Unpacks all of `body` into `scratch`, whose former content is lost.
pub(crate) fn unpack(
    codec: Codec,
    body: &[u8],
    bytes_max: usize,
    scratch: &mut Vec<u8>,
) -> Result<(), BatchError> {
    let mut unpacker = Unpacker::new(codec, body)?;
    let mut output = Output::over(std::mem::take(scratch), bytes_max);
    let mut outcome = Ok(1);
    while matches!(outcome, Ok(added) if added > 0) {
        outcome = unpacker.step(&mut output);
    }
    *scratch = output.into_bytes();
    outcome.map(|_| ())
}

/// What every unpacker says of data that is not what the codec writes.
const fn malformed(codec: Codec) -> BatchError {
    BatchError::InvalidBatch(Flaw::Unpack(codec))
}

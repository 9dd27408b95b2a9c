//! The payload of a swap entry: which segments took whose place.

use types::SegmentId;

use super::info::SegmentInfo;
use crate::decode::{Decoder, Malformed, put_varint};

/// Version of the encoding.
const VERSION: u8 = 1;
const SEALED: u8 = 1;
const DROPPED: u8 = 2;

/// What a swap entry decides. docs/formats/swap-entry.md tells the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwapEntry {
    /// A log file became a segment.
    Sealed(SegmentInfo),
    /// Nobody needs these segments any more.
    Dropped(Vec<SegmentId>),
}

impl SwapEntry {
    /// The entry in bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Sealed(info) => {
                let mut out = vec![VERSION, SEALED];
                info.encode_into(&mut out);
                out
            }
            Self::Dropped(ids) => {
                let mut out = vec![VERSION, DROPPED];
                put_varint(&mut out, ids.len() as u64);
                for id in ids {
                    out.extend_from_slice(&id.0.to_le_bytes());
                }
                out
            }
        }
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// When the bytes are not one, whole and alone.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Decoder::new(bytes);
        let fault = from.malformed("swap version");
        if from.u8("swap version")? != VERSION {
            return Err(fault);
        }
        let fault = from.malformed("swap kind");
        let entry = match from.u8("swap kind")? {
            SEALED => Self::Sealed(SegmentInfo::decode_from(&mut from)?),
            DROPPED => {
                let count = from.count(size_of::<u64>(), "dropped segments")?;
                let ids = (0..count).map(|_| from.u64("dropped segment").map(SegmentId));
                Self::Dropped(ids.collect::<Result<_, _>>()?)
            }
            _ => return Err(fault),
        };
        from.finish("end of swap")?;
        Ok(entry)
    }
}

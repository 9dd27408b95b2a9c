use std::fmt;

use bytes::Bytes;

use super::wire_type::wire_by_nullable;
use super::{Format, Malformed, Nullable, Reader, Wire, Writer};

/// Record batches of one partition in a Fetch response, as the pieces that they lie in: a batch
/// may be a patched header and an untouched body, and several batches follow each other.
#[derive(Clone, Default)]
pub struct Records(pub Vec<Bytes>);

impl Records {
    /// Bytes of all pieces together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }
}

impl From<Bytes> for Records {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() {
            Self::default()
        } else {
            Self(vec![bytes])
        }
    }
}

/// The same bytes are the same records, however they are cut into pieces.
impl PartialEq for Records {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.0.iter().flatten().eq(other.0.iter().flatten())
    }
}

impl Eq for Records {}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Records({} bytes in {} pieces)",
            self.len(),
            self.0.len()
        )
    }
}

impl Wire for Records {
    fn size_min(format: Format) -> usize {
        Bytes::size_min(format)
    }

    wire_by_nullable!();
}

impl Nullable for Records {
    fn decode_nullable(reader: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        Ok(reader.read_bytes()?.map(Self::from))
    }

    fn encode_nullable(value: Option<&Self>, writer: &mut Writer) {
        writer.put_length(value.map(Self::len));
        for piece in value.into_iter().flat_map(|records| &records.0) {
            writer.put_chunk(piece);
        }
    }
}

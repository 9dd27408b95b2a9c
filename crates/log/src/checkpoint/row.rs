//! Rows: what checkpoints consist of.

use types::LogIndex;

use crate::decode::{Decoder, Malformed, put_varint};

/// Kinds of rows. Their values are the business of whoever writes them; the numbers stand on
/// disk and are never reused.
pub mod kind {
    /// What the node knows of itself.
    pub const NODE: u8 = 1;
    /// A topic.
    pub const TOPIC: u8 = 2;
    /// A partition.
    pub const PARTITION: u8 = 3;
    /// A segment: its value is an encoded [`SegmentInfo`](crate::segment::SegmentInfo).
    pub const SEGMENT: u8 = 4;
    /// A live log file.
    pub const LIVE_FILE: u8 = 5;
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKey {
    /// A number.
    Number(u64),
    /// A name.
    Bytes(Vec<u8>),
}

/// A piece of state as it stood at an entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What kind of thing it is: one of [`kind`].
    pub kind: u8,
    /// Which one.
    pub key: RowKey,
    /// The last entry that the value holds; replay skips older ones for this row.
    pub index: LogIndex,
    /// The state.
    pub value: Vec<u8>,
}

impl Row {
    /// Appends the row with its length before it.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut head = Vec::with_capacity(32);
        head.push(self.kind);
        match &self.key {
            RowKey::Number(number) => {
                put_varint(&mut head, 0);
                put_varint(&mut head, *number);
            }
            RowKey::Bytes(bytes) => {
                put_varint(&mut head, bytes.len() as u64 + 1);
                head.extend_from_slice(bytes);
            }
        }
        put_varint(&mut head, self.index.0);
        put_varint(out, (head.len() + self.value.len()) as u64);
        out.extend_from_slice(&head);
        out.extend_from_slice(&self.value);
    }

    /// Reads a row from exactly its bytes, the length before it taken off.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Decoder::new(bytes);
        let kind = from.u8("row kind")?;
        let form = from.varint("row key")?;
        let key = match form.checked_sub(1) {
            None => RowKey::Number(from.varint("row key")?),
            Some(len) => {
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                RowKey::Bytes(from.take(len, "row key")?.to_vec())
            }
        };
        let index = LogIndex(from.varint("row index")?);
        let value = from.take(from.left(), "row value")?.to_vec();
        Ok(Self {
            kind,
            key,
            index,
            value,
        })
    }
}

/// Puts rows together that come in pieces: a row may go on in the next block.
#[derive(Debug, Default)]
pub(super) struct RowAssembler {
    bytes: Vec<u8>,
    taken: usize,
}

impl RowAssembler {
    pub(super) fn push(&mut self, content: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(content);
    }

    /// Whether a row has begun and not ended.
    pub(super) fn has_rest(&self) -> bool {
        self.taken < self.bytes.len()
    }

    /// The next row that is whole. The unfinished rest never grows beyond what was pushed, so a
    /// length that lies costs nothing.
    pub(super) fn next(&mut self) -> Result<Option<Row>, Malformed> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let mut from = Decoder::new(rest);
        let length = match from.varint("row length") {
            Ok(length) => length,
            // The length itself may go on in the next block.
            Err(_) if rest.len() < LENGTH_BYTES_MAX => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let fault = from.malformed("row length");
        let length = usize::try_from(length).map_err(|_| fault)?;
        if length > from.left() {
            return Ok(None);
        }
        let row = Row::decode(from.take(length, "row")?)?;
        self.taken += from.position();
        Ok(Some(row))
    }
}

/// Bytes of the longest length.
const LENGTH_BYTES_MAX: usize = 10;

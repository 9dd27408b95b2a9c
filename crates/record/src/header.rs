//! The 61 bytes at the front of a batch.

use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

use crate::cursor::Cursor;
use crate::{Attributes, BatchError, Corruption, crc32c, crc32c_combine};

/// Bytes before the first record.
pub const HEADER_BYTES: usize = 61;
/// Bytes that the length field does not count: base offset and the length itself.
pub(crate) const LENGTH_END: usize = 12;
/// Where the CRC's cover begins: at the attributes.
pub(crate) const CRC_END: usize = 21;
/// The only batch format there is since Kafka 0.11.
const MAGIC: i8 = 2;

/// The header of a batch; `docs/formats/record-batch.md` has its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record (of the first there was, should compaction have removed it).
    pub base_offset: Offset,
    /// Bytes that follow this field: the batch's size less 12.
    pub length: i32,
    /// Epoch of the leader that took the batch in.
    pub leader_epoch: LeaderEpoch,
    /// CRC-32C from the attributes to the end.
    pub crc: u32,
    /// Codec, timestamp type, transaction, control.
    pub attributes: Attributes,
    /// Offset of the last record, counted from the base.
    pub last_offset_delta: i32,
    /// What the records' timestamps count from.
    pub base_timestamp_ms: i64,
    /// The largest timestamp, or the append time of all.
    pub max_timestamp_ms: i64,
    /// The idempotent producer, or -1.
    pub producer_id: ProducerId,
    /// Its epoch, or -1.
    pub producer_epoch: ProducerEpoch,
    /// Sequence number of the first record, or -1.
    pub base_sequence: Sequence,
    /// Records in the batch.
    pub count: i32,
}

impl BatchHeader {
    /// Reads a header. What it says of the rest of the batch is not checked here, except that the
    /// length covers the header itself.
    ///
    /// # Errors
    /// [`BatchError::Corrupt`] when bytes are missing, the magic is not 2 or the length is too small.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        let short = Corruption::Truncated {
            have: bytes.len(),
            need: HEADER_BYTES,
        };
        let (header, magic) = Self::fields(bytes).ok_or(BatchError::Corrupt(short))?;
        if magic != MAGIC {
            return Err(BatchError::Corrupt(Corruption::Magic(magic)));
        }
        if header.total_bytes() < HEADER_BYTES {
            return Err(BatchError::Corrupt(Corruption::Length(header.length)));
        }
        Ok(header)
    }

    fn fields(bytes: &[u8]) -> Option<(Self, i8)> {
        let mut cursor = Cursor::new(bytes.get(..HEADER_BYTES)?);
        let base_offset = Offset(i64::from_be_bytes(cursor.array()?));
        let length = i32::from_be_bytes(cursor.array()?);
        let leader_epoch = LeaderEpoch(i32::from_be_bytes(cursor.array()?));
        let magic = i8::from_be_bytes(cursor.array()?);
        let header = Self {
            base_offset,
            length,
            leader_epoch,
            crc: u32::from_be_bytes(cursor.array()?),
            attributes: Attributes(i16::from_be_bytes(cursor.array()?)),
            last_offset_delta: i32::from_be_bytes(cursor.array()?),
            base_timestamp_ms: i64::from_be_bytes(cursor.array()?),
            max_timestamp_ms: i64::from_be_bytes(cursor.array()?),
            producer_id: ProducerId(i64::from_be_bytes(cursor.array()?)),
            producer_epoch: ProducerEpoch(i16::from_be_bytes(cursor.array()?)),
            base_sequence: Sequence(i32::from_be_bytes(cursor.array()?)),
            count: i32::from_be_bytes(cursor.array()?),
        };
        Some((header, magic))
    }

    /// The header's bytes, the CRC as the field has it.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut rest = bytes.as_mut_slice();
        put(&mut rest, self.base_offset.0.to_be_bytes());
        put(&mut rest, self.length.to_be_bytes());
        put(&mut rest, self.leader_epoch.0.to_be_bytes());
        put(&mut rest, MAGIC.to_be_bytes());
        put(&mut rest, self.crc.to_be_bytes());
        put(&mut rest, self.covered());
        bytes
    }

    /// The part of the header that the CRC covers.
    fn covered(&self) -> [u8; HEADER_BYTES - CRC_END] {
        let mut bytes = [0; HEADER_BYTES - CRC_END];
        let mut rest = bytes.as_mut_slice();
        put(&mut rest, self.attributes.0.to_be_bytes());
        put(&mut rest, self.last_offset_delta.to_be_bytes());
        put(&mut rest, self.base_timestamp_ms.to_be_bytes());
        put(&mut rest, self.max_timestamp_ms.to_be_bytes());
        put(&mut rest, self.producer_id.0.to_be_bytes());
        put(&mut rest, self.producer_epoch.0.to_be_bytes());
        put(&mut rest, self.base_sequence.0.to_be_bytes());
        put(&mut rest, self.count.to_be_bytes());
        bytes
    }

    /// The CRC that a batch with this header has, given the CRC of its body alone.
    #[must_use]
    pub fn crc_over(&self, body_crc: u32) -> u32 {
        let body_bytes = u64::try_from(self.body_bytes()).unwrap_or(u64::MAX);
        crc32c_combine(crc32c(&self.covered()), body_crc, body_bytes)
    }

    /// The length field of a batch whose body has `body_bytes`.
    pub(crate) fn length_with(body_bytes: usize) -> i32 {
        let counted = body_bytes.saturating_add(HEADER_BYTES - LENGTH_END);
        i32::try_from(counted).unwrap_or(i32::MAX)
    }

    /// Size of the whole batch as the length field says; 0 when that is negative.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        usize::try_from(self.length).map_or(0, |length| length.saturating_add(LENGTH_END))
    }

    /// Size of everything behind the header.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.total_bytes().saturating_sub(HEADER_BYTES)
    }

    /// Offset of the last record.
    #[must_use]
    pub const fn last_offset(&self) -> Offset {
        self.base_offset.plus(self.last_offset_delta as i64)
    }

    /// Offset that follows the batch.
    #[must_use]
    pub const fn next_offset(&self) -> Offset {
        self.last_offset().plus(1)
    }

    /// Sequence number of the last record; -1 when the batch has none.
    #[must_use]
    pub const fn last_sequence(&self) -> Sequence {
        if self.base_sequence.0 < 0 {
            self.base_sequence
        } else {
            self.base_sequence.plus(self.last_offset_delta)
        }
    }

    /// Whether an idempotent producer sent it.
    #[must_use]
    pub const fn has_producer(&self) -> bool {
        self.producer_id.0 > ProducerId::NONE.0
    }
}

/// Writes a field to the front of `rest` and moves on. The fields of both users fill their arrays
/// exactly, which a test holds byte by byte.
#[inline]
fn put<const N: usize>(rest: &mut &mut [u8], field: [u8; N]) {
    if let Some((front, behind)) = std::mem::take(rest).split_first_chunk_mut() {
        *front = field;
        *rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BatchHeader {
        BatchHeader {
            base_offset: Offset(0x0102_0304_0506_0708),
            length: 0x1112_1314,
            leader_epoch: LeaderEpoch(0x2122_2324),
            crc: 0x3132_3334,
            attributes: Attributes(0x4142),
            last_offset_delta: 0x5152_5354,
            base_timestamp_ms: 0x6162_6364_6566_6768,
            max_timestamp_ms: 0x7172_7374_7576_7778,
            producer_id: ProducerId(0x0a0b_0c0d_0e0f_1011),
            producer_epoch: ProducerEpoch(0x1213),
            base_sequence: Sequence(0x2a2b_2c2d),
            count: 0x3a3b_3c3d,
        }
    }

    #[test]
    fn every_field_has_its_place() {
        let bytes = sample().encode();
        let expected: [u8; HEADER_BYTES] = [
            1, 2, 3, 4, 5, 6, 7, 8, // base offset
            0x11, 0x12, 0x13, 0x14, // length
            0x21, 0x22, 0x23, 0x24, // leader epoch
            2,    // magic
            0x31, 0x32, 0x33, 0x34, // crc
            0x41, 0x42, // attributes
            0x51, 0x52, 0x53, 0x54, // last offset delta
            0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, // base timestamp
            0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, // max timestamp
            0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, // producer id
            0x12, 0x13, // producer epoch
            0x2a, 0x2b, 0x2c, 0x2d, // base sequence
            0x3a, 0x3b, 0x3c, 0x3d, // count
        ];
        assert_eq!(bytes, expected);
        assert_eq!(BatchHeader::parse(&bytes), Ok(sample()));
    }

    #[test]
    fn a_short_header_is_refused_at_every_length() {
        let bytes = sample().encode();
        for len in 0..HEADER_BYTES {
            let expected = Corruption::Truncated {
                have: len,
                need: HEADER_BYTES,
            };
            assert_eq!(
                BatchHeader::parse(&bytes[..len]),
                Err(BatchError::Corrupt(expected))
            );
        }
    }

    #[test]
    fn other_formats_and_lengths_below_the_header_are_refused() {
        for magic in [0, 1, 3, -1] {
            let mut bytes = sample().encode();
            bytes[16] = i8::to_be_bytes(magic)[0];
            let expected = Err(BatchError::Corrupt(Corruption::Magic(magic)));
            assert_eq!(BatchHeader::parse(&bytes), expected);
        }
        for length in [i32::MIN, -1, 0, 48] {
            let bytes = BatchHeader { length, ..sample() }.encode();
            let expected = Err(BatchError::Corrupt(Corruption::Length(length)));
            assert_eq!(BatchHeader::parse(&bytes), expected);
        }
        assert!(
            BatchHeader::parse(
                &BatchHeader {
                    length: 49,
                    ..sample()
                }
                .encode()
            )
            .is_ok()
        );
    }

    #[test]
    fn sequences_wrap_as_kip_98_says() {
        let header = BatchHeader {
            base_sequence: Sequence(i32::MAX - 1),
            last_offset_delta: 2,
            ..BatchHeader::default()
        };
        assert_eq!(header.last_sequence(), Sequence(0));
        let none = BatchHeader {
            base_sequence: Sequence(-1),
            ..header
        };
        assert_eq!(none.last_sequence(), Sequence(-1));
    }
}

//! Reading the records of a batch.

use types::limits;

use crate::cursor::Cursor;
use crate::unpack::unpack;
use crate::{BatchError, BatchHeader, Codec, Flaw, HEADER_BYTES, Record, RecordError, RecordFlaw};

/// The records of a batch, one after another. An error ends the iteration.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    header: BatchHeader,
    cursor: Cursor<'a>,
    index: i32,
    failed: bool,
}

impl<'a> Records<'a> {
    /// Starts reading the batch at the front of `batch`; what follows it is not looked at, nor is
    /// the CRC. Compressed records are unpacked into `scratch`, whose memory can be used again.
    ///
    /// # Errors
    /// As [`BatchHeader::parse`]; when bytes are missing, or the records cannot be unpacked within
    /// [`limits::UNPACKED_BATCH_BYTES_MAX`].
    pub fn read(batch: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<Self, BatchError> {
        Self::read_within(batch, scratch, limits::UNPACKED_BATCH_BYTES_MAX)
    }

    /// As [`Records::read`], with another bound on what the records may unpack to.
    ///
    /// # Errors
    /// As [`Records::read`].
    pub fn read_within(
        batch: &'a [u8],
        scratch: &'a mut Vec<u8>,
        unpacked_bytes_max: usize,
    ) -> Result<Self, BatchError> {
        let (header, body) = split(batch)?;
        let records = match known_codec(&header)? {
            Codec::None => body,
            // Compaction leaves batches without records to keep a producer's last sequence.
            _ if header.count == 0 => &[],
            codec => {
                unpack(codec, body, unpacked_bytes_max, scratch)?;
                scratch.as_slice()
            }
        };
        Ok(Self {
            header,
            cursor: Cursor::new(records),
            index: 0,
            failed: false,
        })
    }

    /// The header of the batch.
    #[must_use]
    pub const fn header(&self) -> &BatchHeader {
        &self.header
    }

    fn record(&mut self) -> Result<Record<'a>, BatchError> {
        let header = self.header;
        next_bytes(&mut self.cursor)
            .and_then(|bytes| Record::parse(bytes, &header))
            .map_err(|flaw| {
                BatchError::InvalidRecords(vec![RecordError {
                    index: self.index,
                    flaw,
                }])
            })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = if self.index < self.header.count {
            self.record()
        } else if self.cursor.rest().is_empty() {
            return None;
        } else {
            Err(BatchError::InvalidBatch(Flaw::BytesLeft))
        };
        self.index = self.index.saturating_add(1);
        self.failed = item.is_err();
        Some(item)
    }
}

/// The bytes of the next record, without its length.
#[inline]
pub(crate) fn next_bytes<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], RecordFlaw> {
    let len = cursor.varint().map_err(length_flaw)?;
    let len = usize::try_from(len).map_err(|_| RecordFlaw::NegativeLength)?;
    cursor.take(len).ok_or(RecordFlaw::Truncated)
}

pub(crate) fn length_flaw(bad: crate::varint::Bad) -> RecordFlaw {
    match bad {
        crate::varint::Bad::Truncated => RecordFlaw::Truncated,
        crate::varint::Bad::TooLong => RecordFlaw::Varint,
    }
}

/// Header and body of the batch at the front of `batch`.
pub(crate) fn split(batch: &[u8]) -> Result<(BatchHeader, &[u8]), BatchError> {
    let header = BatchHeader::parse(batch)?;
    let body = batch.get(HEADER_BYTES..header.total_bytes()).ok_or({
        let (have, need) = (batch.len(), header.total_bytes());
        BatchError::Corrupt(crate::Corruption::Truncated { have, need })
    })?;
    Ok((header, body))
}

pub(crate) fn known_codec(header: &BatchHeader) -> Result<Codec, BatchError> {
    let bits = header.attributes.codec_bits();
    Codec::from_bits(bits).ok_or(BatchError::InvalidBatch(Flaw::UnknownCodec(bits)))
}

//! The checks of a produced batch, outside in.

use bytes::Bytes;
use types::limits;

use crate::cursor::Cursor;
use crate::records::{known_codec, next_bytes, split};
use crate::repack::repack;
use crate::shape::walk;
use crate::unpack::{Stop, Stream, is_linked};
use crate::verdict::{Findings, Verdict};
use crate::{
    BatchError, BatchHeader, CheckedBatch, Codec, Corruption, Flaw, HEADER_BYTES, Rules,
    TimestampType, crc32c,
};

/// Reads the header of the one batch in `batch` and checks the CRC; the records stay unread.
///
/// # Errors
/// [`BatchError::Corrupt`], or [`Flaw::MoreThanOne`] when bytes follow the batch.
pub fn verify_crc(batch: &[u8]) -> Result<BatchHeader, BatchError> {
    let (header, body) = only(batch)?;
    fitting_crc(&header, body)?;
    Ok(header)
}

/// Checks in depth what a producer sent for one partition: exactly one batch that fulfils
/// `rules`, down to every record. Compressed records are unpacked in steps for that.
///
/// The body is kept byte for byte as a slice of `bytes`, with these exceptions, in which it is
/// packed anew: another codec is asked for; the records' own offsets are not `0..count`, as
/// some old clients send them; an LZ4 frame has linked blocks, which Kafka's reader refuses.
/// A wrong largest timestamp is put right in the header.
///
/// # Errors
/// Any [`BatchError`]; the first that is found, outside in.
pub fn check(bytes: &Bytes, rules: &Rules) -> Result<CheckedBatch, BatchError> {
    if bytes.is_empty() {
        return Err(BatchError::InvalidBatch(Flaw::Missing));
    }
    let (header, body) = only(bytes)?;
    if bytes.len() > rules.max_bytes {
        return Err(BatchError::TooLarge {
            bytes: bytes.len(),
            max_bytes: rules.max_bytes,
        });
    }
    let body_crc = fitting_crc(&header, body)?;
    check_header(&header)?;
    let codec = known_codec(&header)?;
    if codec == Codec::Zstd && !rules.zstd_allowed {
        return Err(BatchError::UnsupportedCodec(codec));
    }
    let findings = check_records(&header, codec, body, rules)?;
    let wanted = rules.codec.unwrap_or(codec);
    let repacked = if wanted != codec || !findings.offsets_dense || is_linked_lz4(codec, body) {
        Some(repack(&header, (codec, body), wanted, rules)?)
    } else {
        None
    };
    Ok(match repacked {
        Some(anew) => assemble(header, wanted, anew.into(), None, findings, rules),
        None => {
            let kept = bytes.slice(HEADER_BYTES..);
            assemble(header, codec, kept, Some(body_crc), findings, rules)
        }
    })
}

/// Header and body of a batch that nothing may follow.
fn only(batch: &[u8]) -> Result<(BatchHeader, &[u8]), BatchError> {
    let (header, body) = split(batch)?;
    match batch.len().saturating_sub(header.total_bytes()) {
        0 => Ok((header, body)),
        more => Err(BatchError::InvalidBatch(Flaw::MoreThanOne(more))),
    }
}

/// The CRC of the body alone, provided that the header's CRC fits.
fn fitting_crc(header: &BatchHeader, body: &[u8]) -> Result<u32, BatchError> {
    let body_crc = crc32c(body);
    let computed = header.crc_over(body_crc);
    if computed == header.crc {
        return Ok(body_crc);
    }
    Err(BatchError::Corrupt(Corruption::Crc {
        stored: header.crc,
        computed,
    }))
}

fn check_header(header: &BatchHeader) -> Result<(), BatchError> {
    let flaw = if header.base_offset.0 != 0 {
        Flaw::BaseOffset(header.base_offset.0)
    } else if header.count <= 0 || header.last_offset_delta != header.count - 1 {
        let (count, last_offset_delta) = (header.count, header.last_offset_delta);
        Flaw::Count {
            count,
            last_offset_delta,
        }
    } else if usize::try_from(header.count).is_ok_and(|n| n > limits::BATCH_RECORDS_MAX) {
        Flaw::TooManyRecords(header.count)
    } else if header.attributes.is_control() {
        Flaw::Control
    } else if header.attributes.has_delete_horizon() {
        Flaw::DeleteHorizon
    } else if let Some(flaw) = producer_flaw(header) {
        flaw
    } else if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
        return Err(BatchError::LogAppendTimeClaimed);
    } else {
        return Ok(());
    };
    Err(BatchError::InvalidBatch(flaw))
}

/// The reverse, a sequence number without a producer id, is no fault: kafkajs sends 0 with every
/// batch.
const fn producer_flaw(header: &BatchHeader) -> Option<Flaw> {
    let (epoch, sequence) = (header.producer_epoch.0, header.base_sequence.0);
    if header.has_producer() {
        if epoch < 0 || sequence < 0 {
            return Some(Flaw::Sequence {
                producer_id: header.producer_id.0,
                epoch,
                sequence,
            });
        }
    } else if header.attributes.is_transactional() {
        return Some(Flaw::TransactionalWithoutProducer);
    }
    None
}

fn is_linked_lz4(codec: Codec, body: &[u8]) -> bool {
    codec == Codec::Lz4 && is_linked(body)
}

fn check_records(
    header: &BatchHeader,
    codec: Codec,
    body: &[u8],
    rules: &Rules,
) -> Result<Findings, BatchError> {
    let mut verdict = Verdict::new(header, rules);
    let outcome = match codec {
        Codec::None => walk_all(body, &mut verdict),
        _ => {
            let mut stream = Stream::new(codec, body, rules.unpacked_bytes_max)?;
            walk_stream(&mut stream, &mut verdict)
        }
    };
    match outcome {
        Ok(()) => verdict.finish(),
        Err(Stop::Record(flaw)) => Err(verdict.broken(flaw)),
        Err(Stop::Batch(error)) => Err(error),
    }
}

/// I4: this is the hot path; it only moves through the bytes.
fn walk_all(body: &[u8], verdict: &mut Verdict<'_>) -> Result<(), Stop> {
    let mut cursor = Cursor::new(body);
    while verdict.wants_more() {
        let shape = walk(&mut Cursor::new(next_bytes(&mut cursor)?))?;
        verdict.record(shape)?;
    }
    if cursor.rest().is_empty() {
        Ok(())
    } else {
        Err(bytes_left())
    }
}

fn walk_stream(stream: &mut Stream<'_>, verdict: &mut Verdict<'_>) -> Result<(), Stop> {
    while verdict.wants_more() {
        let len = stream.record_len()?;
        let shape = stream.record(len)?;
        verdict.record(shape)?;
    }
    if stream.at_end()? {
        Ok(())
    } else {
        Err(bytes_left())
    }
}

const fn bytes_left() -> Stop {
    Stop::Batch(BatchError::InvalidBatch(Flaw::BytesLeft))
}

/// Puts the pieces together; `body_crc` is known unless the body is new.
fn assemble(
    header: BatchHeader,
    codec: Codec,
    body: Bytes,
    body_crc: Option<u32>,
    findings: Findings,
    rules: &Rules,
) -> CheckedBatch {
    let repacked = body_crc.is_none();
    let body_crc = body_crc.unwrap_or_else(|| crc32c(&body));
    let (max_timestamp_ms, max_timestamp_delta) = findings.max_timestamp;
    let mut header = BatchHeader {
        length: BatchHeader::length_with(body.len()),
        attributes: header.attributes.with_codec(codec),
        max_timestamp_ms,
        ..header
    };
    header.crc = header.crc_over(body_crc);
    let all_alike = rules.timestamp_type == TimestampType::LogAppendTime;
    let max_timestamp_delta = if all_alike { 0 } else { max_timestamp_delta };
    CheckedBatch {
        header,
        body,
        body_crc,
        max_timestamp_delta,
        repacked,
    }
}

//! Record batch v2: read, check, build, compress.
//!
//! The envelope of every record on disk and on Kafka's wire is a record batch, described byte by
//! byte in `docs/formats/record-batch.md`. This crate knows the batch and nothing else: no topics,
//! no files, no protocol requests. It owns no thread and keeps no state between calls.
//!
//! Invariants:
//! - **I1** every entry point is total: any bytes give a value or an error, never a panic.
//! - **I2** memory follows the bytes that arrived and the caller's bound, never a claimed size.
//! - **I3** a [`CheckedBatch`] holds what its header says: the CRC fits, the records are well
//!   formed, their count is the header's, their offsets are `0..count`.
//! - **I4** an uncompressed batch is checked by one pass over its bytes without allocating.
//!
//! ```
//! use millrace_record::{BatchBuilder, Codec, Records, Rules, check};
//! # fn main() -> Result<(), millrace_record::BatchError> {
//! let mut builder = BatchBuilder::new();
//! builder.append(1_000, Some(b"key"), Some(b"value"), &[(b"trace", None)])?;
//! let batch = builder.build(Codec::Lz4)?;
//! let checked = check(&batch, &Rules::at(1_000))?;
//! assert_eq!(checked.header.count, 1);
//! let mut scratch = Vec::new();
//! for record in Records::read(&batch, &mut scratch)? {
//!     assert_eq!(record?.key, Some(&b"key"[..]));
//! }
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]
#![deny(clippy::indexing_slicing)]

mod attributes;
mod builder;
mod check;
mod checked_batch;
mod codec;
mod crc;
mod cursor;
mod error;
mod header;
mod pack;
mod record;
mod records;
mod repack;
mod rules;
mod shape;
mod timestamps;
mod unpack;
mod varint;
mod verdict;

pub use attributes::{Attributes, TimestampType};
pub use builder::BatchBuilder;
pub use check::{check, verify_crc};
pub use checked_batch::CheckedBatch;
pub use codec::{Codec, Levels};
pub use crc::{crc32c, crc32c_append, crc32c_combine};
pub use error::{BatchError, Corruption, Flaw, RecordError, RecordFlaw};
pub use header::{BatchHeader, HEADER_BYTES};
pub use record::{Header, Headers, Record};
pub use records::Records;
pub use rules::Rules;
pub use timestamps::{offset_for_timestamp, offset_of_max_timestamp};

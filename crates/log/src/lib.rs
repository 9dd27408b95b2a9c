//! The storage engine: one commit log per node, its frames, files, segments, indexes, checkpoints
//! and recovery.
//!
//! It knows partitions only by number and offsets, and payloads only as bytes; what an entry means
//! is the business of the crate above. Rules are step machines without threads:
//! [`Writer`](file::Writer), [`SyncerMachine`], [`Sealer`](segment::Sealer) and the rest do one
//! bounded thing per call, so that a simulation drives on one thread what the broker drives on
//! several.
//!
//! Invariants:
//! - **I1** no block that holds confirmed bytes is ever written again.
//! - **I2** what survives a power cut is a prefix of the log that holds every synced frame.
//! - **I3** no frame goes into a file before the last frame of its predecessor is synced.
//! - **I4** after a failed sync nothing is written any more until the log is opened again.
//! - **I5** a file is freed only when neither kept checkpoint needs it and no reader holds it.
#![deny(missing_docs)]
#![deny(clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::indexing_slicing))]

pub mod background;
pub mod checkpoint;
mod commit_log;
mod data_dir;
mod decode;
mod entry;
mod error;
pub mod file;
mod fill;
pub mod frame;
pub mod index;
pub mod mutant;
pub mod read;
pub mod recovery;
pub mod segment;
mod tail;

pub use commit_log::{
    AssemblerMachine, CommitLog, HandOver, LogEvent, Progress, Queued, SyncerMachine, WhoWrites,
    WriterMachine, error_chain, spares_for_data,
};
pub use data_dir::{DataDir, FORMAT_VERSION};
pub use decode::Malformed;
pub use entry::{Entry, EntryHeader, Kind, Origin, Payload};
pub use error::{Corruption, Error};
pub use tail::Tail;

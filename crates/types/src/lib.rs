//! Words that every other crate shares: ids, offsets, epochs, limits, kinds of error, a pool of
//! buffers, and the traits through which time and chance come in.
//!
//! This crate knows nothing of disks, protocols or tasks, and stands on `std` alone.
//!
//! Invariants:
//! - **I1** numbers that mean different things have different types; two of them never compare.
//! - **I2** every bound of the product is named in [`limits`].
#![deny(missing_docs)]

mod buffer_pool;
mod clock;
mod error_kind;
mod ids;
pub mod limits;
mod random;

pub use buffer_pool::{BufferPool, PooledBuffer};
pub use clock::{Clock, ManualClock, SystemClock};
pub use error_kind::ErrorKind;
pub use ids::{
    FileEpoch, FileSequence, FrameNumber, LeaderEpoch, LogIndex, Offset, PartitionId,
    ProducerEpoch, ProducerId, SegmentId, Sequence, ShardId, Term, TopicId,
};
pub use random::{Random, SeededRandom, SystemRandom};

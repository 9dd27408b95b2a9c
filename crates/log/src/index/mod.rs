//! Where the batches of a partition are.

mod part;
mod partition;

pub use part::{BatchRef, LogPart, Run, SegmentPart};
pub use partition::{Dropped, PartitionIndex};

//! Reading the batches of a partition: from the tail in memory, the page cache, or the device.

mod batches;
mod reader;
mod windows;

pub use batches::{Batches, split};
pub use reader::{Mode, Outcome, Plan, Reader, Want};

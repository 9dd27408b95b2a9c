//! Reading the batches of a partition: from the tail in memory, the page cache, or the device.

mod batches;
mod position;
mod reader;
mod windows;

pub use batches::{Batches, split};
pub use position::LogPosition;
pub use reader::{Begin, Mode, Outcome, Plan, Reader, Want};

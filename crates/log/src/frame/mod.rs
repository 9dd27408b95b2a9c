//! Frames: one write of the log each. docs/formats/frame.md tells the bytes.

mod build;
mod format;
mod header;

pub use build::{Frame, FrameBuilder, LooseFrame, PlacedEntry};
pub(crate) use format::ZERO_BLOCK;
pub use format::{DESCRIPTOR_BYTES, EPOCH_AT, FIXED_BYTES, MAGIC, VERSION};
pub use header::{FrameFault, FrameHeader, PlacedHeader};

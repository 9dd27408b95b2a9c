//! Checkpoints: the state at a point of the log, as rows in checksummed blocks.
//! docs/formats/checkpoint.md tells the bytes.
//!
//! Rows are opaque here except for their envelope. The last two checkpoints are kept; one counts
//! once it has its name, and it gets that only when it is whole and synced.

mod block;
mod format;
mod header;
mod load;
mod names;
mod row;
mod writer;

pub use format::{MAGIC, VERSION};
pub use header::{CheckpointHeader, ReplayPosition, ShardStart};
pub use load::{Checkpoint, Loaded, Rows, parse_checkpoint};
pub(crate) use names::is_of_a_first_start;
pub use names::{FOLDER, checkpoint_path};
pub use row::{Row, RowKey, kind};
pub use writer::{CheckpointWriter, Finished};

#[cfg(test)]
mod tests;

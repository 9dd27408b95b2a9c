//! A disk in memory that loses, tears and fails, repeatably.
//!
//! The model, which is meant to be at least as bad as any real disk under a journaling file system:
//!
//! - **Contents.** Readers see every write at once, as through a page cache. The device holds what
//!   the last sync of the file covered. What came after is kept apart, change by change. A cut
//!   decides for each file by chance: nothing survives, everything, a prefix with its last write
//!   torn, any of the writes whole, or any of the sectors (512 bytes) of each write. So a sector may
//!   hold what it held at the sync or any later version, and two sectors of different ages may stand
//!   side by side, in any order.
//! - **Lengths and blocks.** Growth, truncation and reserved blocks survive as a prefix of what was
//!   done to the file since its sync; a truncation may meet older contents than it met in the cache.
//!   New bytes without surviving contents are zeros. A punched hole survives sector by sector, like
//!   a write.
//! - **Names.** Creating, renaming and removing are kept apart until the directory is synced; a cut
//!   keeps any of them, each whole, in their order; with one that takes a name it keeps those that
//!   freed the name before, so no file is lost that nobody removed or replaced. Contents and names
//!   are independent: a name may survive without its contents, and synced contents without the
//!   name are lost. Directories themselves are durable when made.
//! - **Failed syncs.** The changes read on as if clean, no later sync writes them, and the next cut
//!   takes them. Names of a failed directory sync: any part got there, the rest never will.
//! - **Failed writes and allocations** leave any part. Failed changes of names and lengths may have
//!   happened.
//! - **Room.** Blocks of 4 KiB are taken by writes and allocation, and given back by punching,
//!   truncating and removing; a removed file that is open holds its blocks.
//!
//! Every call has a running number, and the power can be cut before or after each. All chance comes
//! from one seed: the same calls on the same seed give the same bytes, errors and trace.

mod content_ops;
mod control;
mod disk;
mod file;
mod inode;
mod name_ops;
mod names;
mod pages;
mod power;
mod state;
mod survival;

pub use control::LabelGuard;
pub use disk::SimDisk;
pub use power::{CutPoint, When};

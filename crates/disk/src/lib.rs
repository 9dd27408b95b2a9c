//! Files and directories as a trait, the real disk behind it, and a simulated one that loses,
//! tears and fails.
//!
//! This crate knows nothing of what is stored. Everything above it reaches storage only through
//! [`Disk`] and [`File`], which is what lets power cuts be simulated.
//!
//! Invariants:
//! - **I1** what [`File::sync_data`] covered survives a power cut; nothing else is promised.
//! - **I2** a created, renamed or removed name survives a power cut once [`Disk::sync_dir`] of its
//!   directory returned.
//! - **I3** every error names the operation, the path and the position.
//!
//! There are four disks: [`RealDisk`] is the operating system's; [`SimDisk`] is in memory and
//! loses, tears and fails by a seed; [`RecordingDisk`] and [`FaultDisk`] stand around another one
//! and watch it or make it fail. None has threads; calls block.
//!
//! ```
//! use std::path::Path;
//!
//! # use millrace_disk as disk;
//! use disk::{Disk, SimDisk, read_whole, replace};
//!
//! # fn main() -> Result<(), disk::Error> {
//! let disk = SimDisk::new(1);
//! let dir = Path::new("/data");
//! disk.create_dir(dir)?;
//! replace(&disk, dir, "state", b"one")?;
//! disk.crash();
//! assert_eq!(read_whole(&disk, &dir.join("state"), 100)?, b"one");
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

mod boundary;
mod disk;
mod error;
mod fault;
mod hook;
mod memory;
mod operation;
mod pool;
mod real;
mod replace;
mod sim;
mod slabs;

pub use boundary::bytes_before_boundary;
pub use disk::{Disk, File, Lock, Space};
pub use error::{Error, Op};
pub use fault::{Fault, FaultKind};
pub use hook::{FaultDisk, FaultHook, Hook, HookedDisk, RecordHook, RecordingDisk};
pub use memory::zeros;
pub use operation::{Operation, Phase};
pub use pool::{DirectBuffer, DirectPool};
pub use real::RealDisk;
pub use replace::{REPLACE_SUFFIX, read_whole, replace};
pub use sim::{CutPoint, LabelGuard, SimDisk, When};
pub use slabs::Slabs;

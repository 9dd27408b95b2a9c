//! What was asked of a disk, as recorders and fault rules see it.

use std::path::Path;
use std::sync::Arc;

use crate::Op;

/// One call of [`Disk`](crate::Disk) or [`File`](crate::File).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Running number on its disk, from 1.
    pub number: u64,
    /// The call.
    pub op: Op,
    /// The file or directory; of a rename the old name.
    pub path: Arc<Path>,
    /// The new name, of a rename only.
    pub to: Option<Arc<Path>>,
    /// First byte that it is about, 0 where it has none. The new length of [`Op::SetLen`].
    pub position: u64,
    /// Bytes that it is about, 0 where it has none.
    pub len: u64,
    /// What the caller was doing, as it said by [`SimDisk::set_label`](crate::SimDisk::set_label);
    /// empty on other disks.
    pub label: &'static str,
}

/// When an observer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the call reaches the disk.
    Start,
    /// After it came back, with whether it succeeded.
    End(bool),
}

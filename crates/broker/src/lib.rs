//! Protocol-neutral services over the log: topics, partitions, producers, retention.
//!
//! Protocols hold a [`Broker`]: they propose through it and read through it, and know nothing of
//! files. Inside, one [`Owner`](owner::Owner) per node decides and applies; what protocols read is
//! applied state in [`Shared`]. Rules (metadata, producers, epochs, retention) are plain state
//! machines without I/O, clocks or randomness.
//!
//! Invariants:
//! - **I1** nothing is visible to a reader, and no change is confirmed, before its sync.
//! - **I2** apply looks at nothing but state and entry, so a replay ends where the first run did.
//! - **I3** decisions read the pending overlay over applied state, readers applied state only.
//! - **I4** an offset that a reader saw or a reply named never stands for other bytes.
//!
//! Threads (in [`shell`]): owner, writer, syncer, background; [`ReadPool`] waits for the device.

mod broker;
mod error;
mod fit;
mod holes;
mod inbox;
pub mod leader_epoch;
pub mod metadata;
mod off_the_runtime;
mod offsets;
mod open;
pub mod owner;
mod partition;
mod partition_row;
pub mod producer;
mod read_pool;
pub mod retention;
mod seat;
mod shared;
pub mod shell;
mod spans;
mod stamp;
mod stored;
#[cfg(test)]
mod test_node;
mod topic;
pub mod topic_config;

pub use broker::{Broker, BrokerParts, NodeInfo, ReadLimits};
pub use error::{AppendError, EntryTooLarge, FetchError, Stopped, TrimError};
pub use inbox::Inbox;
pub use log::Origin;
pub use log::read::{Batches, LogPosition};
pub use off_the_runtime::may_wait;
pub use offsets::{Found, OffsetQuery};
pub use open::{Machines, NodeConfig, open, open_dir};
pub use partition::{Partition, Waiter};
pub use partition_row::partition_log_start;
pub use read_pool::{Closed, ReadPool};
pub use shared::{DamagedPartition, Shared, StorageStats};
pub use spans::Spans;
pub use topic::Topic;

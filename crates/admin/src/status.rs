//! What a node says of itself.

use serde::{Deserialize, Serialize};

/// Where the answers come from. Called on the admin listener's tasks; must not block.
pub trait StatusSource: Send + Sync {
    /// The node as it is now.
    fn status(&self) -> Status;

    /// Whether clients are served and records can be produced.
    ///
    /// # Errors
    /// The reason why they are not, for people.
    fn ready(&self) -> Result<(), String>;
}

/// A node as `GET /api/v1/status` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the binary.
    pub version: String,
    /// Milliseconds since the process started.
    pub uptime_ms: u64,
    /// `node.id`.
    pub node_id: i32,
    /// Id that Kafka clients see as the cluster's.
    pub cluster_id: String,
    /// Whether clients are served and records can be produced.
    pub ready: bool,
    /// Why they are not.
    pub not_ready_reason: Option<String>,
    /// All listeners that are on.
    pub listeners: Vec<Listener>,
    /// `log.dirs`.
    pub data_dir: String,
    /// The commit log.
    pub log: LogStatus,
    /// Topics, internal ones included.
    pub topics_count: u64,
    /// Partitions of all topics.
    pub partitions_count: u64,
    /// Partitions that lost confirmed records and take no new ones.
    #[serde(default)]
    pub damaged_partitions_count: u64,
    /// What they lost, the first of them.
    #[serde(default)]
    pub damages: Vec<Damage>,
    /// Client connections that are open.
    pub connections_count: u64,
    /// Resident memory of the process.
    pub resident_bytes: u64,
    /// Memory held by the tail of the log.
    pub tail_bytes: u64,
    /// Memory held by requests under way.
    pub request_bytes: u64,
}

/// Confirmed records that cannot be read. Their partition takes records again once everything up
/// to `end_offset` is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Name of the topic.
    pub topic: String,
    /// Number of the partition in it.
    pub partition: i32,
    /// The first offset that is lost.
    pub first_offset: i64,
    /// The offset after the last one; of what lies between, some may be readable.
    pub end_offset: i64,
    /// What is damaged, and where.
    pub reason: String,
}

/// One listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// `kafka`, `admin`.
    pub name: String,
    /// The addresses that it is bound to.
    pub addresses: Vec<String>,
}

/// The commit log of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogStatus {
    /// Number of the last frame written.
    pub written_frame: u64,
    /// Number of the last frame synced.
    pub synced_frame: u64,
    /// Bytes of log that are not sealed yet.
    pub unsealed_bytes: u64,
    /// Log files that are live, unsealed.
    pub files_count: u64,
    /// Log files kept for reuse.
    pub spares_count: u64,
    /// Sealed segments.
    pub segments_count: u64,
    /// Bytes of sealed segments.
    pub segment_bytes: u64,
    /// The longest step of the owner so far, in microseconds.
    pub owner_step_max_us: u64,
    /// The most processor time that a step of the owner took, in microseconds.
    pub owner_step_busy_max_us: u64,
    /// Why nothing is accepted until a restart; none while all is well.
    pub poisoned_reason: Option<String>,
}

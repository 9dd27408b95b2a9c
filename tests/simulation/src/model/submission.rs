//! A batch that was sent.

use bytes::Bytes;
use types::PartitionId;

/// Number of a batch; its records carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubmissionId(pub u32);

/// A batch that was sent.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Where to.
    pub partition: PartitionId,
    /// Its records, as they must come back.
    pub body: Bytes,
    /// How many offsets it takes.
    pub count: i32,
    /// Producer and first sequence number, of an idempotent one.
    pub producer: Option<(i64, i32)>,
    /// The offset that a synced reply named or a reader saw it at.
    pub placed: Option<i64>,
    /// Its topic answers what is synced.
    pub sync: bool,
    /// It was refused: it is nowhere.
    pub refused: bool,
    /// Its client left before the answer: whether it was refused nobody knows.
    pub silent: bool,
    /// Wall time at which it was sent first.
    pub sent_ms: i64,
    /// End of the partition when it was sent.
    pub end_before: i64,
    /// Place in the order of its life, when it is alone in its request and of no producer.
    pub order: Option<(u64, usize)>,
}

//! What is known of a partition.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::SubmissionId;
use crate::ensure;
use crate::failure::Failure;

/// A batch whose place is settled for good.
#[derive(Clone, Debug)]
pub struct Known {
    /// The offset after it.
    pub end: i64,
    /// Which batch.
    pub submission: SubmissionId,
    /// All its bytes, once a reader saw them.
    pub bytes: Option<Bytes>,
}

/// What is known of a partition.
#[derive(Clone, Debug, Default)]
pub struct PartitionModel {
    /// The largest log start that was seen or confirmed.
    pub start: i64,
    /// The largest end that was seen.
    pub end: i64,
    /// The furthest trim that was asked for.
    pub trim_asked: i64,
    /// Batches by their first offsets.
    pub known: BTreeMap<i64, Known>,
}

impl PartitionModel {
    /// Notes a batch.
    ///
    /// # Errors
    /// When other bytes have one of its offsets.
    pub fn know(
        &mut self,
        base: i64,
        end: i64,
        submission: SubmissionId,
        bytes: Option<Bytes>,
    ) -> Result<(), Failure> {
        self.check(base, end, submission, bytes.as_ref())?;
        let known = self.known.entry(base).or_insert(Known {
            end,
            submission,
            bytes: None,
        });
        known.bytes = bytes.or(known.bytes.take());
        self.end = self.end.max(end);
        Ok(())
    }

    /// Whether a batch may stand at these offsets.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(
        &self,
        base: i64,
        end: i64,
        submission: SubmissionId,
        bytes: Option<&Bytes>,
    ) -> Result<(), Failure> {
        if let Some((other, known)) = self.known.range(..end).next_back() {
            let same = *other == base && known.submission == submission && known.end == end;
            ensure!(
                same || known.end <= base,
                "[{base}, {end}) holds {submission:?} where [{other}, {}) held {:?}",
                known.end,
                known.submission
            );
            if let (true, Some(bytes), Some(before)) = (same, bytes, &known.bytes) {
                ensure!(
                    bytes == before,
                    "the bytes of {submission:?} at {base} changed"
                );
            }
        }
        Ok(())
    }

    /// The log starts at `start`: what lies before it is forgotten.
    pub fn trimmed(&mut self, start: i64) {
        self.start = self.start.max(start);
        self.known.retain(|_, known| known.end > start);
    }
}

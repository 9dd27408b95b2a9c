//! The last batches of one producer in one partition.

use record::BatchHeader;
use smallvec::SmallVec;
use types::limits::PRODUCER_BATCHES_KEPT;
use types::{Offset, ProducerEpoch, Sequence};

use super::ProducerError;

/// What is kept of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeptBatch {
    pub(super) first: Sequence,
    pub(super) last: Sequence,
    pub(super) base_offset: Offset,
    pub(super) append_time_ms: i64,
}

impl KeptBatch {
    pub(super) fn new(header: &BatchHeader, base_offset: Offset, append_time_ms: i64) -> Self {
        let (first, last) = sequences(header);
        Self {
            first,
            last,
            base_offset,
            append_time_ms,
        }
    }

    /// Every record takes one offset and one sequence number.
    fn last_offset(&self) -> Offset {
        let distance = i64::from(self.last.0) - i64::from(self.first.0);
        let wrapped = if distance < 0 {
            distance + (1 << 31)
        } else {
            distance
        };
        self.base_offset.plus(wrapped)
    }
}

/// First and last sequence number of a batch.
fn sequences(header: &BatchHeader) -> (Sequence, Sequence) {
    let first = header.base_sequence;
    (first, first.plus(header.count.saturating_sub(1).max(0)))
}

/// The last batches of one producer in one partition; there is always one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batches {
    pub(super) epoch: ProducerEpoch,
    kept: SmallVec<[KeptBatch; PRODUCER_BATCHES_KEPT]>,
}

impl Batches {
    pub(super) fn new(epoch: ProducerEpoch, batch: KeptBatch) -> Self {
        Self {
            epoch,
            kept: SmallVec::from_iter([batch]),
        }
    }

    /// Batches from a checkpoint; `None` when there are none or more than are kept.
    pub(super) fn from_kept(
        epoch: ProducerEpoch,
        kept: impl ExactSizeIterator<Item = KeptBatch>,
    ) -> Option<Self> {
        let fits = (1..=PRODUCER_BATCHES_KEPT).contains(&kept.len());
        fits.then(|| Self {
            epoch,
            kept: kept.collect(),
        })
    }

    pub(super) fn kept(&self) -> &[KeptBatch] {
        &self.kept
    }

    fn newest(&self) -> Option<&KeptBatch> {
        self.kept.last()
    }

    pub(super) fn last_append_ms(&self) -> i64 {
        self.newest().map_or(i64::MIN, |batch| batch.append_time_ms)
    }

    fn last_offset(&self) -> Offset {
        self.newest().map_or(Offset(-1), KeptBatch::last_offset)
    }

    /// The kept batch that this one is a copy of, of those since the producer was last silent for
    /// so long that it counted as unknown.
    pub(super) fn original(&self, header: &BatchHeader, expiration_ms: i64) -> Option<&KeptBatch> {
        if header.producer_epoch != self.epoch {
            return None;
        }
        let (first, last) = sequences(header);
        let mut later_ms = self.last_append_ms();
        for batch in self.kept.iter().rev() {
            if later_ms.saturating_sub(batch.append_time_ms) > expiration_ms {
                break;
            }
            if batch.first == first && batch.last == last {
                return Some(batch);
            }
            later_ms = batch.append_time_ms;
        }
        None
    }

    /// Whether this batch may come next.
    pub(super) fn check_next(&self, header: &BatchHeader) -> Result<(), ProducerError> {
        let producer_id = header.producer_id;
        if header.producer_epoch < self.epoch {
            return Err(ProducerError::Epoch {
                producer_id,
                epoch: header.producer_epoch,
                current: self.epoch,
            });
        }
        let expected = self.expected(header.producer_epoch);
        if header.base_sequence == expected {
            return Ok(());
        }
        Err(ProducerError::OutOfOrder {
            producer_id,
            sequence: header.base_sequence,
            expected,
        })
    }

    /// What comes next in the same epoch; a new epoch begins at 0.
    fn expected(&self, epoch: ProducerEpoch) -> Sequence {
        let next = self
            .newest()
            .filter(|_| epoch == self.epoch)
            .map(|newest| newest.last.plus(1));
        next.unwrap_or_default()
    }

    /// Takes a batch that was decided. What does not continue these batches was decided as the
    /// first of a producer that had been forgotten: they no longer count.
    pub(super) fn push(&mut self, epoch: ProducerEpoch, batch: KeptBatch) {
        if batch.base_offset <= self.last_offset() {
            return;
        }
        if epoch != self.epoch || batch.first != self.expected(epoch) {
            self.kept.clear();
        }
        self.epoch = epoch;
        if self.kept.len() >= PRODUCER_BATCHES_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(batch);
    }
}

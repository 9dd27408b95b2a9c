//! What is decided of one producer and not applied.

use std::collections::VecDeque;

use types::{LogIndex, Offset, ProducerEpoch};

use super::batches::{Batches, KeptBatch};

/// What is decided of one producer and not applied.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The batches as they will be once everything is applied.
    pub(super) batches: Batches,
    /// Base offset and log index of each batch that is not applied, in order.
    queue: VecDeque<(Offset, LogIndex)>,
}

impl Pending {
    pub(super) fn new(batches: Batches) -> Self {
        Self {
            batches,
            queue: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, epoch: ProducerEpoch, batch: KeptBatch, index: LogIndex) {
        self.batches.push(epoch, batch);
        self.enqueue(batch.base_offset, index);
    }

    pub(super) fn enqueue(&mut self, base_offset: Offset, index: LogIndex) {
        self.queue.push_back((base_offset, index));
    }

    /// Drops what is applied; true when nothing is left.
    pub(super) fn applied(&mut self, base_offset: Offset) -> bool {
        while self
            .queue
            .front()
            .is_some_and(|(offset, _)| *offset <= base_offset)
        {
            self.queue.pop_front();
        }
        self.queue.is_empty()
    }

    /// Where in the log the batch at this offset stands, unless it is applied.
    pub(super) fn index_of(&self, base_offset: Offset) -> Option<LogIndex> {
        let at = self
            .queue
            .binary_search_by_key(&base_offset, |(offset, _)| *offset)
            .ok()?;
        self.queue.get(at).map(|(_, index)| *index)
    }
}

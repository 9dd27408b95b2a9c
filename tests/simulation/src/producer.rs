//! An idempotent producer, as clients implement it: a few batches in flight, sent again in order
//! until they are confirmed.

use std::collections::VecDeque;

use broker::AppendError;
use types::PartitionId;

use crate::ensure;
use crate::failure::Failure;
use crate::model::SubmissionId;

/// Batches that a producer has in flight; brokers know the last five.
const IN_FLIGHT_MAX: usize = 3;

/// An idempotent producer on one partition.
#[derive(Debug)]
pub struct Producer {
    /// Its id.
    pub id: i64,
    /// Where it sends to.
    pub partition: PartitionId,
    /// The sequence number of its next record.
    pub next_sequence: i32,
    /// What was confirmed may still be lost: the topic answers before its sync.
    pub is_async: bool,
    unconfirmed: VecDeque<SubmissionId>,
    /// Requests without an answer.
    waiting: usize,
    /// Something failed: what is not confirmed is sent again once all answers are there.
    broken: bool,
    last_confirmed: Option<SubmissionId>,
    /// Before anything of it was known, a batch was refused and a later one may have been taken: of
    /// an unknown producer any sequence number is the first.
    unordered: bool,
    /// It cannot go on under this id.
    pub finished: bool,
}

/// What a producer sends next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A new batch.
    New,
    /// These once more, in this order.
    Again(Vec<SubmissionId>),
    /// Nothing before answers come.
    Wait,
}

impl Producer {
    /// A producer that has sent nothing.
    #[must_use]
    pub const fn new(id: i64, partition: PartitionId, is_async: bool) -> Self {
        Self {
            id,
            partition,
            next_sequence: 0,
            is_async,
            unconfirmed: VecDeque::new(),
            waiting: 0,
            broken: false,
            last_confirmed: None,
            unordered: false,
            finished: false,
        }
    }

    /// What it sends next; `doubt` makes it send a copy of what was sent before.
    pub fn next(&mut self, doubt: bool) -> Next {
        if self.finished || (self.broken && self.waiting > 0) {
            return Next::Wait;
        }
        if self.broken {
            self.broken = false;
            return Next::Again(self.unconfirmed.iter().copied().collect());
        }
        if doubt {
            let copy = match self.unconfirmed.back() {
                Some(last) => Some(*last),
                None => self.last_confirmed,
            };
            return copy.map_or(Next::Wait, |id| Next::Again(vec![id]));
        }
        if self.unconfirmed.len() < IN_FLIGHT_MAX {
            Next::New
        } else {
            Next::Wait
        }
    }

    /// A batch went out.
    pub fn sent(&mut self, id: SubmissionId, count: i32) {
        self.waiting += 1;
        if !self.unconfirmed.contains(&id) && self.last_confirmed != Some(id) {
            self.unconfirmed.push_back(id);
            self.next_sequence += count;
        }
    }

    /// A batch was taken.
    pub fn taken(&mut self, id: SubmissionId) {
        self.waiting = self.waiting.saturating_sub(1);
        if self.unconfirmed.contains(&id) {
            self.unconfirmed.retain(|other| *other != id);
            self.last_confirmed = Some(id);
        }
    }

    /// A batch was not taken.
    ///
    /// # Errors
    /// When a sequence number was refused that is the next one.
    pub fn failed(&mut self, id: SubmissionId, error: &AppendError) -> Result<(), Failure> {
        self.waiting = self.waiting.saturating_sub(1);
        tracing::trace!(?id, %error, producer = self.id, "failed");
        if let AppendError::Producer(error) = error {
            let deserved = self.broken || self.is_async || self.unordered;
            ensure!(
                deserved,
                "{id:?} of producer {} is in order: {error}",
                self.id
            );
            self.finished |= self.is_async || self.unordered;
        }
        self.unordered |= *error == AppendError::Full && self.last_confirmed.is_none();
        self.finished |= matches!(error, AppendError::UnknownPartition);
        self.broken = true;
        Ok(())
    }

    /// The node is gone: no answer comes any more.
    pub const fn node_gone(&mut self) {
        self.waiting = 0;
        self.broken = true;
    }
}

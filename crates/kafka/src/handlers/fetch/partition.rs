//! One partition of a Fetch request.

use std::sync::Arc;

use broker::{Batches, FetchError, Partition, ReadLimits, Topic};
use types::{LeaderEpoch, Offset};

use super::unsigned;
use crate::error_code::{ToCode, for_version};
use crate::handlers::Call;
use crate::handlers::leader_epoch::check_leader_epoch;
use crate::wire::messages::{EpochEndOffset, FetchPartition, LeaderIdAndEpoch, PartitionData};
use crate::wire::{ApiKey, ErrorCode, Records};

/// Only records of finished transactions are wanted.
const READ_COMMITTED: i8 = 1;

/// A partition that is asked for.
#[derive(Debug)]
pub(super) struct Asked {
    number: i32,
    /// The partition, or why there is none.
    pub(super) partition: Result<Arc<Partition>, ErrorCode>,
    from: Offset,
    leader_epoch: i32,
    last_fetched_epoch: i32,
    bytes_max: usize,
}

/// What a look at a partition gave.
#[derive(Debug, Default)]
pub(super) struct Found {
    number: i32,
    error_code: ErrorCode,
    /// The end before the look.
    pub(super) seen_end: Offset,
    end: i64,
    log_start: i64,
    pub(super) records: Records,
    /// There are more records that could be read now.
    is_cut: bool,
    diverging: EpochEndOffset,
}

impl Asked {
    pub(super) fn new(topic: Result<&Topic, ErrorCode>, asked: &FetchPartition) -> Self {
        let partition = topic.and_then(|topic| {
            let partition = topic.partition(asked.partition).cloned();
            partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
        });
        Self {
            number: asked.partition,
            partition,
            from: Offset(asked.fetch_offset),
            leader_epoch: asked.current_leader_epoch,
            last_fetched_epoch: asked.last_fetched_epoch,
            bytes_max: unsigned(asked.partition_max_bytes),
        }
    }

    /// Bytes that the partition may give, one batch aside.
    pub(super) fn available_bytes(&self) -> usize {
        if self.has_more() { self.bytes_max } else { 0 }
    }

    /// Whether there are records to read.
    pub(super) fn has_more(&self) -> bool {
        self.partition.as_ref().is_ok_and(|of| of.end() > self.from)
    }

    /// Whether the partition is no longer as it was when its end was `seen_end`.
    pub(super) fn has_moved(&self, seen_end: Offset) -> bool {
        self.partition
            .as_ref()
            .is_ok_and(|of| of.end() > seen_end || of.is_deleted())
    }

    /// The partition and the first offset to read, if there are records to read.
    pub(super) fn begin(&self) -> Option<(&Partition, Offset)> {
        let partition = self.partition.as_ref().ok()?;
        self.has_more().then_some((partition.as_ref(), self.from))
    }

    /// Reads within `limits` and what the client allows.
    pub(super) async fn read(&self, call: &Call, limits: ReadLimits) -> Found {
        let mut found = Found {
            number: self.number,
            end: -1,
            log_start: -1,
            ..Found::default()
        };
        let partition = match &self.partition {
            Ok(partition) => partition,
            Err(code) => {
                found.error_code = *code;
                return found;
            }
        };
        found.seen_end = partition.end();
        let result = self.read_from(call, partition, limits).await;
        // After the read, so that no record lies behind the high watermark.
        found.end = partition.end().0;
        found.log_start = partition.log_start().0;
        match result {
            Ok(Read::Records(batches)) => {
                found.is_cut = batches.is_cut;
                found.records = Records(batches.pieces);
            }
            Ok(Read::Diverging(end)) => found.diverging = end,
            Err(code) => found.error_code = for_version(code, ApiKey::Fetch, call.version()),
        }
        found
    }

    async fn read_from(
        &self,
        call: &Call,
        partition: &Arc<Partition>,
        mut limits: ReadLimits,
    ) -> Result<Read, ErrorCode> {
        let broker = call.session.broker();
        let current = broker.shared().leader_epoch();
        check_leader_epoch(self.leader_epoch, current)?;
        if let Some(end) = self.divergence(partition, current) {
            return Ok(Read::Diverging(end));
        }
        limits.max_bytes = limits.max_bytes.min(self.bytes_max);
        let read = broker.read(partition, self.from, limits).await;
        let batches = read.map_err(|error| self.report(partition, &error))?;
        Ok(Read::Records(batches))
    }

    /// Where the client's log parts from ours, if it does (KIP-595).
    fn divergence(&self, partition: &Partition, current: LeaderEpoch) -> Option<EpochEndOffset> {
        if self.last_fetched_epoch < 0 {
            return None;
        }
        let last = LeaderEpoch(self.last_fetched_epoch);
        let (epoch, end) = partition.epoch_end(last, current)?;
        let parts = epoch < last || end < self.from;
        parts.then_some(EpochEndOffset {
            epoch: epoch.0,
            end_offset: end.0,
        })
    }

    fn report(&self, partition: &Partition, error: &FetchError) -> ErrorCode {
        if let FetchError::Storage(cause) = error {
            let (partition, offset) = (partition.id, self.from);
            tracing::error!(%partition, %offset, error = %cause, "records cannot be read");
        }
        error.code()
    }
}

enum Read {
    Records(Batches),
    Diverging(EpochEndOffset),
}

impl Found {
    /// Whether waiting would not help: it says something other than records, or not all of them.
    pub(super) fn is_final(&self) -> bool {
        self.is_cut || !self.error_code.is_none() || self.diverging != EpochEndOffset::default()
    }

    /// The partition as the answer has it.
    pub(super) fn into_data(
        self,
        call: &Call,
        leader_epoch: LeaderEpoch,
        isolation_level: i8,
    ) -> PartitionData {
        let names_leader = matches!(
            self.error_code,
            ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::FENCED_LEADER_EPOCH
        );
        let leader = LeaderIdAndEpoch {
            leader_id: call.session.broker().info().node_id,
            leader_epoch: leader_epoch.0,
        };
        PartitionData {
            partition_index: self.number,
            error_code: self.error_code,
            high_watermark: self.end,
            // Nothing is held back while there are no transactions.
            last_stable_offset: self.end,
            log_start_offset: self.log_start,
            // There are none; who reads all records is not told.
            aborted_transactions: (isolation_level == READ_COMMITTED).then(Vec::new),
            records: Some(self.records),
            diverging_epoch: self.diverging,
            current_leader: if names_leader {
                leader
            } else {
                LeaderIdAndEpoch::default()
            },
            ..PartitionData::default()
        }
    }
}

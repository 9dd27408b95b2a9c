//! What a check makes of the records, one by one.

use types::limits;

use crate::record::timestamp_of;
use crate::shape::RecordShape;
use crate::{BatchError, BatchHeader, RecordError, RecordFlaw, Rules, TimestampType};

/// What a producer sends for "no time".
const NO_TIMESTAMP: i64 = -1;

/// Gathers the findings of a walk through a batch.
#[derive(Debug)]
pub(crate) struct Verdict<'r> {
    rules: &'r Rules,
    header: BatchHeader,
    earliest_ms: i64,
    latest_ms: i64,
    index: i32,
    max_timestamp: Option<(i64, i32)>,
    offsets_dense: bool,
    wrong_times: bool,
    errors: Vec<RecordError>,
}

/// What the walk found where nothing was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The largest timestamp and the offset delta of the first record that has it.
    pub(crate) max_timestamp: (i64, i32),
    /// Whether the records' own offsets are `0..count`.
    pub(crate) offsets_dense: bool,
}

impl<'r> Verdict<'r> {
    pub(crate) fn new(header: &BatchHeader, rules: &'r Rules) -> Self {
        let bounded = rules.timestamp_type == TimestampType::CreateTime;
        Self {
            rules,
            header: *header,
            earliest_ms: if bounded {
                rules.now_ms.saturating_sub(rules.before_max_ms)
            } else {
                i64::MIN
            },
            latest_ms: if bounded {
                rules.now_ms.saturating_add(rules.after_max_ms)
            } else {
                i64::MAX
            },
            index: 0,
            max_timestamp: None,
            offsets_dense: true,
            wrong_times: false,
            errors: Vec::new(),
        }
    }

    /// Whether a record is still due.
    #[inline]
    pub(crate) const fn wants_more(&self) -> bool {
        self.index < self.header.count
    }

    /// Takes in the next record. An error says that the rest cannot be read.
    #[inline]
    pub(crate) fn record(&mut self, shape: RecordShape) -> Result<(), RecordFlaw> {
        let timestamp_ms = timestamp_of(&self.header, shape.timestamp_delta)?;
        if self.max_timestamp.is_none_or(|(max, _)| timestamp_ms > max) {
            self.max_timestamp = Some((timestamp_ms, self.index));
        }
        self.offsets_dense &= shape.offset_delta == self.index;
        if !shape.has_key && self.rules.keys_required {
            self.note(RecordFlaw::NullKey);
        }
        let in_range = self.earliest_ms <= timestamp_ms && timestamp_ms <= self.latest_ms;
        if !in_range && timestamp_ms != NO_TIMESTAMP {
            self.wrong_times = true;
            let (min_ms, max_ms) = (self.earliest_ms, self.latest_ms);
            self.note(RecordFlaw::TimestampOutOfRange {
                timestamp_ms,
                min_ms,
                max_ms,
            });
        }
        self.index = self.index.saturating_add(1);
        Ok(())
    }

    #[cold]
    fn note(&mut self, flaw: RecordFlaw) {
        if self.errors.len() < limits::RECORD_ERRORS_MAX {
            self.errors.push(RecordError {
                index: self.index,
                flaw,
            });
        }
    }

    /// The error for a record that cannot be read at all: what was found before is of no use to
    /// a producer whose batch is broken.
    #[cold]
    pub(crate) fn broken(&self, flaw: RecordFlaw) -> BatchError {
        BatchError::InvalidRecords(vec![RecordError {
            index: self.index,
            flaw,
        }])
    }

    /// The end of the walk: wrong times weigh more than missing keys, as in Kafka.
    pub(crate) fn finish(self) -> Result<Findings, BatchError> {
        if self.wrong_times {
            return Err(BatchError::InvalidTimestamp(self.errors));
        }
        if !self.errors.is_empty() {
            return Err(BatchError::InvalidRecords(self.errors));
        }
        let max_timestamp = self.max_timestamp.unwrap_or((NO_TIMESTAMP, 0));
        Ok(Findings {
            max_timestamp,
            offsets_dense: self.offsets_dense,
        })
    }
}

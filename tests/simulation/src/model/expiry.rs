//! Which records may be gone by themselves.

use std::collections::BTreeMap;

use record::HEADER_BYTES;

use super::{Model, PartitionModel};
use crate::ensure;
use crate::failure::Failure;
use crate::seen::{Seen, SeenPartition};

/// The shortest retention that a topic ever had or was to have: what is younger and less than this
/// stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    time_ms: Option<i64>,
    bytes: Option<u64>,
}

/// Log starts that moved by themselves and could be judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExpiriesJudged {
    /// By the age of the last record that went.
    pub by_time: u64,
    /// By the size of what is left.
    pub by_size: u64,
}

impl ExpiriesJudged {
    /// Adds others.
    pub const fn add(&mut self, other: Self) {
        self.by_time += other.by_time;
        self.by_size += other.by_size;
    }
}

impl Retention {
    /// Notes settings that are in force or may come into it.
    pub fn note<'a>(&mut self, settings: impl Iterator<Item = (&'a String, &'a String)>) {
        for (name, value) in settings {
            match name.as_str() {
                "retention.ms" => lower(&mut self.time_ms, value),
                "retention.bytes" => lower(&mut self.bytes, value),
                _ => {}
            }
        }
    }
}

/// A value of -1 stands for ever.
fn lower<T: TryFrom<i64> + Ord + Copy>(least: &mut Option<T>, value: &str) {
    let value = value.parse::<i64>().ok().filter(|value| *value >= 0);
    if let Some(value) = value.and_then(|value| T::try_from(value).ok()) {
        *least = Some(least.map_or(value, |least| least.min(value)));
    }
}

impl Model {
    /// Whether the log may start where it is seen to.
    ///
    /// # Errors
    /// When more is gone than was to be trimmed, and it was neither old enough, nor is enough left.
    pub(super) fn check_start(
        &self,
        retention: Retention,
        known: &PartitionModel,
        seen: &SeenPartition,
    ) -> Result<ExpiriesJudged, Failure> {
        let (id, start) = (seen.id, seen.start);
        let asked = known.start.max(known.trim_asked);
        let mut judged = ExpiriesJudged::default();
        if start <= asked {
            return Ok(judged);
        }
        let old = retention.time_ms.map(|least_ms| {
            let age = self.age_of_last(known, asked, start);
            judged.by_time += u64::from(age.is_some());
            age.is_none_or(|age_ms| age_ms > least_ms)
        });
        let enough = retention.bytes.map(|least| {
            let left = self.bytes_between(known, start, seen.end);
            judged.by_size += u64::from(left.is_some());
            left.is_none_or(|left| left >= least)
        });
        ensure!(
            old == Some(true) || enough == Some(true),
            "partition {id} starts at {start}, not {asked}: old enough {old:?}, enough left \
             {enough:?} by {retention:?}"
        );
        Ok(judged)
    }

    /// Counts the log starts that moved by themselves since the last look.
    pub(super) fn count_expiries(&mut self, seen: &Seen) -> Result<(), Failure> {
        for (id, topic) in &seen.topics {
            let Some(retention) = self.topics.get(id).map(|known| known.retention) else {
                continue;
            };
            for seen in &topic.partitions {
                if let Some(known) = self.partitions.get(&seen.id) {
                    let judged = self.check_start(retention, known, seen)?;
                    self.expiries.add(judged);
                }
            }
        }
        Ok(())
    }

    /// How old the last batch in a stretch is at least, as far as the clock can be trusted.
    fn age_of_last(&self, known: &PartitionModel, from: i64, to: i64) -> Option<i64> {
        let (_, last) = known.known.range(from..to).next_back()?;
        let sent = self.submission(last.submission)?;
        (!self.clock_was_set).then(|| self.now_ms - sent.sent_ms)
    }

    /// The size of all batches in a stretch, if all are known.
    fn bytes_between(&self, known: &PartitionModel, from: i64, to: i64) -> Option<u64> {
        let (mut next, mut bytes) = (from, 0);
        let batches: &BTreeMap<_, _> = &known.known;
        for (base, batch) in batches.range(from..to) {
            if *base != next {
                return None;
            }
            let body = &self.submission(batch.submission)?.body;
            bytes += u64::try_from(HEADER_BYTES + body.len()).ok()?;
            next = batch.end;
        }
        (next == to).then_some(bytes)
    }
}

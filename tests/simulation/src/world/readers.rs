//! Readers: random reads, some of which take their time.

use std::sync::Arc;

use broker::Partition;
use bytes::Bytes;
use log::read::{Mode, Outcome, Plan, split};
use types::{Offset, Random};

use super::World;
use crate::ensure;
use crate::failure::Failure;
use crate::seen::{SeenBatch, chain, parse, read_once};
use crate::setup::pick;

/// A read that is planned and not carried out: a reader between two steps.
#[derive(Debug)]
pub(crate) struct Held {
    partition: Arc<Partition>,
    from: Offset,
    plan: Plan,
    /// What stood there when it was planned.
    bytes: Bytes,
    /// It is not carried out soon: what it reads may die and be gone over meanwhile.
    slow: bool,
}

/// Readers that may hold a plan at once.
const HELD_MAX: usize = 8;

/// A slow one is passed over so many times.
const SLOWNESS: u64 = 20;

impl Held {
    /// Whoever holds a plan reads what was there, or zeros where it was trimmed and punched out; never
    /// something else.
    fn check_same(&self, now: &Bytes) -> Result<(), Failure> {
        if now.is_empty() || self.bytes.is_empty() {
            return Ok(());
        }
        // With a header punched out, what is cut out of a segment may begin with another batch; where
        // a device failed before, it may go on further now.
        let same = |(now, before): (&u8, &u8)| now == before || *now == 0;
        let mut begin = 0;
        let mut is_same = false;
        for (_, batch) in split(&self.bytes).map_err(|error| Failure(chain(&error)))? {
            let before = self.bytes.get(begin..).unwrap_or_default();
            is_same |= now.iter().zip(before).all(same);
            begin += batch.len();
        }
        let (partition, from) = (self.partition.id, self.from);
        ensure!(
            is_same,
            "bytes were reused under a reader of {from} in partition {partition}"
        );
        Ok(())
    }
}

impl World {
    pub(super) fn step_reader(&mut self) -> Result<(), Failure> {
        if !self.held.is_empty() && self.random.chance(1, 6) {
            let at = pick(&mut self.random, self.held.len());
            let is_slow = self.held.get(at).is_some_and(|held| held.slow);
            if is_slow && !self.random.chance(1, SLOWNESS) {
                return Ok(());
            }
            let held = self.held.swap_remove(at);
            return self.carry_out(&held);
        }
        let Some((partition, from, max_bytes)) = self.choose_read() else {
            return Ok(());
        };
        let Some(node) = &self.node else {
            return Ok(());
        };
        self.label("reader");
        if self.held.len() < HELD_MAX && self.random.chance(1, 3) {
            if let Ok(Some(plan)) = partition.plan(from, max_bytes, true)
                && let Ok(outcome) = node.reader.carry_out(&plan, Mode::Blocking)
            {
                let bytes = outcome.into_batches().concat();
                let slow = self.random.chance(1, 2);
                self.held.push(Held {
                    partition,
                    from,
                    plan,
                    bytes,
                    slow,
                });
            }
            return Ok(());
        }
        if self.random.chance(1, 4) {
            return self.read_cached(&partition, from, max_bytes);
        }
        let Some(node) = &self.node else {
            return Ok(());
        };
        self.summary.reads += 1;
        match read_once(&node.reader, &partition, from, max_bytes) {
            Ok(batches) => self.saw(&partition, &batches),
            Err(_) if self.faulty || self.disk.is_off() => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// A read that must not wait for the device: it gives less, or nothing, but no gap.
    fn read_cached(
        &mut self,
        partition: &Arc<Partition>,
        from: Offset,
        max_bytes: usize,
    ) -> Result<(), Failure> {
        self.disk.set_uncached_eighths(4);
        let Some(node) = &self.node else {
            return Ok(());
        };
        let Ok(Some(plan)) = partition.plan(from, max_bytes, true) else {
            return Ok(());
        };
        let outcome = node.reader.carry_out(&plan, Mode::Cached);
        if let Ok(Outcome::Batches(batches)) = outcome {
            let batches = parse(&batches.concat(), from.0)?;
            self.saw(partition, &batches)?;
        }
        Ok(())
    }

    /// Whoever still holds a plan carries it out, before the node goes.
    pub(super) fn end_readers(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        held.iter().try_for_each(|held| self.carry_out(held))
    }

    fn choose_read(&mut self) -> Option<(Arc<Partition>, Offset, usize)> {
        let node = self.node.as_ref()?;
        let topics = node.shared.topics();
        let topic = topics.get(pick(&mut self.random, topics.len()))?;
        let at = pick(&mut self.random, topic.partitions.len());
        let partition = Arc::clone(topic.partitions.get(at)?);
        let (start, end) = (partition.log_start().0, partition.end().0);
        let span = u64::try_from(end - start).unwrap_or(0);
        let from = start + i64::try_from(self.random.below(span + 1)).unwrap_or(0);
        let max_bytes = [0, 300, 5_000, 50_000][pick(&mut self.random, 4)];
        Some((partition, Offset(from), max_bytes))
    }

    /// A reader that took its time reads at last. What it gets counts unless it was trimmed.
    fn carry_out(&mut self, held: &Held) -> Result<(), Failure> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        self.label("reader");
        self.summary.held_reads += 1;
        let result = node.reader.carry_out(&held.plan, Mode::Blocking);
        if let Ok(Outcome::Batches(batches)) = &result {
            held.check_same(&batches.concat())?;
        }
        if held.partition.check_readable(held.from).is_err() {
            return Ok(());
        }
        let (id, from) = (held.partition.id, held.from);
        match result {
            Ok(outcome) => {
                let bytes = outcome.into_batches().concat();
                let batches = parse(&bytes, from.0).map_err(|Failure(text)| {
                    Failure(format!("a reader held {from} of partition {id}: {text}"))
                })?;
                self.saw(&held.partition, &batches)
            }
            Err(_) if self.faulty || self.disk.is_off() => Ok(()),
            Err(error) => Err(Failure(format!(
                "holding {from} of {id}: {}",
                chain(&error)
            ))),
        }
    }

    fn saw(&mut self, partition: &Partition, batches: &[SeenBatch]) -> Result<(), Failure> {
        if !self.model.partitions.contains_key(&partition.id) {
            return Ok(());
        }
        let ends = (
            batches.first().map(SeenBatch::base),
            batches.last().map(SeenBatch::end),
        );
        let (start, end) = (partition.log_start().0, partition.end().0);
        tracing::trace!(partition = partition.id.0, ?ends, start, end, "read");
        self.model.check_batches(partition.id, batches)?;
        batches
            .iter()
            .try_for_each(|batch| self.model.adopt_batch(partition.id, batch))
    }
}

//! Filling spares with zeros: a sync of blocks that were written before has no file metadata to
//! write.

use std::time::Duration;

use bytes::Bytes;
use types::limits::{FILL_PAUSE_BYTES_PER_S, FILL_SAMPLE_MS, FILL_STEP_BYTES, SPARES_WANTED};

use crate::commit_log::CommitLog;
use crate::error::Error;
use crate::file::{HEADER_BYTES, Spare};

const SAMPLE: Duration = Duration::from_millis(FILL_SAMPLE_MS);

/// Fills one spare at a time, in small steps, at most twice as fast as the log grows and not at all
/// while it grows fast: the device is the log's first.
#[derive(Debug)]
pub(crate) struct Filler {
    filling: Option<Filling>,
    /// What is written in one step.
    zeros: Bytes,
    /// Bytes that may be filled: twice the log that was written meanwhile.
    budget_bytes: u64,
    /// Bytes of the log that are counted in the budget.
    counted_bytes: u64,
    /// When the growth of the log was last judged, and where it was.
    sampled: (Duration, u64),
    is_fast: bool,
}

#[derive(Debug)]
struct Filling {
    spare: Spare,
    next: u64,
}

impl Filler {
    /// Fills spares of so many bytes; larger ones in more steps.
    pub(crate) fn new(file_bytes: u64) -> Self {
        let step = usize::try_from(FILL_STEP_BYTES.min(file_bytes)).unwrap_or(usize::MAX);
        Self {
            filling: None,
            zeros: disk::zeros(step),
            budget_bytes: 0,
            counted_bytes: 0,
            sampled: (Duration::ZERO, 0),
            is_fast: false,
        }
    }

    /// Whether it holds a spare that the log does not count.
    pub(crate) const fn has_spare(&self) -> bool {
        self.filling.is_some()
    }

    /// Counts what the log wrote; true when a step may be done.
    pub(crate) fn is_due(&mut self, log: &CommitLog, now: Duration) -> bool {
        self.count(log.written_bytes(), now);
        let has_target = self.has_spare() || log.spare_count() >= SPARES_WANTED;
        let has_budget = self.budget_bytes >= FILL_STEP_BYTES || self.is_at_end();
        !self.is_fast && has_target && has_budget && (self.has_spare() || log.has_unfilled_spare())
    }

    /// Turns what the log wrote so far into budget; a log that grows fast leaves none.
    fn count(&mut self, written: u64, now: Duration) {
        self.judge(written, now);
        let grown = written.saturating_sub(self.counted_bytes);
        self.counted_bytes = written;
        self.budget_bytes = if self.is_fast {
            0
        } else {
            self.budget_bytes.saturating_add(2 * grown)
        };
    }

    fn judge(&mut self, written: u64, now: Duration) {
        let (at, before) = self.sampled;
        let passed = now.saturating_sub(at);
        if passed >= SAMPLE {
            let passed_ms = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
            let per_s = written.saturating_sub(before).saturating_mul(1000) / passed_ms.max(1);
            self.is_fast = per_s > FILL_PAUSE_BYTES_PER_S;
            self.sampled = (now, written);
        }
    }

    fn is_at_end(&self) -> bool {
        let filling = self.filling.as_ref();
        filling.is_some_and(|filling| filling.next >= filling.spare.file_bytes)
    }

    /// Gives the log the spare that is being filled as it is; false where there is none.
    pub(crate) fn give_back(&mut self, log: &CommitLog) -> bool {
        let given = self.filling.take();
        given.map(|filling| log.add_spare(filling.spare)).is_some()
    }

    /// Takes a spare, writes zeros into it, or gives it back filled.
    ///
    /// # Errors
    /// Those of the device; the spare is no spare any more then: it is given with the error.
    pub(crate) fn step(&mut self, log: &CommitLog) -> Result<(), Box<(Error, Spare)>> {
        let Some(mut filling) = self.filling.take().or_else(|| begin(log)) else {
            return Ok(());
        };
        let left = filling.spare.file_bytes.saturating_sub(filling.next);
        let len = left.min(self.zeros.len() as u64);
        let file = &filling.spare.file;
        let done = if len == 0 {
            file.sync_data()
        } else {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            file.write_direct_at(self.zeros.get(..len).unwrap_or_default(), filling.next)
        };
        if let Err(error) = done {
            return Err(Box::new((error.into(), filling.spare)));
        }
        filling.next += len;
        self.budget_bytes = self.budget_bytes.saturating_sub(len);
        if len == 0 {
            filling.spare.filled = true;
            log.add_spare(filling.spare);
        } else {
            self.filling = Some(filling);
        }
        Ok(())
    }
}

fn begin(log: &CommitLog) -> Option<Filling> {
    let spare = log.take_unfilled_spare()?;
    Some(Filling {
        spare,
        next: HEADER_BYTES,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_what_a_slow_log_writes_may_be_filled_and_nothing_beside_a_fast_one() {
        let mut filler = Filler::new(FILL_STEP_BYTES);
        let slow = FILL_PAUSE_BYTES_PER_S / 4;
        let fast = FILL_PAUSE_BYTES_PER_S * 2;
        filler.count(slow, Duration::from_secs(1));
        assert_eq!(filler.budget_bytes, 2 * slow);
        filler.count(slow + fast, Duration::from_secs(2));
        assert_eq!(filler.budget_bytes, 0);
        filler.count(slow + fast + 10, Duration::from_secs(3));
        assert_eq!(filler.budget_bytes, 20);
    }
}

//! How fast a large frame has to come.

use tokio::time::{Duration, Instant};
use types::limits::KAFKA_LARGE_FRAME_PARTS;

/// The pace of a frame that holds a share of the memory for large ones: one part of it after the
/// other, each in time. Who sends almost nothing would keep others from theirs.
#[derive(Debug)]
pub(super) struct Pace {
    frame_bytes: usize,
    /// What had arrived when the part that is awaited began.
    counted_bytes: usize,
    part_max: Duration,
    /// When the part must be there. `None` while nothing is read: that time is not the client's.
    due: Option<Instant>,
}

/// A large frame that comes too slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a request that claims {frame_bytes} bytes comes too slowly: {arrived_bytes} have arrived, fewer than {part_bytes} of them in the last {} ms",
    part_max.as_millis()
)]
pub(crate) struct TooSlow {
    frame_bytes: usize,
    arrived_bytes: usize,
    part_bytes: usize,
    part_max: Duration,
}

impl Pace {
    /// Of a frame of `frame_bytes`; a part of it may take `part_max`.
    pub(super) const fn new(frame_bytes: usize, part_max: Duration) -> Self {
        Self {
            frame_bytes,
            counted_bytes: 0,
            part_max,
            due: None,
        }
    }

    const fn part_bytes(&self) -> usize {
        self.frame_bytes.div_ceil(KAFKA_LARGE_FRAME_PARTS)
    }

    /// What arrives is read, and so much is there.
    pub(super) fn reads(&mut self, arrived_bytes: usize, now: Instant) {
        let is_part = arrived_bytes - self.counted_bytes >= self.part_bytes();
        if is_part || self.due.is_none() {
            self.counted_bytes = arrived_bytes;
            self.due = now.checked_add(self.part_max);
        }
    }

    /// Nothing is read for now.
    pub(super) const fn rests(&mut self) {
        self.due = None;
    }

    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// # Errors
    /// The part that is awaited should have arrived.
    pub(super) fn check(&self, arrived_bytes: usize, now: Instant) -> Result<(), TooSlow> {
        match self.due {
            Some(due) if due <= now => Err(TooSlow {
                frame_bytes: self.frame_bytes,
                arrived_bytes,
                part_bytes: self.part_bytes(),
                part_max: self.part_max,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART_MAX: Duration = Duration::from_secs(30);
    const PART_BYTES: usize = 1 << 20;
    const FRAME_BYTES: usize = KAFKA_LARGE_FRAME_PARTS * PART_BYTES;

    #[test]
    fn a_frame_may_take_its_time_for_each_part() {
        let mut now = Instant::now();
        let mut pace = Pace::new(FRAME_BYTES, PART_MAX);
        for part in 0..KAFKA_LARGE_FRAME_PARTS {
            pace.reads(part * PART_BYTES, now);
            now += PART_MAX - Duration::from_millis(1);
            pace.reads((part + 1) * PART_BYTES - 1, now);
            assert_eq!(pace.check(0, now), Ok(()));
        }
    }

    #[test]
    fn bytes_that_are_no_part_gain_no_time() {
        let start = Instant::now();
        let mut pace = Pace::new(FRAME_BYTES, PART_MAX);
        pace.reads(100, start);
        pace.reads(100 + PART_BYTES - 1, start + PART_MAX / 2);
        assert_eq!(pace.due(), Some(start + PART_MAX));
        let late = pace.check(100 + PART_BYTES - 1, start + PART_MAX);
        let late = late.expect_err("it is late").to_string();
        assert!(late.contains("claims 33554432 bytes"), "{late}");
        assert!(late.contains("1048675 have arrived"), "{late}");
        assert!(late.contains("30000 ms"), "{late}");
    }

    #[test]
    fn time_in_which_nothing_is_read_is_not_the_clients() {
        let start = Instant::now();
        let mut pace = Pace::new(FRAME_BYTES, PART_MAX);
        assert_eq!(pace.check(0, start), Ok(()), "it has not begun");
        pace.reads(100, start);
        pace.rests();
        let later = start + 100 * PART_MAX;
        assert_eq!(pace.due(), None);
        assert_eq!(pace.check(100, later), Ok(()));
        pace.reads(100, later);
        assert_eq!(pace.due(), Some(later + PART_MAX));
    }
}

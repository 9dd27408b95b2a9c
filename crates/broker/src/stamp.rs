//! The time that decisions carry.

use std::time::Duration;

/// How far the wall clock may run ahead of the last stamp plus the time that really passed.
const JUMP_MS_MAX: i64 = 3_600_000;

/// Gives each decision its time: monotone, and never more than an hour ahead of what the
/// monotonic clock allows, so that one wrong reading of the wall clock cannot expire everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    last_ms: i64,
    at: Duration,
    paused: bool,
}

impl Stamp {
    /// Starts at the wall clock or the last stamp in the log, whichever is later: how long the node
    /// was down nobody knows.
    #[must_use]
    pub(crate) fn new(last_ms: i64, now_ms: i64, monotonic: Duration) -> Self {
        Self {
            last_ms: last_ms.max(now_ms),
            at: monotonic,
            paused: false,
        }
    }

    /// The stamp of a decision made now.
    pub(crate) fn next(&mut self, now_ms: i64, monotonic: Duration) -> i64 {
        let passed = i64::try_from(monotonic.saturating_sub(self.at).as_millis());
        let expected = self.last_ms.saturating_add(passed.unwrap_or(i64::MAX));
        self.paused = now_ms > expected.saturating_add(JUMP_MS_MAX);
        if self.paused {
            // The part of a millisecond that is left counts for the next stamp.
            let whole_ms = u64::try_from(expected - self.last_ms).unwrap_or(0);
            self.at += Duration::from_millis(whole_ms);
            self.last_ms = expected;
        } else if now_ms >= self.last_ms {
            self.at = monotonic;
            self.last_ms = now_ms;
        }
        self.last_ms
    }

    /// The wall clock jumped ahead: nothing may expire until it is back, or the node is started
    /// again with a clock that its operator trusts.
    #[must_use]
    pub(crate) const fn expiry_paused(&self) -> bool {
        self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn follows_the_wall_clock_and_never_goes_back() {
        let mut stamp = Stamp::new(0, 1_000, Duration::ZERO);
        assert_eq!(stamp.next(1_005, Duration::from_millis(5)), 1_005);
        assert_eq!(stamp.next(900, Duration::from_millis(6)), 1_005);
        assert_eq!(stamp.next(1_010, Duration::from_millis(10)), 1_010);
    }

    #[test]
    fn a_jump_of_more_than_an_hour_is_not_followed() {
        let mut stamp = Stamp::new(0, 1_000, Duration::ZERO);
        let jumped = 1_000 + 2 * HOUR;
        assert_eq!(stamp.next(jumped, Duration::from_millis(10)), 1_010);
        assert!(stamp.expiry_paused());
        assert_eq!(stamp.next(1_020, Duration::from_millis(20)), 1_020);
        assert!(!stamp.expiry_paused());
    }

    #[test]
    fn time_goes_on_during_a_jump_however_often_it_is_asked_for() {
        let mut stamp = Stamp::new(0, 1_000, Duration::ZERO);
        let mut last = 0;
        for n in 1..=10_000_u64 {
            let passed = Duration::from_micros(100 * n);
            last = stamp.next(1_000 + 5 * HOUR, passed);
        }
        assert_eq!(last, 2_000);
    }

    #[test]
    fn a_jump_within_an_hour_is_taken() {
        let mut stamp = Stamp::new(0, 1_000, Duration::ZERO);
        assert_eq!(stamp.next(1_000 + HOUR, Duration::ZERO), 1_000 + HOUR);
        assert!(!stamp.expiry_paused());
    }
}

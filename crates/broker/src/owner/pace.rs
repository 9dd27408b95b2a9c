//! How fast producers may go on while the background is behind them.

use std::time::Duration;

use types::limits::{PACE_BEGIN_QUARTERS, PACE_HORIZON_MS, UPKEEP_MS};

/// Bytes a second that producers may add to the log while `unsealed` of at most `bound` bytes wait
/// to be sealed; `None` for as many as they like. In a second (the horizon) never more than what is
/// left: so they slow down until they are as fast as the background, and never run into the bound.
pub(super) fn rate(unsealed: u64, bound: u64) -> Option<u64> {
    let begin = bound / 4 * PACE_BEGIN_QUARTERS;
    let left = bound.saturating_sub(unsealed);
    (unsealed > begin).then(|| left.saturating_mul(1_000) / PACE_HORIZON_MS)
}

/// Counts what producers may add.
#[derive(Debug)]
pub(super) struct Pace {
    at: Duration,
    rate: Option<u64>,
    /// Bytes that they may add at once; below zero where the last ones were more than that.
    credit: i64,
}

impl Pace {
    pub(super) const fn new(now: Duration) -> Self {
        Self {
            at: now,
            rate: None,
            credit: 0,
        }
    }

    /// Grants what the time since the last call is worth.
    pub(super) fn advance(&mut self, now: Duration, unsealed: u64, bound: u64) {
        let passed = now.saturating_sub(self.at);
        self.at = now;
        self.rate = rate(unsealed, bound);
        let Some(rate) = self.rate else {
            self.credit = 0;
            return;
        };
        let second = i64::try_from(rate).unwrap_or(i64::MAX);
        let earned = u128::from(rate) * passed.as_nanos() / 1_000_000_000;
        let earned = i64::try_from(earned).unwrap_or(i64::MAX);
        // A pause saves up no burst, and one large request stops nobody for longer than a second.
        self.credit = self.credit.max(-second).saturating_add(earned);
        self.credit = self.credit.min(second / 20 + 1);
    }

    /// Whether somebody may go on now.
    pub(super) const fn admits(&self) -> bool {
        self.rate.is_none() || self.credit > 0
    }

    pub(super) fn take(&mut self, bytes: u64) {
        if self.rate.is_some() {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            self.credit = self.credit.saturating_sub(bytes);
        }
    }

    /// When it is worth asking again.
    pub(super) fn wait(&self) -> Duration {
        let longest = Duration::from_millis(UPKEEP_MS);
        match self.rate {
            None => Duration::ZERO,
            Some(0) => longest,
            Some(rate) => {
                let missing = 1_u64.saturating_add_signed(-self.credit);
                let micros = missing.saturating_mul(1_000_000) / rate;
                Duration::from_micros(micros).clamp(Duration::from_millis(1), longest)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const BOUND: u64 = 2_048 * MIB;

    #[test]
    fn producers_are_free_below_three_quarters_and_slowed_down_to_a_stop_above() {
        let table = [
            (0, None),
            (1_536 * MIB, None),
            (1_536 * MIB + 4, Some(512 * MIB - 4)),
            (1_792 * MIB, Some(256 * MIB)),
            (2_038 * MIB, Some(10 * MIB)),
            (2_048 * MIB - 1, Some(1)),
            (2_048 * MIB, Some(0)),
            (4_000 * MIB, Some(0)),
        ];
        for (unsealed, expected) in table {
            assert_eq!(rate(unsealed, BOUND), expected, "{unsealed}");
        }
        assert_eq!(rate(0, 0), None);
        assert_eq!(rate(1, 0), Some(0));
        assert_eq!(rate(u64::MAX, u64::MAX), Some(0));
    }

    #[test]
    fn credit_grows_with_time_and_is_spent() {
        let ms = Duration::from_millis;
        let mut pace = Pace::new(ms(0));
        pace.advance(ms(0), 0, BOUND);
        assert!(pace.admits());
        pace.take(u64::MAX);
        assert!(pace.admits(), "nothing is counted while they are free");
        // 10 MiB a second from here on.
        let full = 2_038 * MIB;
        pace.advance(ms(0), full, BOUND);
        assert!(!pace.admits());
        pace.advance(ms(100), full, BOUND);
        assert!(pace.admits());
        // A fifth of a second's bytes, of which a twentieth was saved up.
        pace.take(2 * MIB);
        assert!(!pace.admits());
        assert_eq!(pace.wait(), ms(100), "a look at least as often as upkeep");
        pace.advance(ms(240), full, BOUND);
        assert!(!pace.admits());
        assert_eq!(pace.wait().as_millis(), 10);
        pace.advance(ms(260), full, BOUND);
        assert!(pace.admits());
        pace.take(u64::MAX);
        pace.advance(ms(1_259), full, BOUND);
        assert!(!pace.admits());
        pace.advance(ms(1_262), full, BOUND);
        assert!(pace.admits(), "one request stops nobody for longer");
        pace.advance(ms(2_000), BOUND, BOUND);
        pace.take(MIB);
        pace.advance(ms(200_000), BOUND, BOUND);
        assert!(!pace.admits(), "nothing is granted at the bound");
    }

    /// Producers that would write 400 MiB a second over a background that seals 100: files of
    /// 256 MiB, one after the other.
    #[test]
    fn producers_come_to_the_speed_of_the_background_without_ever_stopping() {
        let tick = Duration::from_millis(5);
        let mut pace = Pace::new(Duration::ZERO);
        let (mut now, mut unsealed, mut sealing) = (Duration::ZERO, 0, 0);
        let (mut written, mut pause, mut longest) = (0, Duration::ZERO, Duration::ZERO);
        for round in 0..24_000 {
            now += tick;
            pace.advance(now, unsealed, BOUND);
            pause += tick;
            let wanted = 2 * MIB;
            for _ in 0..wanted / (MIB / 4) {
                if pace.admits() {
                    pace.take(MIB / 4);
                    unsealed += MIB / 4;
                    written += MIB / 4;
                    pause = Duration::ZERO;
                }
            }
            longest = longest.max(pause);
            sealing += MIB / 2;
            if sealing >= 256 * MIB {
                sealing = 0;
                unsealed = u64::saturating_sub(unsealed, 256 * MIB);
            }
            assert!(unsealed <= BOUND, "round {round}");
            if round == 12_000 {
                written = 0;
            }
        }
        assert!(longest < Duration::from_millis(50), "{longest:?}");
        // In the second minute they write what is sealed meanwhile, give or take a file.
        let sealed = 60 * 100 * MIB;
        assert!(written.abs_diff(sealed) < 512 * MIB, "{}", written / MIB);
    }
}

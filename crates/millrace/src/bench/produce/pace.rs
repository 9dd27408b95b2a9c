//! When records are due.

use std::time::Duration;

const SECOND_NS: u128 = 1_000_000_000;

/// The schedule of one connection: its part of the rate, interleaved with that of the others.
/// It does not know whether anybody keeps up with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rate: u128,
    connections: u128,
    number: u128,
}

impl Pace {
    /// The schedule of connection `number` of `connections`, all together at `rate` per second.
    pub(super) fn new(rate: u64, connections: u32, number: u32) -> Self {
        let (rate, connections, number) = (rate.into(), connections.into(), number.into());
        Self {
            rate,
            connections,
            number,
        }
    }

    /// When record `index` is due, from the start on.
    pub(super) fn due(&self, index: u64) -> Duration {
        let of_all = u128::from(index) * self.connections + self.number;
        let due_ns = (of_all * SECOND_NS).div_ceil(self.rate);
        Duration::from_nanos(u64::try_from(due_ns).unwrap_or(u64::MAX))
    }

    /// How many records are due at `elapsed`.
    pub(super) fn due_count(&self, elapsed: Duration) -> u64 {
        let of_all = elapsed.as_nanos() * self.rate / SECOND_NS;
        let count = (of_all + self.connections).saturating_sub(self.number) / self.connections;
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_as_due_from_its_time_on() {
        for (rate, connections) in [(1, 1), (3, 2), (1_000, 7), (999_999_937, 3)] {
            for number in 0..connections {
                let pace = Pace::new(rate, connections, number);
                for index in 0..50 {
                    let due = pace.due(index);
                    assert!(
                        pace.due_count(due) > index,
                        "{rate} {connections} {number} {index}"
                    );
                    if let Some(before) = due.checked_sub(Duration::from_nanos(1)) {
                        assert!(pace.due_count(before) <= index + rate / 900_000_000);
                    }
                }
            }
        }
    }

    #[test]
    fn all_connections_together_have_the_rate() {
        let elapsed = Duration::from_secs(10);
        let total: u64 = (0..7)
            .map(|n| Pace::new(1_000, 7, n).due_count(elapsed))
            .sum();
        assert!((10_000..=10_007).contains(&total), "{total}");
    }
}

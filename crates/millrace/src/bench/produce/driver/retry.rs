//! What is tried again, when, and for how long.

use std::time::Duration;

use kafka::wire::ErrorCode;

/// Rest before the first retry; it doubles with each one. As in Kafka's producer, like the rest here.
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(1);
/// What fails for this long has failed.
pub(super) const GIVE_UP: Duration = Duration::from_secs(120);

/// Whether the same batch may be taken later.
pub(super) fn is_retriable(code: ErrorCode) -> bool {
    [
        ErrorCode::CORRUPT_MESSAGE,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode::LEADER_NOT_AVAILABLE,
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::REQUEST_TIMED_OUT,
        ErrorCode::REPLICA_NOT_AVAILABLE,
        ErrorCode::NETWORK_EXCEPTION,
        ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode::COORDINATOR_NOT_AVAILABLE,
        ErrorCode::NOT_COORDINATOR,
        ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode::KAFKA_STORAGE_ERROR,
        ErrorCode::FENCED_LEADER_EPOCH,
        ErrorCode::UNKNOWN_LEADER_EPOCH,
        ErrorCode::THROTTLING_QUOTA_EXCEEDED,
    ]
    .contains(&code)
}

/// Failures of one thing in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failures {
    count: u32,
    first: Duration,
}

impl Failures {
    /// Notes one more, and says how long to rest; `None` when it has failed for good.
    pub(super) fn add(&mut self, now: Duration) -> Option<Duration> {
        if self.count == 0 {
            self.first = now;
        }
        let doubled = BACKOFF_MIN.saturating_mul(1 << self.count.min(10));
        self.count = self.count.saturating_add(1);
        let is_hopeless = now.saturating_sub(self.first) >= GIVE_UP;
        (!is_hopeless).then_some(doubled.min(BACKOFF_MAX))
    }

    /// Whether there was one.
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_to_their_maximum_and_end_when_it_is_hopeless() {
        let mut failures = Failures::default();
        assert!(!failures.any());
        let start = Duration::from_secs(1_000);
        let rests: Vec<_> = (0..6)
            .map(|_| failures.add(start).expect("a rest").as_millis())
            .collect();
        assert_eq!(rests, [100, 200, 400, 800, 1_000, 1_000]);
        assert!(failures.any());
        let late = start + GIVE_UP;
        assert!(failures.add(late - Duration::from_nanos(1)).is_some());
        assert_eq!(failures.add(late), None);
    }

    #[test]
    fn no_retry_makes_a_wrong_batch_or_a_fenced_producer_right() {
        for code in [3, 5, 6, 7, 14, 56] {
            assert!(is_retriable(ErrorCode(code)), "{code}");
        }
        for code in [0, 10, 17, 18, 22, 29, 45, 46, 47, 53, 87] {
            assert!(!is_retriable(ErrorCode(code)), "{code}");
        }
    }
}

//! Changes that are given up waiting for: on a full disk they wait for space.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use types::limits::{KAFKA_CHANGE_MS, KAFKA_CHANGE_MS_MIN};

/// What the answer says of a change that is not on disk in time.
pub(super) const TOO_LATE: &str =
    "the change was not on disk within the request's time, it may be made all the same";

/// Until when the changes of a request are waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct InTime(Instant);

impl InTime {
    /// For a request that says how long it may take.
    pub(super) fn of_request(timeout_ms: i32) -> Self {
        let asked = u64::try_from(timeout_ms).unwrap_or(0);
        Self::after(asked.max(KAFKA_CHANGE_MS_MIN))
    }

    /// For one that does not.
    pub(super) fn usual() -> Self {
        Self::after(KAFKA_CHANGE_MS)
    }

    fn after(wait_ms: u64) -> Self {
        Self(Instant::now() + Duration::from_millis(wait_ms))
    }

    /// What `change` gives; `None` when its time is up before. It may still be made then, but is not
    /// begun any more.
    pub(super) async fn wait<T>(self, change: impl Future<Output = T>) -> Option<T> {
        if self.0 <= Instant::now() {
            return None;
        }
        timeout_at(self.0, change).await.ok()
    }
}

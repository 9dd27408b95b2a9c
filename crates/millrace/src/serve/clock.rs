//! The clocks of a node.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use types::{Clock, SystemClock};

/// The clocks of the operating system, that of the calling thread's processor time included.
#[derive(Debug, Default)]
pub(super) struct NodeClock {
    system: SystemClock,
}

impl NodeClock {
    pub(super) fn new() -> Self {
        Self::default()
    }
}

impl Clock for NodeClock {
    fn now_ms(&self) -> i64 {
        self.system.now_ms()
    }

    fn monotonic(&self) -> Duration {
        self.system.monotonic()
    }

    fn thread_busy(&self) -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
        Duration::new(seconds, nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_no_processor_time_and_work_does() {
        let clock = NodeClock::new();
        let (wall, busy) = (clock.monotonic(), clock.thread_busy());
        let (_sender, nothing) = std::sync::mpsc::sync_channel::<()>(1);
        nothing.recv_timeout(Duration::from_millis(30)).unwrap_err();
        let waited = clock.monotonic() - wall;
        assert!(waited >= Duration::from_millis(30));
        assert!(clock.thread_busy() - busy < waited / 2);
        while clock.thread_busy() - busy < Duration::from_millis(5) {
            std::hint::black_box(waited);
        }
    }
}

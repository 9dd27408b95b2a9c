//! Which records expire.
//!
//! Age counts by the broker's append time alone, so a record timestamp in the future keeps nothing.
//! Nothing waits for a full file: a stretch of a partition expires once its last batch is older than
//! `retention.ms`, in a log file batch by batch, in a segment with the partition's part of it.

use log::index::Run;
use types::Offset;
use types::limits::RETENTION_RUNS_MAX;

use crate::topic_config::TopicSettings;

/// Where the log of a partition should start, if that is further on than it does.
///
/// `runs` are its stretches in order, those below `log_start` included or not, `bytes` their sum. One
/// call looks at no more than [`RETENTION_RUNS_MAX`] of them: a partition with more that expire
/// comes to its end over several calls.
#[must_use]
pub fn new_log_start(
    runs: impl IntoIterator<Item = Run>,
    bytes: u64,
    settings: &TopicSettings,
    now_ms: i64,
    log_start: Offset,
) -> Option<Offset> {
    if !settings.deletes {
        return None;
    }
    let size_max = settings
        .retention_bytes
        .and_then(|max| u64::try_from(max).ok());
    let mut left = bytes;
    let mut start = log_start;
    for run in runs.into_iter().take(RETENTION_RUNS_MAX) {
        left = left.saturating_sub(run.bytes);
        let too_old = settings
            .retention_ms
            .is_some_and(|max| age_ms(&run, now_ms) > max);
        // What is left must still be as much as may be kept, as in Kafka.
        let too_much = size_max.is_some_and(|max| left >= max);
        let is_gone = run.end_offset <= log_start;
        if !(too_old || too_much || is_gone) {
            break;
        }
        start = start.max(run.end_offset);
    }
    (start > log_start).then_some(start)
}

fn age_ms(run: &Run, now_ms: i64) -> i64 {
    now_ms.saturating_sub(run.last_append_time_ms)
}

#[cfg(test)]
mod tests;

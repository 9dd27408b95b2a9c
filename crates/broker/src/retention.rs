//! Which records expire.
//!
//! Age counts by the broker's append time alone, so a record timestamp in the future keeps nothing.
//! Nothing waits for a full file: a stretch of a partition expires once its last batch is older than
//! `retention.ms`, in a log file batch by batch, in a segment with the partition's part of it.

use log::index::Run;
use types::Offset;
use types::limits::{FILE_AGE_MS_MIN, FILE_RETENTION_SHARE, RETENTION_RUNS_MAX};

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

/// Whether the log file that is being written must end because a record in it is `age_ms` old: once
/// it is sealed, what it holds of a partition expires as a whole, so late as its last record does.
#[must_use]
pub fn ends_file(settings: &TopicSettings, age_ms: i64) -> bool {
    let retention_ms = settings.retention_ms.filter(|_| settings.deletes);
    retention_ms.is_some_and(|max| {
        let share = (max / FILE_RETENTION_SHARE).min(settings.segment_ms);
        age_ms > share.max(FILE_AGE_MS_MIN)
    })
}

fn age_ms(run: &Run, now_ms: i64) -> i64 {
    now_ms.saturating_sub(run.last_append_time_ms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(first: i64, end: i64, bytes: u64, last_append_time_ms: i64) -> Run {
        Run {
            first_offset: Offset(first),
            end_offset: Offset(end),
            bytes,
            last_append_time_ms,
            max_timestamp_ms: last_append_time_ms,
        }
    }

    fn keep(ms: Option<i64>, bytes: Option<i64>) -> TopicSettings {
        TopicSettings {
            retention_ms: ms,
            retention_bytes: bytes,
            ..TopicSettings::default()
        }
    }

    fn start(runs: &[Run], settings: &TopicSettings, now_ms: i64, log_start: i64) -> Option<i64> {
        let bytes = runs.iter().map(|run| run.bytes).sum();
        let runs = runs.iter().copied();
        new_log_start(runs, bytes, settings, now_ms, Offset(log_start)).map(|offset| offset.0)
    }

    #[test]
    fn what_is_older_than_the_retention_time_expires() {
        let runs = [run(0, 10, 1, 100), run(10, 15, 1, 200), run(15, 40, 1, 300)];
        let settings = keep(Some(100), None);
        assert_eq!(start(&runs, &settings, 200, 0), None);
        assert_eq!(start(&runs, &settings, 201, 0), Some(10));
        assert_eq!(start(&runs, &settings, 301, 0), Some(15));
        assert_eq!(start(&runs, &settings, 10_000, 0), Some(40));
        assert_eq!(start(&runs, &keep(None, None), i64::MAX, 0), None);
        assert_eq!(start(&[], &settings, i64::MAX, 0), None);
    }

    #[test]
    fn a_record_timestamp_in_the_future_keeps_nothing() {
        let future = Run {
            max_timestamp_ms: i64::MAX,
            ..run(0, 10, 1, 100)
        };
        assert_eq!(start(&[future], &keep(Some(100), None), 201, 0), Some(10));
    }

    #[test]
    fn the_oldest_go_while_as_much_as_may_be_kept_is_left() {
        let runs = [run(0, 10, 50, 0), run(10, 20, 30, 0), run(20, 30, 20, 0)];
        let size = |bytes| start(&runs, &keep(None, Some(bytes)), 0, 0);
        assert_eq!(size(51), None);
        assert_eq!(size(50), Some(10));
        assert_eq!(size(21), Some(10));
        assert_eq!(size(20), Some(20));
        assert_eq!(size(1), Some(20));
        assert_eq!(size(0), Some(30));
    }

    #[test]
    fn what_lies_below_the_log_start_is_passed_over_and_moves_nothing() {
        let runs = [run(0, 10, 5, 100), run(10, 20, 5, 900), run(20, 30, 5, 950)];
        let settings = keep(Some(100), None);
        // Both of the first are below the start, the young one as well.
        assert_eq!(start(&runs, &settings, 1_000, 20), None);
        assert_eq!(start(&runs, &settings, 1_001, 15), Some(20));
        assert_eq!(start(&runs, &settings, 1_051, 20), Some(30));
        assert_eq!(start(&runs[..1], &settings, 1_000, 15), None);
    }

    #[test]
    fn a_file_ends_before_its_records_span_much_of_their_retention() {
        const HOUR: i64 = 3_600_000;
        let settings = |retention_ms, segment_ms| TopicSettings {
            segment_ms,
            ..keep(retention_ms, None)
        };
        let week = settings(Some(168 * HOUR), 168 * HOUR);
        assert!(!ends_file(&week, 21 * HOUR));
        assert!(ends_file(&week, 21 * HOUR + 1));
        let rolls = settings(Some(168 * HOUR), 2 * HOUR);
        assert!(!ends_file(&rolls, 2 * HOUR));
        assert!(ends_file(&rolls, 2 * HOUR + 1));
        for short in [
            settings(Some(60_000), 168 * HOUR),
            settings(Some(168 * HOUR), 1),
        ] {
            assert!(!ends_file(&short, HOUR));
            assert!(ends_file(&short, HOUR + 1));
        }
        assert!(!ends_file(&settings(None, 1), i64::MAX));
        let compacted = TopicSettings {
            deletes: false,
            ..week
        };
        assert!(!ends_file(&compacted, i64::MAX));
    }

    #[test]
    fn a_topic_that_does_not_delete_keeps_everything() {
        let settings = TopicSettings {
            deletes: false,
            ..keep(Some(0), Some(0))
        };
        assert_eq!(start(&[run(0, 10, 5, 0)], &settings, 1_000, 0), None);
    }

    #[test]
    fn one_call_looks_at_a_bounded_number_of_stretches() {
        let many = || (0..).map(|n| run(n, n + 1, 1, 0));
        let settings = keep(Some(1), None);
        let reached = i64::try_from(RETENTION_RUNS_MAX).unwrap();
        let step = |from| {
            let start = Offset(from);
            new_log_start(
                many().skip_while(|r| r.end_offset <= start),
                u64::MAX,
                &settings,
                10,
                start,
            )
        };
        assert_eq!(step(0), Some(Offset(reached)));
        assert_eq!(step(reached), Some(Offset(2 * reached)));
    }

    proptest! {
        #[test]
        fn agrees_with_the_rule_spelled_out(
            runs in prop::collection::vec((1..20_i64, 0..100_u64, 0..50_i64), 0..20),
            retention_ms in prop::option::of(0..600_i64),
            retention_bytes in prop::option::of(0..900_i64),
            now_ms in 0..1_200_i64,
            log_start in 0..200_i64,
        ) {
            let mut all = Vec::new();
            let (mut next, mut time) = (0, 0);
            for (count, bytes, passed) in runs {
                time += passed;
                all.push(run(next, next + count, bytes, time));
                next += count;
            }
            let log_start = log_start.min(next);
            let settings = keep(retention_ms, retention_bytes);
            // A stretch may go when every one before it may, and it is old or what follows it is
            // enough.
            let mut expected = None;
            for (at, run) in all.iter().enumerate() {
                let rest: u64 = all[at + 1..].iter().map(|run| run.bytes).sum();
                let old = retention_ms.is_some_and(|ms| now_ms - run.last_append_time_ms > ms);
                let big = retention_bytes.is_some_and(|max| i64::try_from(rest).unwrap() >= max);
                if run.end_offset.0 > log_start {
                    if !(old || big) {
                        break;
                    }
                    expected = Some(run.end_offset.0);
                }
            }
            prop_assert_eq!(start(&all, &settings, now_ms, log_start), expected);
        }
    }
}

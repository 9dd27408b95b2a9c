//! Which partitions are read together.

use std::collections::BTreeMap;

use log::read::LogPosition;
use types::FileSequence;

use crate::broker::ReadLimits;

/// Of more spans than this an answer keeps no window: it would hold several for each.
const SPANS_KEPT_MAX: usize = 4;

/// Per log file the stretch in which partitions are read now. Partitions stand between each other
/// in a log file: those that are behind in it are read first, so that all of them get to the same
/// stretch, and the file is read once for all of them.
#[derive(Debug, Default)]
pub struct Spans {
    /// The end of the stretch of each file.
    ends: BTreeMap<FileSequence, LogPosition>,
}

impl Spans {
    /// The stretches when partitions begin at `positions`.
    #[must_use]
    pub fn of(positions: impl IntoIterator<Item = LogPosition>) -> Self {
        let mut spans = Self::default();
        for position in positions {
            let end = position.span_end();
            let first = spans.ends.entry(position.file).or_insert(end);
            *first = end.min(*first);
        }
        spans
    }

    /// Whether nothing of a file is read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What may be read of a partition that begins at `position`, in memory if there is none: at most
    /// `share` bytes, and one larger batch if it `is_first`.
    #[must_use]
    pub fn limits(
        &self,
        position: Option<LogPosition>,
        share: usize,
        is_first: bool,
    ) -> ReadLimits {
        let before = position.and_then(|position| self.ends.get(&position.file).copied());
        let is_in_span = position
            .zip(before)
            .is_none_or(|(position, end)| position < end);
        ReadLimits {
            max_bytes: if is_in_span { share } else { 0 },
            at_least_one: is_in_span && is_first,
            before,
            // Without spans everything is wanted.
            must_fill: position.is_some() && before.is_none(),
            copies: self.is_empty() || self.ends.len() > SPANS_KEPT_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::limits::{READ_SPAN_BYTES, READ_WINDOW_BYTES};

    fn at(file: u64, position: u64) -> LogPosition {
        LogPosition::new(FileSequence(file), position)
    }

    #[test]
    fn those_behind_in_a_file_are_read_first() {
        let behind = at(7, 3 * READ_WINDOW_BYTES + 5);
        let ahead = at(7, 200 * READ_WINDOW_BYTES);
        let other = at(8, 17);
        let spans = Spans::of([ahead, behind, other]);
        let end = at(7, 3 * READ_WINDOW_BYTES + READ_SPAN_BYTES);
        let first = spans.limits(Some(behind), 100, true);
        assert_eq!((first.max_bytes, first.at_least_one), (100, true));
        assert_eq!(first.before, Some(end));
        let waiting = spans.limits(Some(ahead), 100, true);
        assert_eq!((waiting.max_bytes, waiting.at_least_one), (0, false));
        let elsewhere = spans.limits(Some(other), 100, false);
        assert_eq!((elsewhere.max_bytes, elsewhere.at_least_one), (100, false));
        assert_eq!(elsewhere.before, Some(at(8, READ_SPAN_BYTES)));
    }

    #[test]
    fn of_many_files_an_answer_keeps_no_windows() {
        let copies = |files: u64| {
            let spans = Spans::of((0..files).map(|file| at(file, 17)));
            spans.limits(Some(at(0, 17)), 100, true).copies
        };
        let kept = SPANS_KEPT_MAX as u64;
        assert!(!copies(1) && !copies(kept) && copies(kept + 1));
        assert!(Spans::default().limits(Some(at(0, 17)), 100, true).copies);
    }

    #[test]
    fn what_is_in_memory_is_read_as_far_as_it_goes() {
        let spans = Spans::of([at(7, 3)]);
        let limits = spans.limits(None, 100, false);
        assert_eq!((limits.max_bytes, limits.before), (100, None));
        assert!(!limits.must_fill);
    }

    #[test]
    fn without_spans_files_are_read_until_enough_is_found() {
        let limits = Spans::default().limits(Some(at(7, 3)), 100, false);
        assert_eq!((limits.max_bytes, limits.before), (100, None));
        assert!(limits.must_fill);
    }
}

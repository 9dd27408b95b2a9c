//! Which partitions of a fetch are read together.

use std::collections::BTreeMap;

use broker::{Place, ReadLimits};

/// Per log file the stretch in which partitions are read now. Partitions stand between each other
/// in a log file: those that are behind in it are read first, so that all of them get to the same
/// stretch, and the file is read once for all of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spans {
    /// The end of the stretch of each file.
    ends: BTreeMap<u64, Place>,
}

impl Spans {
    /// The stretches when partitions begin at `places`.
    pub(super) fn of(places: impl IntoIterator<Item = Place>) -> Self {
        let mut first: BTreeMap<u64, Place> = BTreeMap::new();
        for place in places {
            let known = first.entry(place.file.0).or_insert(place);
            *known = place.min(*known);
        }
        let ends = first.into_iter();
        Self {
            ends: ends.map(|(file, place)| (file, place.span_end())).collect(),
        }
    }

    /// Whether nothing of a file is read.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What may be read of a partition that begins at `place`, in memory if there is none: at most
    /// `share` bytes, and one larger batch if it `is_first`.
    pub(super) fn limits(&self, place: Option<Place>, share: usize, is_first: bool) -> ReadLimits {
        let before = place.and_then(|place| self.ends.get(&place.file.0).copied());
        let is_in_span = place.zip(before).is_none_or(|(place, end)| place < end);
        ReadLimits {
            max_bytes: if is_in_span { share } else { 0 },
            at_least_one: is_in_span && is_first,
            before,
            // Without spans everything is wanted.
            must_fill: place.is_some() && before.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::FileSequence;
    use types::limits::{READ_SPAN_BYTES, READ_WINDOW_BYTES};

    fn place(file: u64, position: u64) -> Place {
        Place::new(FileSequence(file), position)
    }

    #[test]
    fn those_behind_in_a_file_are_read_first() {
        let behind = place(7, 3 * READ_WINDOW_BYTES + 5);
        let ahead = place(7, 200 * READ_WINDOW_BYTES);
        let other = place(8, 17);
        let spans = Spans::of([ahead, behind, other]);
        let end = place(7, 3 * READ_WINDOW_BYTES + READ_SPAN_BYTES);
        let first = spans.limits(Some(behind), 100, true);
        assert_eq!((first.max_bytes, first.at_least_one), (100, true));
        assert_eq!(first.before, Some(end));
        let waiting = spans.limits(Some(ahead), 100, true);
        assert_eq!((waiting.max_bytes, waiting.at_least_one), (0, false));
        let elsewhere = spans.limits(Some(other), 100, false);
        assert_eq!((elsewhere.max_bytes, elsewhere.at_least_one), (100, false));
        assert_eq!(elsewhere.before, Some(place(8, READ_SPAN_BYTES)));
    }

    #[test]
    fn what_is_in_memory_is_read_as_far_as_it_goes() {
        let spans = Spans::of([place(7, 3)]);
        let limits = spans.limits(None, 100, false);
        assert_eq!((limits.max_bytes, limits.before), (100, None));
        assert!(!limits.must_fill);
    }

    #[test]
    fn without_spans_files_are_read_until_enough_is_found() {
        let limits = Spans::default().limits(Some(place(7, 3)), 100, false);
        assert_eq!((limits.max_bytes, limits.before), (100, None));
        assert!(limits.must_fill);
    }
}

//! What a partition has lost.

use std::sync::atomic::{AtomicBool, Ordering};

use log::Corruption;
use log::segment::Hole;
use parking_lot::RwLock;
use types::Offset;
use types::limits::PARTITION_HOLES_MAX;

/// Holes in what a partition stores, in offset order. As long as there are any it takes no records;
/// they go when the log start moves past them.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    /// Whether there are any, for those who must not wait.
    some: AtomicBool,
    holes: RwLock<Vec<Hole>>,
}

impl Holes {
    pub(crate) fn is_empty(&self) -> bool {
        !self.some.load(Ordering::Acquire)
    }

    pub(crate) fn all(&self) -> Vec<Hole> {
        self.holes.read().clone()
    }

    /// Adds a hole, unless another one holds it.
    pub(crate) fn add(&self, hole: Hole) {
        let mut holes = self.holes.write();
        if holes.iter().any(|other| contains(other, &hole)) {
            return;
        }
        let at = holes.partition_point(|other| other.first_offset <= hole.first_offset);
        match holes.get_mut(at.wrapping_sub(1)) {
            Some(before) if goes_on(before, &hole) => before.end_offset = hole.end_offset,
            _ => holes.insert(at, hole),
        }
        if holes.len() > PARTITION_HOLES_MAX
            && let Some(last) = holes.pop()
            && let Some(before) = holes.last_mut()
        {
            before.end_offset = before.end_offset.max(last.end_offset);
            before.is_marked &= last.is_marked;
        }
        self.some.store(true, Ordering::Release);
    }

    /// Forgets what nobody can ask for any more.
    pub(crate) fn trim(&self, log_start: Offset) {
        if self.is_empty() {
            return;
        }
        let mut holes = self.holes.write();
        holes.retain(|hole| hole.end_offset > log_start);
        self.some.store(!holes.is_empty(), Ordering::Release);
    }

    /// How far whoever reads from `from` on may go, at most to `end`.
    ///
    /// # Errors
    /// What is damaged, where `from` lies in a hole.
    pub(crate) fn readable_until(&self, from: Offset, end: Offset) -> Result<Offset, Corruption> {
        if self.is_empty() {
            return Ok(end);
        }
        let holes = self.holes.read();
        let mut hidden = holes.iter().filter(|hole| !hole.is_marked);
        match hidden.find(|hole| hole.end_offset > from) {
            Some(hole) if hole.first_offset <= from => Err(hole.corruption.clone()),
            Some(hole) => Ok(end.min(hole.first_offset)),
            None => Ok(end),
        }
    }
}

fn contains(outer: &Hole, inner: &Hole) -> bool {
    outer.first_offset <= inner.first_offset && inner.end_offset <= outer.end_offset
}

fn goes_on(before: &Hole, next: &Hole) -> bool {
    before.end_offset == next.first_offset
        && before.is_marked == next.is_marked
        && before.corruption.path == next.corruption.path
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn hole(first: i64, end: i64, file: &str) -> Hole {
        Hole {
            first_offset: Offset(first),
            end_offset: Offset(end),
            is_marked: false,
            corruption: Corruption {
                path: Path::new(file).to_path_buf(),
                position: 0,
                what: "records",
                expected: "good ones".to_owned(),
                found: "bad ones".to_owned(),
            },
        }
    }

    fn ranges(holes: &Holes) -> Vec<(i64, i64)> {
        let range = |hole: Hole| (hole.first_offset.0, hole.end_offset.0);
        holes.all().into_iter().map(range).collect()
    }

    /// For a reader at each offset up to 20: where it must end, or that it gets nothing.
    fn until(holes: &Holes, from: i64) -> Option<i64> {
        let until = holes.readable_until(Offset(from), Offset(20));
        until.ok().map(|until| until.0)
    }

    #[test]
    fn readers_get_what_is_before_a_hole_and_what_is_behind_it() {
        let holes = Holes::default();
        assert!(holes.is_empty());
        assert_eq!(until(&holes, 0), Some(20));
        holes.add(hole(10, 12, "b"));
        holes.add(hole(3, 5, "a"));
        assert_eq!(ranges(&holes), [(3, 5), (10, 12)]);
        let expected = [
            (0, Some(3)),
            (2, Some(3)),
            (3, None),
            (4, None),
            (5, Some(10)),
            (9, Some(10)),
            (11, None),
            (12, Some(20)),
            (20, Some(20)),
        ];
        for (from, end) in expected {
            assert_eq!(until(&holes, from), end, "from {from}");
        }
    }

    #[test]
    fn a_marked_hole_counts_and_is_left_to_the_reader() {
        let holes = Holes::default();
        let marked = hole(3, 5, "a");
        holes.add(Hole {
            is_marked: true,
            ..marked
        });
        assert!(!holes.is_empty());
        assert_eq!(until(&holes, 0), Some(20));
        assert_eq!(until(&holes, 4), Some(20));
    }

    #[test]
    fn holes_go_when_the_log_start_is_past_them() {
        let holes = Holes::default();
        holes.add(hole(3, 5, "a"));
        holes.add(hole(10, 12, "b"));
        holes.trim(Offset(4));
        assert_eq!(ranges(&holes), [(3, 5), (10, 12)]);
        holes.trim(Offset(5));
        assert_eq!(ranges(&holes), [(10, 12)]);
        assert!(!holes.is_empty());
        holes.trim(Offset(12));
        assert!(holes.is_empty());
        assert_eq!(until(&holes, 10), Some(20));
    }

    #[test]
    fn a_hole_is_counted_once_and_neighbours_are_one() {
        let holes = Holes::default();
        for _ in 0..2 {
            holes.add(hole(3, 5, "a"));
            holes.add(hole(5, 6, "a"));
            holes.add(hole(4, 5, "b"));
        }
        assert_eq!(ranges(&holes), [(3, 6)]);
        holes.add(hole(6, 7, "b"));
        assert_eq!(ranges(&holes), [(3, 6), (6, 7)]);
    }

    #[test]
    fn beyond_the_bound_the_last_holes_become_one() {
        let holes = Holes::default();
        let most = i64::try_from(PARTITION_HOLES_MAX).unwrap();
        for n in 0..most + 5 {
            holes.add(hole(10 * n, 10 * n + 1, "a"));
        }
        let all = ranges(&holes);
        assert_eq!(all.len(), PARTITION_HOLES_MAX);
        assert_eq!(all[0], (0, 1));
        assert_eq!(all.last(), Some(&(10 * (most - 1), 10 * (most + 4) + 1)));
    }
}

//! Faults on demand.

use std::io;
use std::path::Path;

use crate::Op;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device fails (EIO).
    Io,
    /// The device is full (ENOSPC).
    NoSpace,
    /// Any other error.
    Kind(io::ErrorKind),
    /// The call succeeds and does nothing: a device that lies. Only for calls that return no value
    /// (write, sync, allocate, set length, punch, rename, remove, create and sync a directory); of
    /// others the fault has no effect.
    Lie,
}

impl FaultKind {
    /// The error that the caller gets; `None` of a lie.
    pub(crate) fn error(self) -> Option<io::Error> {
        match self {
            Self::Io => Some(rustix::io::Errno::IO.into()),
            Self::NoSpace => Some(rustix::io::Errno::NOSPC.into()),
            Self::Kind(kind) => Some(kind.into()),
            Self::Lie => None,
        }
    }
}

/// A rule that makes operations fail.
///
/// ```
/// # use millrace_disk as disk;
/// use disk::{Fault, FaultKind, Op};
/// // The third sync of a file whose name contains `.log`, and the one after it.
/// let fault = Fault::new(Op::SyncData, FaultKind::Io).on(".log").nth(3).times(2);
/// # drop(fault);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    op: Op,
    kind: FaultKind,
    path_part: String,
    skip: u64,
    times: u64,
}

impl Fault {
    /// Makes the next `op` fail, once.
    #[must_use]
    pub const fn new(op: Op, kind: FaultKind) -> Self {
        Self {
            op,
            kind,
            path_part: String::new(),
            skip: 0,
            times: 1,
        }
    }

    /// Only operations on paths that contain `path_part` count (of a rename the old name).
    #[must_use]
    pub fn on(mut self, path_part: impl Into<String>) -> Self {
        self.path_part = path_part.into();
        self
    }

    /// The first to fail is the `nth` that matches from now on; 1 is the next.
    #[must_use]
    pub const fn nth(mut self, nth: u64) -> Self {
        self.skip = nth.saturating_sub(1);
        self
    }

    /// That many in a row fail.
    #[must_use]
    pub const fn times(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// All fail until the faults are cleared.
    #[must_use]
    pub const fn forever(self) -> Self {
        self.times(u64::MAX)
    }

    fn matches(&self, op: Op, path: &Path) -> bool {
        self.op == op && path.to_string_lossy().contains(&self.path_part)
    }
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Fault>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.rules.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(crate) fn left(&self) -> usize {
        self.rules.len()
    }

    /// Counts the operation against every rule; the first that is due says what goes wrong.
    pub(crate) fn meet(&mut self, op: Op, path: &Path) -> Option<FaultKind> {
        let mut due = None;
        for rule in &mut self.rules {
            if !rule.matches(op, path) {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if due.is_none() && rule.times > 0 {
                rule.times = rule.times.saturating_sub(u64::from(rule.times != u64::MAX));
                due = Some(rule.kind);
            }
        }
        self.rules.retain(|rule| rule.times > 0);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(faults: &mut Faults, op: Op, path: &str) -> bool {
        faults.meet(op, Path::new(path)).is_some()
    }

    #[test]
    fn a_rule_counts_only_what_matches_and_ends_after_its_times() {
        let mut faults = Faults::default();
        faults.add(Fault::new(Op::Write, FaultKind::Io).on("b").nth(2).times(2));
        let calls = [
            (Op::Write, "a/b"),
            (Op::Write, "a/c"),
            (Op::SyncData, "a/b"),
            (Op::Write, "a/b"),
            (Op::Write, "b/x"),
            (Op::Write, "a/b"),
        ];
        let met: Vec<bool> = calls
            .iter()
            .map(|(op, path)| met(&mut faults, *op, path))
            .collect();
        assert_eq!(met, [false, false, false, true, true, false]);
        assert_eq!(faults.left(), 0);
    }

    #[test]
    fn a_rule_without_end_stays_until_cleared() {
        let mut faults = Faults::default();
        faults.add(Fault::new(Op::Read, FaultKind::NoSpace).forever());
        assert!((0..100).all(|_| met(&mut faults, Op::Read, "x")));
        faults.clear();
        assert!(!met(&mut faults, Op::Read, "x"));
    }
}

//! Names of files: what is seen, what the device holds, and the operations between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use types::SeededRandom;

use super::survival::Survival;

/// Number of a file; names lead to it.
pub(super) type InodeId = u64;

/// A change of names that no directory sync covers yet.
#[derive(Clone, Debug)]
enum Change {
    Link {
        path: PathBuf,
        inode: InodeId,
    },
    Unlink {
        path: PathBuf,
        inode: InodeId,
    },
    Move {
        from: PathBuf,
        to: PathBuf,
        inode: InodeId,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    dirs: BTreeSet<PathBuf>,
    current: BTreeMap<PathBuf, InodeId>,
    durable: BTreeMap<PathBuf, InodeId>,
    changes: Vec<Change>,
}

/// The directory that a name stands in.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

impl Names {
    /// The root and the current directory always exist.
    pub(super) fn is_dir(&self, path: &Path) -> bool {
        path == Path::new("/") || path == Path::new("") || self.dirs.contains(path)
    }

    /// Makes a directory with its parents, durable at once.
    pub(super) fn make_dir(&mut self, path: &Path) {
        let missing = path
            .ancestors()
            .filter(|dir| !self.is_dir(dir))
            .map(Path::to_path_buf);
        let missing: Vec<PathBuf> = missing.collect();
        self.dirs.extend(missing);
    }

    pub(super) fn find(&self, path: &Path) -> Option<InodeId> {
        self.current.get(path).copied()
    }

    pub(super) fn find_durable(&self, path: &Path) -> Option<InodeId> {
        self.durable.get(path).copied()
    }

    pub(super) fn list(&self, dir: &Path) -> Vec<String> {
        let inside = self.current.keys().filter(|path| parent(path) == dir);
        inside
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .collect()
    }

    pub(super) fn link(&mut self, path: &Path, inode: InodeId) {
        self.change(Change::Link {
            path: path.to_path_buf(),
            inode,
        });
    }

    /// A name with its file that a test puts on the device.
    pub(super) fn link_durably(&mut self, path: &Path, inode: InodeId) {
        self.current.insert(path.to_path_buf(), inode);
        self.durable.insert(path.to_path_buf(), inode);
    }

    pub(super) fn unlink(&mut self, path: &Path, inode: InodeId) {
        self.change(Change::Unlink {
            path: path.to_path_buf(),
            inode,
        });
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path, inode: InodeId) {
        let (from, to) = (from.to_path_buf(), to.to_path_buf());
        self.change(Change::Move { from, to, inode });
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.current, &change);
        self.changes.push(change);
    }

    /// Makes the changes of a directory durable. A move between two directories takes the earlier
    /// changes of both along, so that it stays one step.
    pub(super) fn sync(&mut self, dir: &Path) {
        for change in self.take_changes(dir) {
            apply(&mut self.durable, &change);
        }
    }

    /// A failed sync: any of the changes reached the device, and the rest never will.
    pub(super) fn sync_badly(&mut self, dir: &Path, random: &mut SeededRandom) {
        let changes = self.take_changes(dir);
        self.keep_some(&changes, random);
    }

    /// Lets a power cut decide which changes the device holds.
    pub(super) fn cut(&mut self, random: &mut SeededRandom) {
        let changes = std::mem::take(&mut self.changes);
        self.keep_some(&changes, random);
        self.current = self.durable.clone();
    }

    fn keep_some(&mut self, changes: &[Change], random: &mut SeededRandom) {
        if changes.is_empty() {
            return;
        }
        let survival = Survival::choose(changes.len(), random);
        let keeps = |index| survival.portion(index, random).keeps(0, 1, random);
        let mut kept: Vec<bool> = (0..changes.len()).map(keeps).collect();
        keep_what_freed_names(changes, &mut kept);
        for (change, kept) in changes.iter().zip(kept) {
            if kept {
                apply(&mut self.durable, change);
            }
        }
    }

    fn take_changes(&mut self, dir: &Path) -> Vec<Change> {
        let mut dirs = BTreeSet::from([dir.to_path_buf()]);
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut self.changes).into_iter().rev() {
            if change.dirs().iter().any(|dir| dirs.contains(*dir)) {
                dirs.extend(change.dirs().map(Path::to_path_buf));
                taken.push(change);
            } else {
                left.push(change);
            }
        }
        left.reverse();
        taken.reverse();
        self.changes = left;
        taken
    }

    /// Every file that some name leads to or may lead to after a cut.
    pub(super) fn reachable(&self) -> BTreeSet<InodeId> {
        let named = self.current.values().chain(self.durable.values()).copied();
        named
            .chain(self.changes.iter().map(Change::inode))
            .collect()
    }
}

impl Change {
    fn dirs(&self) -> [&Path; 2] {
        match self {
            Self::Link { path, .. } | Self::Unlink { path, .. } => [parent(path), parent(path)],
            Self::Move { from, to, .. } => [parent(from), parent(to)],
        }
    }

    /// The name that it takes.
    fn taken(&self) -> Option<&Path> {
        match self {
            Self::Link { path, .. } | Self::Move { to: path, .. } => Some(path),
            Self::Unlink { .. } => None,
        }
    }

    /// The name that it frees.
    fn freed(&self) -> Option<&Path> {
        match self {
            Self::Unlink { path, .. } | Self::Move { from: path, .. } => Some(path),
            Self::Link { .. } => None,
        }
    }

    const fn inode(&self) -> InodeId {
        match self {
            Self::Link { inode, .. } | Self::Unlink { inode, .. } | Self::Move { inode, .. } => {
                *inode
            }
        }
    }
}

/// A name can be taken only after it was freed: else the file that had it would be lost without
/// anybody having removed it.
fn keep_what_freed_names(changes: &[Change], kept: &mut [bool]) {
    for later in (0..changes.len()).rev() {
        let taken = changes[later].taken().filter(|_| kept[later]);
        for earlier in 0..later {
            kept[earlier] |= taken.is_some() && changes[earlier].freed() == taken;
        }
    }
}

/// Earlier changes may be missing after a cut, so each says which file it is about and leaves
/// names of other files alone; a file never gets two names.
fn apply(names: &mut BTreeMap<PathBuf, InodeId>, change: &Change) {
    match change {
        Change::Link { path, inode } => {
            names.insert(path.clone(), *inode);
        }
        Change::Unlink { path, inode } => {
            if names.get(path) == Some(inode) {
                names.remove(path);
            }
        }
        Change::Move { from, to, inode } => {
            if names.get(from) == Some(inode) {
                names.remove(from);
            } else {
                names.retain(|_, named| named != inode);
            }
            names.insert(to.clone(), *inode);
        }
    }
}

//! What a power cut may do to names.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::path::{Path, PathBuf};

use millrace_disk::{Disk, SimDisk, read_whole};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Rename(usize, usize),
    Remove(usize),
    SyncDir(usize),
}

const NAMES: [&str; 6] = ["/a/1", "/a/2", "/a/3", "/b/1", "/b/2", "/b/3"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || 0..NAMES.len();
    let step = prop_oneof![
        4 => name().prop_map(Step::Create),
        4 => (name(), name()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => name().prop_map(Step::Remove),
        1 => (0..2usize).prop_map(Step::SyncDir),
    ];
    prop::collection::vec(step, 1..30)
}

/// The names with the number of the file behind each; every file holds its number, synced.
type View = BTreeMap<PathBuf, u32>;

/// Names now, files that may be gone after a cut, and files that some cut may leave.
#[derive(Default)]
struct Model {
    now: View,
    synced_at_last: View,
    /// Files that were removed or replaced since all names were synced.
    unlinked: Vec<u32>,
    made: u32,
}

impl Model {
    fn perform(&mut self, disk: &SimDisk, step: &Step) {
        match *step {
            Step::Create(name) => self.create(disk, Path::new(NAMES[name])),
            Step::Rename(from, to) => {
                let (from, to) = (Path::new(NAMES[from]), Path::new(NAMES[to]));
                let done = disk.rename(from, to);
                assert_eq!(done.is_ok(), self.now.contains_key(from));
                if let Some(file) = self.now.remove(from) {
                    let replaced = self.now.insert(to.into(), file);
                    self.unlinked.extend(replaced);
                }
            }
            Step::Remove(name) => {
                let removed = self.now.remove(Path::new(NAMES[name]));
                assert_eq!(
                    disk.remove(Path::new(NAMES[name])).is_ok(),
                    removed.is_some()
                );
                self.unlinked.extend(removed);
            }
            Step::SyncDir(dir) => disk.sync_dir(Path::new(["/a", "/b"][dir])).unwrap(),
        }
    }

    fn create(&mut self, disk: &SimDisk, path: &Path) {
        let created = disk.create(path);
        assert_eq!(created.is_err(), self.now.contains_key(path));
        if let Ok(file) = created {
            self.made += 1;
            file.write_at(&[IoSlice::new(&self.made.to_le_bytes())], 0)
                .unwrap();
            file.sync_data().unwrap();
            self.now.insert(path.into(), self.made);
        }
    }

    fn sync_all(&mut self, disk: &SimDisk) {
        disk.sync_dir(Path::new("/a")).unwrap();
        disk.sync_dir(Path::new("/b")).unwrap();
        self.synced_at_last = self.now.clone();
        self.unlinked.clear();
    }
}

fn names(disk: &SimDisk) -> View {
    let mut view = View::new();
    for dir in ["/a", "/b"] {
        for name in disk.list(Path::new(dir)).unwrap() {
            let path = Path::new(dir).join(name);
            let bytes = read_whole(disk, &path, 4).unwrap();
            view.insert(path, u32::from_le_bytes(bytes.try_into().unwrap()));
        }
    }
    view
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_keep_one_name_until_they_are_removed(
        before in steps(),
        after in steps(),
        seed: u64,
    ) {
        let disk = SimDisk::new(seed);
        disk.create_dir(Path::new("/a")).unwrap();
        disk.create_dir(Path::new("/b")).unwrap();
        let mut model = Model::default();
        before.iter().for_each(|step| model.perform(&disk, step));
        model.sync_all(&disk);
        after.iter().for_each(|step| model.perform(&disk, step));
        prop_assert_eq!(names(&disk), model.now.clone());
        for seed in 0..12 {
            let found = names(&disk.crashed_copy(seed));
            let mut files: Vec<u32> = found.values().copied().collect();
            files.sort_unstable();
            let count = files.len();
            files.dedup();
            prop_assert_eq!(files.len(), count, "a file has two names: {:?}", found);
            for (path, file) in &model.synced_at_last {
                let may_be_gone = model.unlinked.contains(file);
                prop_assert!(may_be_gone || files.contains(file), "{:?} is lost", path);
                let touched = model.now.get(path) != Some(file) || may_be_gone;
                prop_assert!(touched || after.iter().any(|step| moves(step, path))
                    || found.get(path) == Some(file), "{:?} changed by itself", path);
            }
        }
        model.sync_all(&disk);
        disk.crash();
        prop_assert_eq!(names(&disk), model.now);
    }
}

/// Whether a step may have moved the file under `path` away, perhaps to come back later.
fn moves(step: &Step, path: &Path) -> bool {
    matches!(step, Step::Rename(from, to)
        if Path::new(NAMES[*from]) == path || Path::new(NAMES[*to]) == path)
}

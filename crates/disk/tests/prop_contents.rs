//! What a power cut may do to the contents of a file, against a naive model.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::IoSlice;
use std::path::Path;

use millrace_disk::{Disk, File, SimDisk};
use proptest::prelude::*;

const SECTOR: usize = 512;
/// Longer than any file here.
const ROOM: usize = 64 << 10;
const PATH: &str = "/f";

#[derive(Clone, Debug)]
enum Step {
    Write {
        position: usize,
        len: usize,
        byte: u8,
    },
    SetLen(usize),
    Allocate {
        position: usize,
        len: usize,
    },
    Punch {
        position: usize,
        len: usize,
    },
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Positions near each other, so that changes overlap; on and off the boundaries.
    let position = prop_oneof![
        (0..12usize).prop_map(|n| n * 4096),
        (0..80usize).prop_map(|n| n * SECTOR),
        0..40_000usize,
    ];
    let len = prop_oneof![0..40usize, Just(SECTOR), Just(4096), 0..12_000usize];
    let range = (position, len);
    let step = prop_oneof![
        5 => (range.clone(), 1..=255u8)
            .prop_map(|((position, len), byte)| Step::Write { position, len, byte }),
        1 => (0..50_000usize).prop_map(Step::SetLen),
        1 => range.clone().prop_map(|(position, len)| Step::Allocate { position, len }),
        1 => range.prop_map(|(position, len)| Step::Punch { position, len }),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 1..24)
}

/// What a reader sees: bytes beyond the length are zeros.
#[derive(Clone, Debug, PartialEq)]
struct View {
    bytes: Vec<u8>,
    len: usize,
}

impl View {
    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Write {
                position,
                len,
                byte,
            } if len > 0 => {
                self.bytes[position..position + len].fill(byte);
                self.len = self.len.max(position + len);
            }
            Step::SetLen(len) => {
                self.bytes[len..].fill(0);
                self.len = len;
            }
            Step::Allocate { position, len } if len > 0 => self.len = self.len.max(position + len),
            Step::Punch { position, len } => self.bytes[position..position + len].fill(0),
            _ => {}
        }
    }

    fn visible(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn perform(file: &dyn File, step: &Step) {
    match *step {
        Step::Write {
            position,
            len,
            byte,
        } => {
            file.write_at(&[IoSlice::new(&vec![byte; len])], position as u64)
                .unwrap();
        }
        Step::SetLen(len) => file.set_len(len as u64).unwrap(),
        Step::Allocate { position, len } => file.allocate(position as u64, len as u64).unwrap(),
        Step::Punch { position, len } => file.punch(position as u64, len as u64).unwrap(),
        Step::Sync => file.sync_data().unwrap(),
    }
}

/// `views` are the synced one and all since. Each sector is as in one of them, the length too.
/// A cut of the file is journaled and contents are not, so it may also meet an older version of
/// the sector that it goes through.
fn check_survivor(survivor: &[u8], views: &[View]) -> Result<(), TestCaseError> {
    prop_assert!(
        views.iter().any(|view| view.len == survivor.len()),
        "len {}",
        survivor.len()
    );
    for (index, sector) in survivor.chunks(SECTOR).enumerate() {
        let range = index * SECTOR..index * SECTOR + sector.len();
        let cuts = views
            .iter()
            .map(|view| view.len)
            .filter(|len| range.contains(len));
        let known = views.iter().any(|view| {
            let version = &view.bytes[range.clone()];
            let is_cut = |len: usize| {
                let (kept, gone) = sector.split_at(len - range.start);
                version.starts_with(kept) && gone.iter().all(|byte| *byte == 0)
            };
            version == sector || cuts.clone().any(is_cut)
        });
        prop_assert!(known, "sector {index} holds what was never there");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_sector_survives_as_it_once_was_since_the_sync(steps in steps(), seed: u64) {
        let disk = SimDisk::new(seed);
        let file = disk.create(Path::new(PATH)).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        let mut views = vec![View { bytes: vec![0; ROOM], len: 0 }];
        for step in &steps {
            perform(&*file, step);
            let mut view = views.last().unwrap().clone();
            view.apply(step);
            if matches!(step, Step::Sync) {
                views.clear();
            }
            views.push(view);
        }
        prop_assert_eq!(disk.contents(Path::new(PATH)).unwrap(), views.last().unwrap().visible());
        prop_assert_eq!(disk.durable_contents(Path::new(PATH)).unwrap(), views[0].visible());
        for seed in 0..12 {
            let copy = disk.crashed_copy(seed);
            let survivor = copy.contents(Path::new(PATH)).unwrap();
            check_survivor(&survivor, &views)?;
            copy.crash();
            prop_assert_eq!(copy.contents(Path::new(PATH)).unwrap(), survivor);
        }
        file.sync_data().unwrap();
        disk.crash();
        prop_assert_eq!(disk.contents(Path::new(PATH)).unwrap(), views.last().unwrap().visible());
    }

    #[test]
    fn a_failed_sync_keeps_nothing_and_reads_on(steps in steps(), seed: u64) {
        use millrace_disk::{Fault, FaultKind, Op};
        let disk = SimDisk::new(seed);
        disk.place(Path::new(PATH), &[1; 3000]);
        let file = disk.open(Path::new(PATH)).unwrap();
        for step in steps.iter().filter(|step| !matches!(step, Step::Sync)) {
            perform(&*file, step);
        }
        let seen = disk.contents(Path::new(PATH));
        disk.inject(Fault::new(Op::SyncData, FaultKind::Io));
        file.sync_data().unwrap_err();
        file.sync_data().unwrap();
        prop_assert_eq!(disk.contents(Path::new(PATH)), seen);
        disk.crash();
        prop_assert_eq!(disk.contents(Path::new(PATH)).unwrap(), vec![1; 3000]);
    }

    #[test]
    fn blocks_are_counted_as_they_are_held(steps in steps(), seed: u64) {
        let disk = SimDisk::new(seed);
        let file = disk.create(Path::new(PATH)).unwrap();
        for step in &steps {
            perform(&*file, step);
        }
        let nonzero = disk.contents(Path::new(PATH)).unwrap();
        let written = nonzero.chunks(4096).filter(|page| page.iter().any(|byte| *byte != 0));
        let least = written.count() as u64 * 4096;
        prop_assert!(disk.used_bytes() >= least);
        prop_assert!(disk.used_bytes() <= ROOM as u64);
        disk.remove(Path::new(PATH)).unwrap();
        prop_assert!(disk.used_bytes() >= least);
        drop(file);
        prop_assert_eq!(disk.used_bytes(), 0);
    }
}

//! Each fault on demand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::{ErrorKind, IoSlice};
use std::path::Path;
use std::sync::Arc;

use millrace_disk::{Disk, Fault, FaultDisk, FaultKind, File, Op, SimDisk};

const EIO: i32 = 5;

fn path() -> &'static Path {
    Path::new("/f")
}

fn root() -> &'static Path {
    Path::new("/")
}

fn write(file: &dyn File, position: u64, bytes: &[u8]) -> Result<(), millrace_disk::Error> {
    file.write_at(&[IoSlice::new(bytes)], position)
}

/// A disk with a synced file of `bytes`, and that file.
fn disk_with(seed: u64, bytes: &[u8]) -> (SimDisk, Arc<dyn File>) {
    let disk = SimDisk::new(seed);
    disk.place(path(), bytes);
    let file = disk.open(path()).unwrap();
    (disk, file)
}

#[test]
fn a_failed_read_gives_its_error_once() {
    let (disk, file) = disk_with(1, b"abc");
    disk.inject(Fault::new(Op::Read, FaultKind::Io).nth(2));
    let mut buf = [0; 3];
    file.read_exact_at(&mut buf, 0).unwrap();
    let error = file.read_at(&mut buf, 1).unwrap_err();
    assert_eq!(error.source.raw_os_error(), Some(EIO));
    assert_eq!(
        (error.op, error.position, error.path.as_path()),
        (Op::Read, 1, path())
    );
    file.read_exact_at(&mut buf, 0).unwrap();
    assert_eq!(disk.faults_left(), 0);
}

#[test]
fn faults_are_for_matching_paths_until_cleared() {
    let (disk, file) = disk_with(1, b"abc");
    disk.place(Path::new("/other"), b"xyz");
    let other = disk.open(Path::new("/other")).unwrap();
    disk.inject(
        Fault::new(Op::Len, FaultKind::Kind(ErrorKind::TimedOut))
            .on("oth")
            .forever(),
    );
    for _ in 0..10 {
        assert_eq!(other.len().unwrap_err().source.kind(), ErrorKind::TimedOut);
        assert_eq!(file.len().unwrap(), 3);
    }
    disk.clear_faults();
    assert_eq!(other.len().unwrap(), 3);
}

#[test]
fn a_failed_write_may_leave_any_part() {
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let (disk, file) = disk_with(seed, &[b'o'; 4 * 512]);
        disk.inject(Fault::new(Op::Write, FaultKind::Io));
        write(&*file, 0, &[b'n'; 4 * 512]).unwrap_err();
        let bytes = disk.contents(path()).unwrap();
        seen.insert(
            bytes
                .chunks(512)
                .map(|sector| char::from(sector[0]))
                .collect::<String>(),
        );
    }
    for outcome in ["oooo", "nnnn", "nooo", "nnno", "onoo"] {
        assert!(seen.contains(outcome), "{outcome} never happened: {seen:?}");
    }
}

#[test]
fn a_failed_sync_reads_clean_and_is_gone_at_the_cut() {
    let (disk, file) = disk_with(1, b"old");
    write(&*file, 0, b"new!").unwrap();
    disk.inject(Fault::new(Op::SyncData, FaultKind::Io));
    assert_eq!(file.sync_data().unwrap_err().op, Op::SyncData);
    assert_eq!(disk.contents(path()).unwrap(), b"new!");
    assert!(!disk.has_unsynced(path()));
    file.sync_data().unwrap();
    write(&*file, 1024, b"later").unwrap();
    file.sync_data().unwrap();
    disk.crash();
    let mut expected = vec![0; 1029];
    expected[..3].copy_from_slice(b"old");
    expected[1024..].copy_from_slice(b"later");
    assert_eq!(disk.contents(path()).unwrap(), expected);
}

#[test]
fn a_lying_sync_says_yes_and_keeps_nothing_certain() {
    let mut lost = 0;
    for seed in 0..40 {
        let (disk, file) = disk_with(seed, b"old");
        write(&*file, 0, b"new").unwrap();
        disk.inject(Fault::new(Op::SyncData, FaultKind::Lie));
        file.sync_data().unwrap();
        assert!(disk.has_unsynced(path()));
        disk.crash();
        lost += u32::from(disk.contents(path()).unwrap() == b"old");
    }
    assert!((5..35).contains(&lost), "{lost} of 40");
}

#[test]
fn a_failed_directory_sync_is_not_made_good_by_the_next() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..60 {
        let disk = SimDisk::new(seed);
        drop(disk.create(path()).unwrap());
        disk.inject(Fault::new(Op::SyncDir, FaultKind::Io));
        disk.sync_dir(root()).unwrap_err();
        disk.sync_dir(root()).unwrap();
        assert_eq!(disk.list(root()).unwrap(), ["f"]);
        disk.crash();
        match disk.contents(path()) {
            Some(_) => kept += 1,
            None => lost += 1,
        }
    }
    assert!(kept > 5 && lost > 5, "{kept} kept, {lost} lost");
}

#[test]
fn failed_changes_of_names_may_have_happened() {
    let mut seen = BTreeSet::new();
    for seed in 0..80 {
        let (disk, _file) = disk_with(seed, b"x");
        for op in [Op::Create, Op::Rename, Op::Remove] {
            disk.inject(Fault::new(op, FaultKind::Io));
        }
        disk.create(Path::new("/new")).unwrap_err();
        let created = disk.open(Path::new("/new")).is_ok();
        disk.rename(path(), Path::new("/g")).unwrap_err();
        let renamed = disk.open(Path::new("/g")).is_ok();
        assert_ne!(renamed, disk.open(path()).is_ok());
        let removed = if renamed { Path::new("/g") } else { path() };
        disk.remove(removed).unwrap_err();
        seen.insert((created, renamed, disk.open(removed).is_err()));
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[test]
fn a_create_without_room_makes_nothing() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        disk.inject(Fault::new(Op::Create, FaultKind::NoSpace));
        assert!(disk.create(path()).unwrap_err().is_no_space());
        assert!(disk.list(root()).unwrap().is_empty());
    }
}

#[test]
fn a_failed_allocation_may_keep_a_part() {
    let mut lens = BTreeSet::new();
    for seed in 0..80 {
        let (disk, file) = disk_with(seed, b"");
        disk.inject(Fault::new(Op::Allocate, FaultKind::NoSpace));
        assert!(file.allocate(0, 3 * 4096).unwrap_err().is_no_space());
        assert_eq!(disk.used_bytes(), file.len().unwrap());
        lens.insert(file.len().unwrap());
    }
    assert_eq!(lens, [0, 4096, 8192, 12_288].into());
}

#[test]
fn a_full_disk_refuses_and_takes_again_what_was_freed() {
    let disk = SimDisk::with_capacity(1, 8 * 4096);
    let a = disk.create(Path::new("/a")).unwrap();
    let b = disk.create(Path::new("/b")).unwrap();
    write(&*a, 0, &[1; 4 * 4096]).unwrap();
    b.allocate(0, 4 * 4096).unwrap();
    assert_eq!(disk.space(root()).unwrap().available_bytes, 0);
    assert!(write(&*a, 4 * 4096, &[1]).unwrap_err().is_no_space());
    assert!(a.allocate(0, 5 * 4096).unwrap_err().is_no_space());
    write(&*a, 0, &[2; 4 * 4096]).unwrap();
    write(&*b, 0, &[2; 4 * 4096]).unwrap();

    a.punch(4096, 4096).unwrap();
    write(&*b, 4 * 4096, &[3]).unwrap();
    assert!(write(&*a, 4096, &[3]).unwrap_err().is_no_space());
    b.set_len(4 * 4096).unwrap();
    write(&*a, 4096, &[3]).unwrap();

    disk.remove(Path::new("/b")).unwrap();
    assert!(write(&*a, 4 * 4096, &[4]).unwrap_err().is_no_space());
    drop(b);
    assert_eq!(disk.used_bytes(), 4 * 4096);
    write(&*a, 4 * 4096, &[4; 4 * 4096]).unwrap();
    disk.set_capacity(9 * 4096);
    write(&*a, 8 * 4096, &[5]).unwrap();
}

#[test]
fn a_write_into_a_full_disk_leaves_what_fits_or_nothing() {
    let mut lens = BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::with_capacity(seed, 3 * 4096);
        let file = disk.create(path()).unwrap();
        assert!(
            write(&*file, 100, &[1; 4 * 4096])
                .unwrap_err()
                .is_no_space()
        );
        lens.insert(file.len().unwrap());
        assert!(disk.used_bytes() <= 3 * 4096);
    }
    assert_eq!(lens, [0, 3 * 4096].into());
}

#[test]
fn a_replaced_file_gives_its_blocks_back() {
    let (disk, file) = disk_with(1, &[1; 4096]);
    disk.place(Path::new("/g"), &[2; 8192]);
    drop(file);
    assert_eq!(disk.used_bytes(), 3 * 4096);
    disk.rename(Path::new("/g"), path()).unwrap();
    assert_eq!(disk.used_bytes(), 2 * 4096);
    disk.sync_dir(root()).unwrap();
    assert_eq!(disk.used_bytes(), 2 * 4096);
}

#[test]
fn flipped_bits_are_read_and_stay() {
    let (disk, file) = disk_with(1, &[0; 2000]);
    write(&*file, 600, &[8; 10]).unwrap();
    assert!(disk.corrupt(path(), 605, 0b101));
    assert!(!disk.corrupt(path(), 2000, 1));
    assert!(!disk.corrupt(Path::new("/none"), 0, 1));
    assert_eq!(disk.contents(path()).unwrap()[604..607], [8, 13, 8]);
    file.sync_data().unwrap();
    disk.crash();
    assert_eq!(disk.contents(path()).unwrap()[604..607], [8, 13, 8]);
}

#[test]
fn placed_contents_replace_synced_and_unsynced_ones() {
    let (disk, file) = disk_with(1, b"old");
    write(&*file, 0, b"unsynced").unwrap();
    disk.place(path(), b"placed");
    assert_eq!(file.len().unwrap(), 6);
    disk.crash();
    assert_eq!(disk.contents(path()).unwrap(), b"placed");
    assert_eq!(disk.durable_contents(path()).unwrap(), b"placed");
}

#[test]
fn cached_reads_may_have_to_wait() {
    let (disk, file) = disk_with(1, b"abc");
    let mut buf = [0; 3];
    assert_eq!(file.read_cached_at(&mut buf, 0).unwrap(), Some(3));
    disk.set_uncached_eighths(8);
    assert_eq!(file.read_cached_at(&mut buf, 0).unwrap(), None);
    disk.set_uncached_eighths(4);
    let answers: BTreeSet<_> = (0..40)
        .map(|_| file.read_cached_at(&mut buf, 0).unwrap())
        .collect();
    assert_eq!(answers, [None, Some(3)].into());
}

#[test]
fn a_fault_disk_fails_without_touching_the_disk_inside() {
    let sim = SimDisk::new(1);
    sim.place(path(), b"old");
    let disk = FaultDisk::new(Arc::new(sim.clone()));
    let file = disk.open(path()).unwrap();
    disk.inject(Fault::new(Op::Write, FaultKind::NoSpace).on("/f"));
    disk.inject(Fault::new(Op::SyncData, FaultKind::Io).nth(2));
    disk.inject(Fault::new(Op::SyncDir, FaultKind::Lie));
    assert!(write(&*file, 0, b"new").unwrap_err().is_no_space());
    assert_eq!(sim.contents(path()).unwrap(), b"old");
    write(&*file, 0, b"new").unwrap();
    file.sync_data().unwrap();
    write(&*file, 0, b"NEW").unwrap();
    let error = file.sync_data().unwrap_err();
    assert_eq!(
        (error.op, error.source.raw_os_error()),
        (Op::SyncData, Some(EIO))
    );
    assert!(sim.has_unsynced(path()));
    let before = sim.op_count();
    disk.sync_dir(Path::new("/none")).unwrap();
    assert_eq!(sim.op_count(), before);
    assert_eq!(disk.faults_left(), 0);
}

//! Cuts at every operation, and what each kind of outcome looks like.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::IoSlice;
use std::path::Path;

use millrace_disk::{CutPoint, Disk, Error, File, Op, SimDisk, When, read_whole, replace};

const PATH: &str = "/f";

fn path() -> &'static Path {
    Path::new(PATH)
}

fn root() -> &'static Path {
    Path::new("/")
}

fn write(file: &dyn File, position: u64, bytes: &[u8]) {
    file.write_at(&[IoSlice::new(bytes)], position).unwrap();
}

#[test]
fn i1_what_a_sync_covered_survives_every_cut() {
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"");
        let file = disk.open(path()).unwrap();
        write(&*file, 0, &[1; 10_000]);
        file.sync_data().unwrap();
        disk.crash();
        assert_eq!(disk.contents(path()).unwrap(), [1; 10_000]);
    }
}

#[test]
fn i2_a_name_survives_once_its_directory_is_synced() {
    let mut survived_without = 0;
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        let file = disk.create(path()).unwrap();
        write(&*file, 0, b"x");
        file.sync_data().unwrap();
        survived_without += u32::from(disk.crashed_copy(seed).open(path()).is_ok());
        disk.sync_dir(root()).unwrap();
        disk.crash();
        assert_eq!(disk.contents(path()).unwrap(), b"x");
    }
    assert!(
        (20..80).contains(&survived_without),
        "{survived_without} of 100"
    );
}

#[test]
fn a_sync_covers_its_own_file_only() {
    let mut lost = 0;
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"old");
        disk.place(Path::new("/g"), b"old");
        let (f, g) = (
            disk.open(path()).unwrap(),
            disk.open(Path::new("/g")).unwrap(),
        );
        write(&*f, 0, b"new");
        write(&*g, 0, b"new");
        f.sync_data().unwrap();
        disk.crash();
        assert_eq!(disk.contents(path()).unwrap(), b"new");
        lost += u32::from(disk.contents(Path::new("/g")).unwrap() == b"old");
    }
    assert!((5..35).contains(&lost), "{lost} of 40");
}

/// Two writes of three sectors each over old contents: every kind of outcome happens.
#[test]
fn unsynced_writes_are_kept_dropped_torn_and_reordered() {
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let disk = SimDisk::new(seed);
        disk.place(path(), &[b'o'; 6 * 512]);
        let file = disk.open(path()).unwrap();
        write(&*file, 0, &[b'1'; 3 * 512]);
        write(&*file, 3 * 512, &[b'2'; 3 * 512]);
        disk.crash();
        let bytes = disk.contents(path()).unwrap();
        let sectors = bytes.chunks(512).map(|sector| {
            assert!(
                sector.iter().all(|byte| *byte == sector[0]),
                "a sector is torn"
            );
            char::from(sector[0])
        });
        seen.insert(sectors.collect::<String>());
    }
    for outcome in [
        "oooooo", "111222", "111ooo", "ooo222", "11oooo", "o1oooo", "11122o", "1112o2",
    ] {
        assert!(seen.contains(outcome), "{outcome} never happened: {seen:?}");
    }
}

#[test]
fn a_sector_may_survive_in_each_of_its_versions() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"0");
        let file = disk.open(path()).unwrap();
        for version in [b"1", b"2", b"3"] {
            write(&*file, 0, version);
        }
        disk.crash();
        seen.insert(disk.contents(path()).unwrap());
    }
    let all: BTreeSet<Vec<u8>> = [b"0", b"1", b"2", b"3"].map(|v| v.to_vec()).into();
    assert_eq!(seen, all);
}

#[test]
fn growth_may_be_lost_or_survive_as_zeros() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"");
        let file = disk.open(path()).unwrap();
        write(&*file, 0, &[1; 512]);
        disk.crash();
        let bytes = disk.contents(path()).unwrap();
        seen.insert((bytes.len(), bytes.first().copied()));
    }
    assert_eq!(seen, [(0, None), (512, Some(0)), (512, Some(1))].into());
}

#[test]
fn a_punch_may_be_lost_and_its_blocks_come_back() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.place(path(), &[1; 8192]);
        let file = disk.open(path()).unwrap();
        file.punch(0, 4096).unwrap();
        assert_eq!(disk.used_bytes(), 4096);
        disk.crash();
        let bytes = disk.contents(path()).unwrap();
        assert_eq!(bytes[4096..], [1; 4096]);
        let zeros = bytes[..4096].iter().filter(|byte| **byte == 0).count();
        assert_eq!(disk.used_bytes(), if zeros == 4096 { 4096 } else { 8192 });
        seen.insert(if zeros % 4096 == 0 { zeros } else { 1 });
    }
    assert_eq!(seen, [0, 1, 4096].into());
}

#[test]
fn an_allocation_may_be_lost_with_its_blocks() {
    let mut seen = BTreeSet::new();
    for seed in 0..50 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"");
        disk.open(path()).unwrap().allocate(0, 65_536).unwrap();
        disk.crash();
        seen.insert((disk.contents(path()).unwrap().len(), disk.used_bytes()));
    }
    assert_eq!(seen, [(0, 0), (65_536, 65_536)].into());
}

/// Makes, writes, syncs, renames, removes: each step under its own label.
fn scenario(disk: &SimDisk) -> Result<(), Error> {
    disk.set_label("make");
    disk.create_dir(Path::new("/d"))?;
    let file = disk.create(Path::new("/d/a"))?;
    file.allocate(0, 8192)?;
    disk.set_label("fill");
    file.write_at(&[IoSlice::new(&[5; 3000])], 0)?;
    file.sync_data()?;
    disk.sync_dir(Path::new("/d"))?;
    disk.set_label("use");
    file.read_exact_at(&mut [0; 100], 0)?;
    replace(disk, Path::new("/d"), "state", b"whole")?;
    disk.rename(Path::new("/d/a"), Path::new("/d/b"))?;
    disk.sync_dir(Path::new("/d"))?;
    disk.remove(Path::new("/d/b"))?;
    disk.sync_dir(Path::new("/d"))
}

#[test]
fn the_power_can_be_cut_on_both_sides_of_every_operation() {
    let whole = SimDisk::new(0);
    scenario(&whole).unwrap();
    let total = whole.op_count();
    assert_eq!(total, 17);
    let mut points = BTreeSet::new();
    for number in 1..=total {
        for when in [When::Before, When::After] {
            let disk = SimDisk::new(number);
            disk.cut_at(number, when);
            let error = scenario(&disk).unwrap_err();
            assert!(error.is_power_cut(), "{error:?}");
            assert_eq!(
                std::error::Error::source(&error).unwrap().to_string(),
                "power is cut"
            );
            assert!(disk.is_off() && !disk.is_cut_planned());
            assert!(disk.list(root()).unwrap_err().is_power_cut());
            assert_eq!(disk.op_count(), number);
            points.insert(disk.last_cut().unwrap());
            disk.crash();
            assert!(!disk.is_off());
            match disk.contents(Path::new("/d/state")) {
                Some(bytes) => assert_eq!(bytes, b"whole"),
                None => assert!(number < 13 || (number == 13 && when == When::Before)),
            }
        }
    }
    let sync = CutPoint {
        label: "fill",
        op: Op::SyncData,
        when: When::After,
    };
    assert!(points.contains(&sync), "{points:?}");
    assert_eq!(points.len(), 26);
}

#[test]
fn a_cut_before_a_sync_may_lose_and_one_after_it_may_not() {
    let mut lost = 0;
    for seed in 0..60 {
        for when in [When::Before, When::After] {
            let disk = SimDisk::new(seed);
            disk.place(path(), b"old");
            disk.set_label("seal");
            disk.cut_when("seal", Op::SyncData, 2, when);
            let file = disk.open(path()).unwrap();
            file.sync_data().unwrap();
            write(&*file, 0, b"new");
            assert!(file.sync_data().unwrap_err().is_power_cut());
            disk.crash();
            let bytes = disk.contents(path()).unwrap();
            lost += u32::from(bytes == b"old");
            assert!(when == When::Before || bytes == b"new");
        }
    }
    assert!((10..50).contains(&lost), "{lost} of 60");
}

#[test]
fn files_and_locks_of_a_former_life_are_dead() {
    let disk = SimDisk::new(1);
    disk.place(path(), b"x");
    let file = disk.open(path()).unwrap();
    let lock = disk.lock(Path::new("/lock")).unwrap();
    disk.crash();
    assert!(file.len().unwrap_err().is_power_cut());
    assert!(
        file.write_at(&[IoSlice::new(b"y")], 0)
            .unwrap_err()
            .is_power_cut()
    );
    let again = disk.lock(Path::new("/lock")).unwrap();
    drop(lock);
    assert!(disk.lock(Path::new("/lock")).unwrap_err().is_locked());
    drop((file, again));
    assert_eq!(disk.contents(path()).unwrap(), b"x");
}

#[test]
fn a_killed_process_leaves_what_it_wrote() {
    let disk = SimDisk::new(1);
    let file = disk.create(path()).unwrap();
    write(&*file, 0, b"in the cache");
    let lock = disk.lock(Path::new("/lock")).unwrap();
    disk.kill();
    assert!(file.len().unwrap_err().is_power_cut());
    drop(lock);
    assert_eq!(read_whole(&disk, path(), 100).unwrap(), b"in the cache");
    drop(disk.lock(Path::new("/lock")).unwrap());
}

#[test]
fn a_replaced_file_is_whole_after_a_cut_anywhere() {
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let disk = SimDisk::new(seed);
        replace(&disk, root(), "f", &[1; 2000]).unwrap();
        let before = disk.op_count();
        replace(&disk, root(), "f", &[2; 3000]).unwrap();
        let steps = disk.op_count() - before;
        for step in 1..=steps {
            for when in [When::Before, When::After] {
                let disk = SimDisk::new(seed * 100 + step);
                replace(&disk, root(), "f", &[1; 2000]).unwrap();
                disk.cut_at(before + step, when);
                replace(&disk, root(), "f", &[2; 3000]).unwrap_err();
                disk.crash();
                let bytes = disk.contents(path()).unwrap();
                assert!(
                    bytes == [1; 2000] || bytes == [2; 3000],
                    "step {step} {when:?}"
                );
                seen.insert((step, bytes[0]));
                replace(&disk, root(), "f", &[3; 10]).unwrap();
                assert_eq!(disk.contents(path()).unwrap(), [3; 10]);
            }
        }
    }
    // The new contents are possible from the rename on.
    assert!(seen.contains(&(5, 1)) && seen.contains(&(5, 2)) && !seen.contains(&(4, 2)));
}

/// What a careless replace (no sync before the rename) leaves: the new name on lost contents.
#[test]
fn a_rename_may_survive_without_the_contents() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"old");
        let file = disk.create(Path::new("/new")).unwrap();
        write(&*file, 0, b"new");
        disk.rename(Path::new("/new"), path()).unwrap();
        disk.sync_dir(root()).unwrap();
        disk.crash();
        seen.insert(disk.contents(path()).unwrap());
    }
    let all: BTreeSet<Vec<u8>> = [&b"new"[..], &[0, 0, 0], &[]].map(<[u8]>::to_vec).into();
    assert_eq!(seen, all);
}

#[test]
fn a_removed_file_may_come_back_until_the_directory_is_synced() {
    let mut back = 0;
    for seed in 0..60 {
        let disk = SimDisk::new(seed);
        disk.place(path(), b"x");
        disk.remove(path()).unwrap();
        let copy = disk.crashed_copy(seed);
        back += u32::from(copy.contents(path()).is_some_and(|bytes| bytes == b"x"));
        disk.sync_dir(root()).unwrap();
        disk.crash();
        assert!(disk.contents(path()).is_none());
    }
    assert!((10..50).contains(&back), "{back} of 60");
}

#[test]
fn the_same_seed_gives_the_same_trace_and_the_same_survivors() {
    let run = |seed| {
        let disk = SimDisk::new(seed);
        disk.record_operations(true);
        scenario(&disk).unwrap();
        let file = disk.create(Path::new("/d/unsynced")).unwrap();
        for n in 0..50u8 {
            write(&*file, u64::from(n) * 300, &[n; 700]);
        }
        disk.sync_dir(Path::new("/d")).unwrap();
        disk.crash();
        (
            disk.trace_hash(),
            disk.operations(),
            disk.contents(Path::new("/d/unsynced")),
        )
    };
    assert_eq!(run(3), run(3));
    let survivors: BTreeSet<_> = (0..20).map(|seed| run(seed).2).collect();
    assert!(survivors.len() > 10, "{} different of 20", survivors.len());
}

#[test]
fn the_trace_tells_each_operation_under_its_label() {
    let disk = SimDisk::new(1);
    disk.record_operations(true);
    scenario(&disk).unwrap();
    let operations = disk.operations();
    let write = operations.iter().find(|o| o.op == Op::Write).unwrap();
    assert_eq!(
        (write.number, write.position, write.len, write.label),
        (4, 0, 3000, "fill")
    );
    assert_eq!(&*write.path, Path::new("/d/a"));
    let rename = operations.iter().rfind(|o| o.op == Op::Rename).unwrap();
    assert_eq!(rename.to.as_deref(), Some(Path::new("/d/b")));
    {
        let _inner = disk.label("inner");
        disk.open(Path::new("/d/state")).unwrap();
    }
    disk.open(Path::new("/d/state")).unwrap();
    let labels: Vec<&str> = disk
        .operations()
        .iter()
        .rev()
        .take(2)
        .map(|o| o.label)
        .collect();
    assert_eq!(labels, ["use", "inner"]);
}

#[test]
fn other_bytes_give_another_trace() {
    let run = |byte| {
        let disk = SimDisk::new(1);
        disk.place(path(), b"");
        write(&*disk.open(path()).unwrap(), 0, &[byte; 100]);
        disk.trace_hash()
    };
    assert_ne!(run(1), run(2));
    assert_eq!(run(1), run(1));
}

#[test]
fn a_crashed_copy_leaves_the_disk_alone() {
    let disk = SimDisk::new(1);
    disk.place(path(), b"old");
    let file = disk.open(path()).unwrap();
    write(&*file, 0, b"new");
    let copies: BTreeSet<_> = (0..20)
        .map(|seed| disk.crashed_copy(seed).contents(path()).unwrap())
        .collect();
    assert_eq!(copies, [b"new".to_vec(), b"old".to_vec()].into());
    assert!(disk.has_unsynced(path()));
    write(&*file, 0, b"NEW");
    file.sync_data().unwrap();
    assert!(!disk.has_unsynced(path()));
    assert_eq!(disk.durable_contents(path()).unwrap(), b"NEW");
}

//! One suite that every disk passes: what callers may rely on while the power is on.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;

use millrace_disk::{
    Disk, FaultDisk, File, Op, RealDisk, RecordingDisk, SimDisk, bytes_before_boundary, read_whole,
    replace,
};
use types::limits::BLOCK_BYTES;

type Case = fn(&dyn Disk, &Path);

const CASES: &[(&str, Case)] = &[
    ("writes_read_back", writes_read_back),
    (
        "many_slices_are_written_in_order",
        many_slices_are_written_in_order,
    ),
    (
        "what_passes_the_page_cache_is_the_same_file",
        what_passes_the_page_cache_is_the_same_file,
    ),
    (
        "what_is_not_aligned_is_read_and_written_all_the_same",
        what_is_not_aligned_is_read_and_written_all_the_same,
    ),
    ("a_read_ends_with_the_file", a_read_ends_with_the_file),
    ("gaps_and_new_bytes_are_zeros", gaps_and_new_bytes_are_zeros),
    (
        "cutting_forgets_what_was_behind",
        cutting_forgets_what_was_behind,
    ),
    (
        "allocation_grows_and_keeps_contents",
        allocation_grows_and_keeps_contents,
    ),
    (
        "a_punched_range_reads_as_zeros",
        a_punched_range_reads_as_zeros,
    ),
    ("names_are_taken_once", names_are_taken_once),
    ("missing_things_are_not_found", missing_things_are_not_found),
    ("renaming_replaces", renaming_replaces),
    (
        "a_file_can_move_between_directories",
        a_file_can_move_between_directories,
    ),
    (
        "a_removed_file_lives_while_open",
        a_removed_file_lives_while_open,
    ),
    (
        "directories_list_their_files_sorted",
        directories_list_their_files_sorted,
    ),
    (
        "directories_are_made_with_parents",
        directories_are_made_with_parents,
    ),
    ("a_lock_is_held_once", a_lock_is_held_once),
    ("space_is_told", space_is_told),
    (
        "replace_leaves_the_new_contents",
        replace_leaves_the_new_contents,
    ),
    (
        "cached_reads_agree_with_reads",
        cached_reads_agree_with_reads,
    ),
    (
        "two_open_files_see_each_other",
        two_open_files_see_each_other,
    ),
    (
        "errors_name_operation_path_and_position",
        errors_name_operation_path_and_position,
    ),
];

/// Runs the suite; `root` is a directory of the disk, each case gets one of its own in it.
fn conforms(disk: &dyn Disk, root: &Path) {
    for (name, case) in CASES {
        let dir = root.join(name);
        disk.create_dir(&dir).unwrap();
        case(disk, &dir);
    }
}

#[test]
fn the_real_disk_conforms() {
    let dir = tempfile::tempdir().unwrap();
    conforms(&RealDisk::new(), dir.path());
}

#[test]
fn the_simulated_disk_conforms() {
    for seed in 0..8 {
        conforms(&SimDisk::new(seed), Path::new("/data"));
    }
}

#[test]
fn disks_around_the_real_disk_conform() {
    let dir = tempfile::tempdir().unwrap();
    let recording = RecordingDisk::new(Arc::new(RealDisk::new()), |_, _| {});
    conforms(&FaultDisk::new(Arc::new(recording)), dir.path());
}

fn write(file: &dyn File, position: u64, bytes: &[u8]) {
    file.write_at(&[IoSlice::new(bytes)], position).unwrap();
}

fn read(file: &dyn File, position: u64, len: usize) -> Vec<u8> {
    let mut buf = vec![0xee; len];
    file.read_exact_at(&mut buf, position).unwrap();
    buf
}

fn file_with(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Arc<dyn File> {
    let file = disk.create(path).unwrap();
    write(&*file, 0, bytes);
    file
}

/// Bytes that differ from their neighbours and from the same place of another page.
fn pattern(len: usize) -> Vec<u8> {
    let byte = |i: u32| (i.wrapping_mul(31) ^ (i >> 8)).to_le_bytes()[0];
    (0..).map(byte).take(len).collect()
}

fn writes_read_back(disk: &dyn Disk, dir: &Path) {
    let file = disk.create(&dir.join("f")).unwrap();
    let bytes = pattern(100_000);
    let slices = [&bytes[..1], &bytes[1..513], &[], &bytes[513..]].map(IoSlice::new);
    file.write_at(&slices, 77).unwrap();
    assert_eq!(file.len().unwrap(), 100_077);
    assert!(!file.is_empty().unwrap());
    assert_eq!(read(&*file, 77, 100_000), bytes);
    write(&*file, 5000, b"over");
    assert_eq!(read(&*file, 4998, 8)[2..6], *b"over");
    assert_eq!(read(&*file, 4990, 8), bytes[4913..4921]);
    file.write_at(&[], 1 << 30).unwrap();
    assert_eq!(file.len().unwrap(), 100_077);
    file.sync_data().unwrap();
    drop(file);
    let again = disk.open(&dir.join("f")).unwrap();
    assert_eq!(again.path(), dir.join("f"));
    assert_eq!(read(&*again, 5000, 4), *b"over");
}

fn many_slices_are_written_in_order(disk: &dyn Disk, dir: &Path) {
    let file = disk.create(&dir.join("f")).unwrap();
    let bytes = pattern(3000 * 7);
    let slices: Vec<IoSlice<'_>> = bytes.chunks(7).map(IoSlice::new).collect();
    file.write_at(&slices, 3).unwrap();
    assert_eq!(read(&*file, 3, bytes.len()), bytes);
    assert_eq!(file.len().unwrap(), 3 + bytes.len() as u64);
}

/// A buffer of `len` bytes and where in it a block boundary of memory lies.
fn aligned(len: usize) -> (Vec<u8>, usize) {
    let block = usize::try_from(BLOCK_BYTES).unwrap();
    let buffer = vec![0xee; len + block];
    let from = bytes_before_boundary(&buffer);
    (buffer, from)
}

fn what_passes_the_page_cache_is_the_same_file(disk: &dyn Disk, dir: &Path) {
    let file = disk.create(&dir.join("f")).unwrap();
    file.allocate(0, 1 << 20).unwrap();
    let bytes = pattern(3 * 4096);
    let (mut buffer, from) = aligned(bytes.len());
    let part = from..from + bytes.len();
    buffer[part.clone()].copy_from_slice(&bytes);
    // In the page cache before it is written past it.
    assert_eq!(read(&*file, 8192, 4096), [0; 4096]);
    file.write_direct_at(&buffer[part.clone()], 8192).unwrap();
    assert_eq!(read(&*file, 8192, bytes.len()), bytes);
    write(&*file, 8192 + 100, b"over");
    buffer.fill(0xee);
    let got = file
        .read_direct_at(&mut buffer[part.clone()], 8192)
        .unwrap();
    assert_eq!(got, bytes.len());
    assert_eq!(buffer[from..from + 100], bytes[..100]);
    assert_eq!(buffer[from + 100..from + 104], *b"over");
    assert_eq!(buffer[from + 104..part.end], bytes[104..]);
    file.sync_data().unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20);
}

fn what_is_not_aligned_is_read_and_written_all_the_same(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), &pattern(5_000));
    file.write_direct_at(b"odd", 4_999).unwrap();
    assert_eq!(file.len().unwrap(), 5_002);
    let mut odd = [0; 5];
    assert_eq!(file.read_direct_at(&mut odd, 4_998).unwrap(), 4);
    assert_eq!(odd[1..4], *b"odd");
    let (mut buffer, from) = aligned(8_192);
    let got = file
        .read_direct_at(&mut buffer[from..from + 8_192], 0)
        .unwrap();
    assert_eq!(got, 5_002);
    assert_eq!(buffer[from..from + 4_999], pattern(4_999));
    assert_eq!(
        file.read_direct_at(&mut buffer[from..from + 4_096], 8_192)
            .unwrap(),
        0
    );
}

fn a_read_ends_with_the_file(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), b"0123456789");
    let mut buf = [0; 8];
    assert_eq!(file.read_at(&mut buf, 6).unwrap(), 4);
    assert_eq!(buf[..4], *b"6789");
    assert_eq!(file.read_at(&mut buf, 10).unwrap(), 0);
    assert_eq!(file.read_at(&mut buf, 1 << 40).unwrap(), 0);
    assert_eq!(file.read_at(&mut [], 0).unwrap(), 0);
    assert!(
        file.read_exact_at(&mut buf, 6)
            .unwrap_err()
            .is_end_of_file()
    );
    file.read_exact_at(&mut buf, 2).unwrap();
    assert_eq!(buf, *b"23456789");
}

fn gaps_and_new_bytes_are_zeros(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), b"abc");
    write(&*file, 9000, b"x");
    assert_eq!(read(&*file, 0, 9000), [&b"abc"[..], &[0; 8997]].concat());
    file.set_len(20_000).unwrap();
    assert_eq!(
        read(&*file, 9000, 11_000),
        [&b"x"[..], &[0; 10_999]].concat()
    );
}

fn cutting_forgets_what_was_behind(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), &pattern(10_000));
    file.set_len(100).unwrap();
    assert_eq!(file.len().unwrap(), 100);
    file.set_len(10_000).unwrap();
    assert_eq!(
        read(&*file, 0, 10_000),
        [&pattern(100)[..], &[0; 9900]].concat()
    );
}

fn allocation_grows_and_keeps_contents(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), &pattern(5000));
    file.allocate(0, 65_536).unwrap();
    assert_eq!(file.len().unwrap(), 65_536);
    assert_eq!(
        read(&*file, 0, 65_536),
        [&pattern(5000)[..], &[0; 60_536]].concat()
    );
    file.allocate(100, 100).unwrap();
    file.allocate(70_000, 0).unwrap();
    assert_eq!(file.len().unwrap(), 65_536);
    file.sync_data().unwrap();
}

fn a_punched_range_reads_as_zeros(disk: &dyn Disk, dir: &Path) {
    let bytes = pattern(6 * 4096);
    let file = file_with(disk, &dir.join("f"), &bytes);
    file.punch(4096 + 10, 2 * 4096).unwrap();
    file.punch(0, 0).unwrap();
    assert_eq!(file.len().unwrap(), 6 * 4096);
    let zeroed = 4096 + 10..3 * 4096 + 10;
    assert_eq!(read(&*file, 0, zeroed.start), bytes[..zeroed.start]);
    assert_eq!(
        read(&*file, zeroed.start as u64, zeroed.len()),
        vec![0; zeroed.len()]
    );
    assert_eq!(
        read(&*file, zeroed.end as u64, 2 * 4096),
        bytes[zeroed.end..][..2 * 4096]
    );
    file.punch(5 * 4096, 10 * 4096).unwrap();
    assert_eq!(file.len().unwrap(), 6 * 4096);
    assert_eq!(read(&*file, 5 * 4096, 4096), [0; 4096]);
    write(&*file, 5 * 4096, b"again");
    assert_eq!(read(&*file, 5 * 4096, 5), *b"again");
}

fn names_are_taken_once(disk: &dyn Disk, dir: &Path) {
    let path = dir.join("f");
    let file = file_with(disk, &path, b"first");
    assert!(disk.create(&path).unwrap_err().is_already_exists());
    assert_eq!(read(&*file, 0, 5), *b"first");
    disk.remove(&path).unwrap();
    let second = disk.create(&path).unwrap();
    assert!(second.is_empty().unwrap());
    assert!(disk.create(dir).unwrap_err().is_already_exists());
}

fn missing_things_are_not_found(disk: &dyn Disk, dir: &Path) {
    let none = dir.join("none");
    assert!(disk.open(&none).unwrap_err().is_not_found());
    assert!(disk.remove(&none).unwrap_err().is_not_found());
    assert!(
        disk.rename(&none, &dir.join("b"))
            .unwrap_err()
            .is_not_found()
    );
    assert!(disk.list(&none).unwrap_err().is_not_found());
    assert!(disk.sync_dir(&none).unwrap_err().is_not_found());
    assert!(disk.create(&none.join("f")).unwrap_err().is_not_found());
    drop(file_with(disk, &dir.join("f"), b""));
    assert!(
        disk.rename(&dir.join("f"), &none.join("f"))
            .unwrap_err()
            .is_not_found()
    );
}

fn renaming_replaces(disk: &dyn Disk, dir: &Path) {
    let (a, b) = (dir.join("a"), dir.join("b"));
    drop(file_with(disk, &a, b"new"));
    let old = file_with(disk, &b, b"old");
    disk.rename(&a, &b).unwrap();
    assert!(disk.open(&a).unwrap_err().is_not_found());
    assert_eq!(read_whole(disk, &b, 100).unwrap(), b"new");
    assert_eq!(read(&*old, 0, 3), *b"old");
    disk.rename(&b, &b).unwrap();
    assert_eq!(disk.list(dir).unwrap(), ["b"]);
}

fn a_file_can_move_between_directories(disk: &dyn Disk, dir: &Path) {
    let other = dir.join("other");
    disk.create_dir(&other).unwrap();
    let file = file_with(disk, &dir.join("f"), b"moved");
    disk.rename(&dir.join("f"), &other.join("g")).unwrap();
    disk.sync_dir(dir).unwrap();
    disk.sync_dir(&other).unwrap();
    write(&*file, 0, b"M");
    assert_eq!(read_whole(disk, &other.join("g"), 5).unwrap(), b"Moved");
    assert!(disk.list(dir).unwrap().is_empty());
}

fn a_removed_file_lives_while_open(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), b"still");
    disk.remove(&dir.join("f")).unwrap();
    disk.sync_dir(dir).unwrap();
    assert!(disk.open(&dir.join("f")).unwrap_err().is_not_found());
    write(&*file, 5, b" here");
    file.sync_data().unwrap();
    assert_eq!(read(&*file, 0, 10), *b"still here");
}

fn directories_list_their_files_sorted(disk: &dyn Disk, dir: &Path) {
    for name in ["b", "c", "a", "10", "9"] {
        drop(disk.create(&dir.join(name)).unwrap());
    }
    disk.create_dir(&dir.join("sub")).unwrap();
    drop(disk.create(&dir.join("sub").join("inner")).unwrap());
    disk.remove(&dir.join("c")).unwrap();
    assert_eq!(disk.list(dir).unwrap(), ["10", "9", "a", "b"]);
    assert_eq!(disk.list(&dir.join("sub")).unwrap(), ["inner"]);
}

fn directories_are_made_with_parents(disk: &dyn Disk, dir: &Path) {
    let deep = dir.join("x").join("y").join("z");
    disk.create_dir(&deep).unwrap();
    disk.create_dir(&deep).unwrap();
    assert!(disk.list(&deep).unwrap().is_empty());
    disk.sync_dir(&deep).unwrap();
    drop(disk.create(&dir.join("file")).unwrap());
    disk.create_dir(&dir.join("file")).unwrap_err();
    disk.create_dir(&dir.join("file").join("in")).unwrap_err();
}

fn a_lock_is_held_once(disk: &dyn Disk, dir: &Path) {
    let path = dir.join("lock");
    let held = disk.lock(&path).unwrap();
    let refused = disk.lock(&path).unwrap_err();
    assert!(refused.is_locked(), "{refused:?}");
    let other = disk.lock(&dir.join("other")).unwrap();
    drop(held);
    let again = disk.lock(&path).unwrap();
    assert_eq!(disk.list(dir).unwrap(), ["lock", "other"]);
    drop((again, other));
}

fn space_is_told(disk: &dyn Disk, dir: &Path) {
    let space = disk.space(dir).unwrap();
    assert!(space.available_bytes > 0);
    assert!(space.available_bytes <= space.total_bytes);
}

fn replace_leaves_the_new_contents(disk: &dyn Disk, dir: &Path) {
    drop(file_with(disk, &dir.join("f.new"), b"left by a former try"));
    replace(disk, dir, "f", b"one").unwrap();
    assert_eq!(read_whole(disk, &dir.join("f"), 100).unwrap(), b"one");
    replace(disk, dir, "f", b"").unwrap();
    assert_eq!(read_whole(disk, &dir.join("f"), 100).unwrap(), b"");
    replace(disk, dir, "f", &pattern(9000)).unwrap();
    assert_eq!(
        read_whole(disk, &dir.join("f"), 9000).unwrap(),
        pattern(9000)
    );
    assert_eq!(disk.list(dir).unwrap(), ["f"]);
    let too_long = read_whole(disk, &dir.join("f"), 8999).unwrap_err();
    assert_eq!(too_long.source.kind(), std::io::ErrorKind::FileTooLarge);
}

fn cached_reads_agree_with_reads(disk: &dyn Disk, dir: &Path) {
    let bytes = pattern(50_000);
    let file = file_with(disk, &dir.join("f"), &bytes);
    let mut buf = vec![0; 1000];
    for position in [0, 1, 4095, 30_000, 49_500, 50_000, 60_000] {
        if let Some(count) = file.read_cached_at(&mut buf, position).unwrap() {
            let start = usize::try_from(position).unwrap().min(bytes.len());
            let end = (start + 1000).min(bytes.len());
            assert_eq!(buf[..count], bytes[start..end], "at {position}");
        }
    }
    file.prefetch(0, 10_000);
    file.prefetch(1 << 40, 0);
}

fn two_open_files_see_each_other(disk: &dyn Disk, dir: &Path) {
    let one = file_with(disk, &dir.join("f"), b"....");
    let two = disk.open(&dir.join("f")).unwrap();
    write(&*two, 1, b"ab");
    assert_eq!(read(&*one, 0, 4), *b".ab.");
    drop(one);
    assert_eq!(read(&*two, 0, 4), *b".ab.");
}

fn errors_name_operation_path_and_position(disk: &dyn Disk, dir: &Path) {
    let file = file_with(disk, &dir.join("f"), b"abc");
    let error = file.read_exact_at(&mut [0; 10], 1).unwrap_err();
    assert_eq!((error.op, error.position), (Op::Read, 3));
    assert_eq!(error.path, dir.join("f"));
    assert!(error.to_string().contains("Read of "), "{error}");
    let error = disk.open(&dir.join("none")).unwrap_err();
    assert_eq!((error.op, error.path), (Op::Open, dir.join("none")));
    let beyond = file.write_at(&[IoSlice::new(b"x")], u64::MAX).unwrap_err();
    assert_eq!((beyond.op, beyond.position), (Op::Write, u64::MAX));
    assert_eq!(file.len().unwrap(), 3);
}

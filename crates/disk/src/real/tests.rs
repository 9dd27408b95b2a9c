use std::io::IoSlice;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use rustix::fd::AsFd;

use super::RealDisk;
use crate::Disk;

fn blocks(path: &Path) -> u64 {
    path.metadata().unwrap().blocks()
}

#[test]
fn blocks_are_taken_by_allocation_and_given_back_by_punching() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let file = RealDisk::new().create(&path).unwrap();
    file.allocate(0, 1 << 20).unwrap();
    assert!(blocks(&path) >= 2048, "{} blocks of 512", blocks(&path));
    file.write_at(&[IoSlice::new(&vec![1; 1 << 20])], 0)
        .unwrap();
    file.sync_data().unwrap();
    file.punch(4096, (1 << 20) - 2 * 4096).unwrap();
    file.sync_data().unwrap();
    assert!(blocks(&path) <= 64, "{} blocks of 512", blocks(&path));
    assert_eq!(file.len().unwrap(), 1 << 20);
}

#[test]
fn files_and_directories_are_for_their_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a").join("b");
    let disk = RealDisk::new();
    disk.create_dir(&inner).unwrap();
    let file = disk.create(&inner.join("f")).unwrap();
    assert_eq!(inner.metadata().unwrap().mode() & 0o077, 0);
    assert_eq!(file.path().metadata().unwrap().mode() & 0o077, 0);
}

#[test]
fn descriptors_do_not_pass_to_other_programs() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RealDisk::new();
    let made = disk.create(&dir.path().join("f")).unwrap();
    let opened = disk.open(&dir.path().join("f")).unwrap();
    for file in [made, opened] {
        let fd = file.as_fd().unwrap();
        let flags = rustix::io::fcntl_getfd(fd.as_fd()).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }
}

#[test]
fn what_was_just_written_is_read_from_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let file = RealDisk::new().create(&dir.path().join("f")).unwrap();
    file.write_at(&[IoSlice::new(&[7; 10_000])], 0).unwrap();
    let mut buf = [0; 4096];
    // `None` is right where the file system cannot tell; what must not be is a short count.
    let read = file.read_cached_at(&mut buf, 8000).unwrap();
    assert!(matches!(read, None | Some(2000)), "{read:?}");
    if read.is_some() {
        assert_eq!(buf[..2000], [7; 2000]);
    }
}

#[test]
fn only_files_with_readable_names_are_listed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = tempfile::tempdir().unwrap();
    let disk = RealDisk::new();
    drop(disk.create(&dir.path().join("f")).unwrap());
    drop(
        disk.create(&dir.path().join(OsStr::from_bytes(b"\xff")))
            .unwrap(),
    );
    symlink(dir.path().join("f"), dir.path().join("link")).unwrap();
    assert_eq!(disk.list(dir.path()).unwrap(), ["f"]);
}

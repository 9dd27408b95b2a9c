//! The disk that tells what is asked of another.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::IoSlice;
use std::path::Path;
use std::sync::{Arc, Mutex};

use millrace_disk::{Disk, Fault, FaultDisk, FaultKind, Op, Phase, RealDisk, RecordingDisk};

type Seen = Arc<Mutex<Vec<(u64, Op, u64, u64, Phase)>>>;

fn recording(inner: Arc<dyn Disk>) -> (RecordingDisk, Seen) {
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let disk = RecordingDisk::new(inner, move |operation, phase| {
        let told = (
            operation.number,
            operation.op,
            operation.position,
            operation.len,
            phase,
        );
        sink.lock().unwrap().push(told);
    });
    (disk, seen)
}

#[test]
fn operations_are_told_around_the_real_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, seen) = recording(Arc::new(RealDisk::new()));
    let file = disk.create(&dir.path().join("f")).unwrap();
    file.write_at(&[IoSlice::new(b"ab"), IoSlice::new(b"c")], 7)
        .unwrap();
    file.sync_data().unwrap();
    assert!(file.as_fd().is_some());
    let (start, end) = (Phase::Start, Phase::End(true));
    let expected = [
        (1, Op::Create, 0, 0, start),
        (1, Op::Create, 0, 0, end),
        (2, Op::Write, 7, 3, start),
        (2, Op::Write, 7, 3, end),
        (3, Op::SyncData, 0, 0, start),
        (3, Op::SyncData, 0, 0, end),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn a_failed_operation_is_told_as_failed() {
    let faulty = Arc::new(FaultDisk::new(Arc::new(RealDisk::new())));
    let (disk, seen) = recording(Arc::clone(&faulty) as Arc<dyn Disk>);
    faulty.inject(Fault::new(Op::SyncDir, FaultKind::Io));
    disk.sync_dir(Path::new("/")).unwrap_err();
    assert_eq!(
        seen.lock().unwrap().last(),
        Some(&(1, Op::SyncDir, 0, 0, Phase::End(false)))
    );
}

/// The end of a sync is told before its caller can act on it, the start of a write before its
/// bytes can be there: so "told ended" means "on disk" and "not told started" means "not there".
#[test]
fn the_observer_runs_inside_the_call() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let lens = Arc::new(Mutex::new(Vec::new()));
    let (sink, observed) = (Arc::clone(&lens), path.clone());
    let disk = RecordingDisk::new(Arc::new(RealDisk::new()), move |operation, phase| {
        if operation.op == Op::Write {
            sink.lock()
                .unwrap()
                .push((phase, observed.metadata().unwrap().len()));
        }
    });
    let file = disk.create(&path).unwrap();
    file.write_at(&[IoSlice::new(b"abc")], 0).unwrap();
    assert_eq!(
        *lens.lock().unwrap(),
        [(Phase::Start, 0), (Phase::End(true), 3)]
    );
}

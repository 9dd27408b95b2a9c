//! Faults put into the engine on purpose: the seeds that the engine passes see each of them, or a scene
//! does where no seed comes by what it takes.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests outside of test functions"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use disk::{Fault, FaultKind, Op};
use log::file::FileHeader;
use log::mutant::{self, Mutant};
use log::read::Mode;
use simulation::World;
use simulation::calm::Calm;
use simulation::files::{LogFiles, frames, live_file};
use types::Offset;

/// Seeds that `seeds.rs` goes through with the engine as it is.
const SEEDS: u64 = 300;

/// What the first seed that sees a fault says.
fn caught(mutant: Option<Mutant>, world: impl Fn(u64) -> World) -> Option<(u64, String)> {
    mutant::set(mutant);
    let found = (0..SEEDS).find_map(|seed| {
        let run = || world(seed).run().err().map(|failure| failure.0);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(said) => said.map(|said| (seed, said)),
            Err(_) => Some((seed, "the engine asserts".to_owned())),
        }
    });
    mutant::set(None);
    found
}

#[track_caller]
fn assert_caught(name: &str, mutant: Option<Mutant>, world: impl Fn(u64) -> World) {
    match caught(mutant, world) {
        Some((seed, said)) => println!("{name}: seed {seed}: {said}"),
        None => panic!("{name}: no seed sees it"),
    }
}

#[track_caller]
fn assert_seen(mutant: Mutant) {
    assert_caught(&format!("{mutant:?}"), Some(mutant), World::new);
}

#[test]
fn a_sync_that_is_skipped_is_seen() {
    let lie = Fault::new(Op::SyncData, FaultKind::Lie)
        .on("/log/")
        .forever();
    assert_caught("sync skipped", None, |seed| {
        World::new(seed).lying(lie.clone())
    });
}

#[test]
fn a_directory_that_is_not_synced_is_seen() {
    let lie = Fault::new(Op::SyncDir, FaultKind::Lie)
        .on("/data/log")
        .forever();
    assert_caught("no directory sync", None, |seed| {
        World::new(seed).lying(lie.clone())
    });
}

#[test]
fn a_roll_without_a_sync_is_seen() {
    assert_seen(Mutant::RollUnsynced);
}

#[test]
fn appending_behind_a_cut_is_seen() {
    assert_seen(Mutant::AppendBehindCut);
}

#[test]
fn recycled_bytes_that_pass_for_frames_are_seen() {
    assert_seen(Mutant::FormerLife);
}

#[test]
fn a_duplicate_that_is_answered_early_is_seen() {
    assert_seen(Mutant::EarlyDuplicate);
}

#[test]
fn reuse_under_a_reader_is_seen() {
    assert_seen(Mutant::ReuseUnderReader);
}

/// The last confirmed frame is damaged after a rest. Gives whether that is said.
fn damage_of_the_last_frame_is_said(mutant: Option<Mutant>) -> bool {
    mutant::set(mutant);
    let mut calm = Calm::new().unwrap();
    let partition = calm.create("topic", 1).unwrap()[0];
    calm.append(partition, 1_000).unwrap();
    calm.rest(Duration::from_secs(1));
    let file = live_file(&calm.disk).unwrap();
    let frame = frames(&calm.disk, &file).unwrap().records().pop().unwrap();
    calm.restart(|disk| assert!(disk.corrupt(&file, frame.position + 40, 1)))
        .unwrap();
    mutant::set(None);
    calm.node.log.poisoned().is_some()
}

#[test]
fn a_missing_idle_frame_is_seen() {
    assert!(
        damage_of_the_last_frame_is_said(None),
        "a confirmed frame is never cut away"
    );
    assert!(
        !damage_of_the_last_frame_is_said(Some(Mutant::NoIdleFrame)),
        "nothing needs it"
    );
}

/// The power goes between the two copies that mark a file as a spare. Gives whether it is one.
fn half_marked_file_is_a_spare(mutant: Option<Mutant>) -> bool {
    mutant::set(mutant);
    let mut calm = Calm::new().unwrap();
    let partition = calm.create("topic", 1).unwrap()[0];
    let marked = (0..60).find_map(|_| {
        // The next header that is written over a live one is a mark.
        let live = LogFiles::of(&calm.disk).unwrap().live;
        calm.disk.record_operations(true);
        calm.append(partition, 20_000).unwrap();
        calm.trim_all(partition).unwrap();
        calm.rest(Duration::from_millis(1_100));
        calm.checkpoint();
        let operations = calm.disk.operations();
        let first = operations.iter().find(|o| {
            o.op == Op::Write && o.position == 4_096 && live.iter().any(|file| **file == *o.path)
        });
        first.map(|operation| operation.path.to_path_buf())
    });
    let marked = marked.unwrap();
    // As the disk was before the second copy: a live header of the file's last life.
    let block = calm.disk.contents(&live_file(&calm.disk).unwrap()).unwrap();
    let mut contents = calm.disk.contents(&marked).unwrap();
    contents[4_096..8_192].copy_from_slice(&block[4_096..8_192]);
    let mut old = FileHeader::parse(&contents[4_096..8_192]).unwrap();
    old.generation = 1;
    contents[4_096..8_192].copy_from_slice(&old.encode());
    calm.disk.place(&marked, &contents);
    let spare = LogFiles::of(&calm.disk).unwrap().spares.contains(&marked);
    mutant::set(None);
    spare
}

#[test]
fn an_old_header_of_a_spare_that_is_accepted_is_seen() {
    assert!(
        half_marked_file_is_a_spare(None),
        "of two headers the later one counts"
    );
    assert!(
        !half_marked_file_is_a_spare(Some(Mutant::OldHeader)),
        "nothing sees it"
    );
}

#[test]
fn a_checkpoint_ahead_of_the_log_is_seen() {
    assert_seen(Mutant::CheckpointAhead);
}

#[test]
fn freeing_after_a_failed_checkpoint_is_seen() {
    assert_seen(Mutant::FreeAfterFailure);
}

#[test]
fn a_full_sync_that_is_tried_again_is_seen() {
    assert_seen(Mutant::RetryFullSync);
}

#[test]
fn punched_bytes_that_are_checked_are_seen() {
    assert_seen(Mutant::CheckPunched);
}

//! Faults put into the engine on purpose: the seeds that the engine passes see each of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use disk::{Fault, FaultKind, Op};
use log::mutant::{self, Mutant};
use simulation::World;

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
    let lie = Fault::new(Op::SyncData, FaultKind::Lie).on("/log/").forever();
    assert_caught("sync skipped", None, |seed| World::new(seed).lying(lie.clone()));
}

#[test]
fn a_directory_that_is_not_synced_is_seen() {
    let lie = Fault::new(Op::SyncDir, FaultKind::Lie).on("/data/log").forever();
    assert_caught("no directory sync", None, |seed| World::new(seed).lying(lie.clone()));
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

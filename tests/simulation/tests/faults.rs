//! What a failing and a full device do to a node, one thing at a time.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]

use std::path::Path;
use std::time::Duration;

use broker::AppendError;
use broker::owner::Proposal;
use disk::{Disk, Fault, FaultKind, Op};
use log::background::Done;
use simulation::calm::Calm;
use tokio::sync::oneshot;
use types::PartitionId;

/// A node with three confirmed records.
fn node() -> (Calm, PartitionId) {
    let mut calm = Calm::new().unwrap();
    let partition = calm.create("topic", 1).unwrap()[0];
    for _ in 0..3 {
        calm.append(partition, 1_000).unwrap();
    }
    calm.rest(Duration::from_secs(1));
    (calm, partition)
}

fn end(calm: &Calm, partition: PartitionId) -> i64 {
    calm.read(partition)
        .unwrap()
        .last()
        .map_or(0, simulation::seen::SeenBatch::end)
}

#[test]
fn a_failed_sync_or_write_stops_the_log_and_nothing_else() {
    for (op, kind) in [
        (Op::SyncData, FaultKind::Io),
        (Op::SyncData, FaultKind::NoSpace),
        (Op::Write, FaultKind::Io),
    ] {
        let (mut calm, partition) = node();
        calm.disk.inject(Fault::new(op, kind).on(".log"));
        let refused = calm.append(partition, 1_000).unwrap_err();
        assert!(
            matches!(refused, AppendError::Stopped(_)),
            "{op:?} {kind:?}: {refused}"
        );
        let refused = calm.append(partition, 1_000).unwrap_err();
        assert!(
            matches!(refused, AppendError::Stopped(_)),
            "no retry: {refused}"
        );
        assert!(calm.create("other", 1).is_err() && calm.trim_all(partition).is_err());
        assert_eq!(end(&calm, partition), 3, "what was applied stays readable");
        calm.power_cut().unwrap();
        let there = end(&calm, partition);
        assert!(
            (3..=4).contains(&there),
            "{there} records: the fourth was never confirmed"
        );
        assert_eq!(calm.append(partition, 1_000).unwrap().base_offset.0, there);
    }
}

#[test]
fn a_stop_is_answered_though_the_log_is_stopped_by_a_failure_meanwhile() {
    let (mut calm, partition) = node();
    calm.write_only(partition, 1_000).unwrap();
    calm.disk
        .inject(Fault::new(Op::SyncData, FaultKind::Io).on(".log"));
    let (reply, mut answer) = oneshot::channel();
    calm.node.inbox.push(Proposal::Stop { reply });
    // The stop waits for its checkpoint when the sync fails.
    calm.node.owner.step();
    assert!(answer.try_recv().is_err());
    calm.settle();
    assert!(calm.node.log.poisoned().is_some());
    assert!(answer.try_recv().unwrap().is_err(), "it was no clean stop");
}

#[test]
fn a_stop_waits_for_no_file_to_be_sealed() {
    let (mut calm, partition) = node();
    for _ in 0..100 {
        calm.write_only(partition, 14_000).unwrap();
        calm.node.syncer.step();
        calm.node.owner.step();
        if calm.node.background.phase() == "seal" {
            break;
        }
        calm.node.background.step();
    }
    calm.node.background.step();
    assert_eq!(calm.node.background.phase(), "seal", "it is under way");
    let sealed = calm.node.owner.segments().count();
    let (reply, mut answer) = oneshot::channel();
    calm.node.inbox.push(Proposal::Stop { reply });
    let mut stopped = None;
    for _ in 0..1_000 {
        calm.node.owner.step();
        stopped = answer.try_recv().ok();
        if stopped.is_some() {
            break;
        }
        if calm.node.background.phase() != "seal" {
            calm.node.background.step();
        }
        for done in calm.node.background.take_done() {
            calm.node.inbox.push(Proposal::Job(done));
        }
        calm.node.writer.step();
        calm.node.syncer.step();
    }
    assert_eq!(stopped, Some(Ok(())));
    assert_eq!(calm.node.owner.segments().count(), sealed);
}

#[test]
fn a_seal_that_fails_leaves_no_footer_behind() {
    for (op, part) in [
        (Op::Write, ".footer.new"),
        (Op::SyncData, ".footer.new"),
        (Op::Rename, ".footer.new"),
        (Op::SyncDir, "/segments"),
    ] {
        let (mut calm, partition) = node();
        let fault = Fault::new(op, FaultKind::NoSpace).on(part).forever();
        calm.disk.inject(fault);
        for _ in 0..10 {
            calm.append(partition, 14_000).unwrap();
        }
        calm.rest(Duration::from_secs(5));
        let footers = calm.disk.list(Path::new("/data/segments")).unwrap();
        assert!(footers.is_empty(), "{op:?}: {footers:?}");
        calm.disk.clear_faults();
        calm.rest(Duration::from_secs(5));
        assert!(calm.node.owner.segments().next().is_some(), "{op:?}");
    }
}

#[test]
fn short_lives_give_back_the_files_that_they_took() {
    let (mut calm, partition) = node();
    let mut most = 0;
    for life in 0..40 {
        calm.restart(|_| {}).unwrap();
        calm.append(partition, 100).unwrap();
        calm.settle();
        let files = calm.disk.list(Path::new("/data/log")).unwrap().len();
        if life == 10 {
            most = files;
        }
        assert!(
            life <= 10 || files <= most + 1,
            "{files} files after {life} lives, {most} after ten"
        );
        // Its records are needed no more; what they stand in is.
        calm.trim_all(partition).unwrap();
    }
}

#[test]
fn sealing_takes_no_handle_from_a_process_that_has_none_left() {
    let (mut calm, partition) = node();
    // The step that puts the segment in the place of its log file opens nothing.
    let sealed = |calm: &Calm| calm.node.owner.segments().count();
    let before = sealed(&calm);
    calm.disk.record_operations(true);
    while sealed(&calm) == before {
        calm.append(partition, 14_000).unwrap();
    }
    let opened = calm.disk.operations().into_iter();
    let opened = opened.filter(|of| of.op == Op::Open && of.label == "owner");
    assert_eq!(opened.map(|of| of.path).collect::<Vec<_>>(), []);
}

#[test]
fn a_full_write_goes_to_the_next_file_and_stops_nothing() {
    let (mut calm, partition) = node();
    calm.disk
        .inject(Fault::new(Op::Write, FaultKind::NoSpace).on(".log"));
    assert_eq!(calm.append(partition, 1_000).unwrap().base_offset.0, 3);
    assert!(calm.node.log.poisoned().is_none());
    calm.power_cut().unwrap();
    assert_eq!(end(&calm, partition), 4);
}

#[test]
fn a_full_disk_refuses_data_keeps_everything_and_serves_again_by_itself() {
    let (mut calm, partition) = node();
    calm.disk.set_capacity(calm.disk.used_bytes());
    let mut taken = 3;
    let refused = loop {
        match calm.append(partition, 16_000) {
            Ok(appended) => {
                assert_eq!(appended.base_offset.0, taken);
                taken += 1;
            }
            Err(error) => break error,
        }
        calm.rest(Duration::from_millis(300));
        assert!(taken < 100, "the disk never fills");
    };
    assert_eq!(refused, AppendError::Full);
    assert_eq!(end(&calm, partition), taken, "nothing is lost");
    // Metadata may take the ballast, and deleting is how one gets out.
    calm.create("other", 1).unwrap();
    calm.delete("other").unwrap();
    // It comes up on the full disk: a spare is kept for that.
    calm.power_cut().unwrap();
    assert!(calm.node.log.poisoned().is_none());
    assert_eq!(end(&calm, partition), taken);
    calm.rest(Duration::from_millis(500));
    // What it came up in is a new file; then it is full again.
    while calm.append(partition, 16_000).is_ok() {
        taken += 1;
        calm.rest(Duration::from_millis(300));
        assert!(taken < 100, "the disk never fills");
    }
    calm.disk.set_capacity(1 << 40);
    // On a disk of this size little may wait to be sealed, and sealing is tried every two seconds.
    calm.rest(Duration::from_secs(3));
    assert_eq!(calm.append(partition, 16_000).unwrap().base_offset.0, taken);
}

#[test]
fn producers_slow_down_before_the_unsealed_log_is_at_its_bound() {
    let (mut calm, partition) = node();
    let bound = calm.setup.node.owner.unsealed_bytes_max;
    calm.disk.inject(
        Fault::new(Op::Create, FaultKind::Io)
            .on("segments")
            .forever(),
    );
    let unsealed = |calm: &Calm| calm.node.shared.storage_stats().unsealed_bytes;
    let mut taken = 3;
    // Time stands still: in no time nobody may add more than is free to everybody.
    while calm.append(partition, 10_000).is_ok() {
        taken += 1;
        assert!(taken < 1_000, "nobody is ever slowed");
    }
    assert_eq!(end(&calm, partition), taken);
    // What was put off is not refused: it is decided as time goes on.
    calm.rest(Duration::from_millis(100));
    assert_eq!(end(&calm, partition), taken + 1);
    assert!(unsealed(&calm) >= bound / 4 * 3, "{}", unsealed(&calm));
    assert!(unsealed(&calm) < bound / 16 * 13, "{}", unsealed(&calm));
    for _ in 0..300 {
        let _slowed = calm.append(partition, 10_000);
        calm.rest(Duration::from_millis(200));
    }
    assert!(unsealed(&calm) > bound / 10 * 9, "{}", unsealed(&calm));
    assert!(unsealed(&calm) <= bound, "{}", unsealed(&calm));
    // Once the background works again they all get their turn.
    calm.disk.clear_faults();
    for _ in 0..10 {
        calm.rest(Duration::from_secs(3));
    }
    assert!(unsealed(&calm) < bound / 2, "{}", unsealed(&calm));
    let end = end(&calm, partition);
    assert_eq!(calm.append(partition, 10).unwrap().base_offset.0, end);
}

#[test]
fn many_small_batches_slow_producers_though_their_log_is_small() {
    let (mut calm, partition) = node();
    calm.setup.node.owner.unsealed_batches_max = 100;
    calm.setup.node.owner.unsealed_bytes_max = 1 << 40;
    calm.power_cut().unwrap();
    calm.disk.inject(
        Fault::new(Op::Create, FaultKind::Io)
            .on("segments")
            .forever(),
    );
    let mut taken = end(&calm, partition);
    while calm.append(partition, 10).is_ok() {
        taken += 1;
        assert!(taken < 1_000, "nobody is ever slowed");
    }
    assert!((75..=101).contains(&taken), "{taken}");
    // The present file ended for them: it can be sealed though it is nearly empty.
    calm.disk.clear_faults();
    for _ in 0..10 {
        calm.rest(Duration::from_secs(3));
    }
    let end = end(&calm, partition);
    assert_eq!(calm.append(partition, 10).unwrap().base_offset.0, end);
}

#[test]
fn a_bound_below_the_size_of_an_older_file_stops_nobody() {
    let (mut calm, partition) = node();
    let small = calm.setup.node.log_file_bytes;
    calm.setup.node.log_file_bytes = 4 * small;
    calm.power_cut().unwrap();
    // All spares have the larger size by now, the bound is that of the smaller one.
    for _ in 0..40 {
        calm.append(partition, 16_000).unwrap();
        calm.rest(Duration::from_millis(300));
    }
    calm.setup.node.log_file_bytes = small;
    calm.setup.node.owner.unsealed_bytes_max = 2 * small;
    calm.power_cut().unwrap();
    for _ in 0..40 {
        calm.append(partition, 16_000).unwrap();
    }
    assert_eq!(end(&calm, partition), 83);
}

#[test]
fn trimming_on_a_full_disk_gives_room_without_help() {
    let (mut calm, partition) = node();
    calm.disk.set_capacity(calm.disk.used_bytes());
    while calm.append(partition, 16_000).is_ok() {
        calm.rest(Duration::from_millis(300));
    }
    let taken = end(&calm, partition);
    calm.trim_all(partition).unwrap();
    // Two checkpoints must know of it before anything is freed.
    for _ in 0..10 {
        calm.rest(Duration::from_millis(1_500));
    }
    assert_eq!(calm.append(partition, 16_000).unwrap().base_offset.0, taken);
}

#[test]
fn a_checkpoint_of_many_segments_is_handed_over_without_a_pause() {
    let (mut calm, partition) = node();
    while calm.node.owner.segments().count() < 20 {
        calm.append(partition, 14_000).unwrap();
    }
    calm.rest(Duration::from_secs(1));
    calm.node.owner.want_checkpoint();
    // As its thread does, the owner sleeps whenever there is nothing to do.
    let (mut slept, mut written) = (Duration::ZERO, false);
    for _ in 0..10_000 {
        if !calm.node.owner.step() {
            slept += calm.node.owner.next_wake();
        }
        calm.node.background.step();
        for done in calm.node.background.take_done() {
            written |= matches!(done, Done::Checkpointed(_));
            calm.node.inbox.push(Proposal::Job(done));
        }
        if written {
            break;
        }
    }
    assert!(written && slept < Duration::from_millis(100), "{slept:?}");
}

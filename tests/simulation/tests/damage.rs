//! Bits flipped in everything that the log consists of.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use broker::AppendError;
use simulation::calm::Calm;
use simulation::files::{LogFiles, frames, live_file};
use types::PartitionId;

/// What a node with two partitions and three frames of records is like.
struct Scene {
    calm: Calm,
    partitions: Vec<PartitionId>,
}

/// Three confirmed batches in each of two partitions, each in a frame of its own, and rest.
fn scene() -> Scene {
    let mut calm = Calm::new().unwrap();
    let partitions = calm.create("topic", 2).unwrap();
    for _ in 0..3 {
        for partition in &partitions {
            calm.append(*partition, 1_000).unwrap();
        }
    }
    calm.rest(Duration::from_millis(200));
    Scene { calm, partitions }
}

fn ends(scene: &Scene) -> Vec<i64> {
    let end = |id: &PartitionId| {
        scene
            .calm
            .read(*id)
            .unwrap()
            .last()
            .map_or(0, |last| last.end())
    };
    scene.partitions.iter().map(end).collect()
}

/// Bytes of a frame's header where its fields begin, those of its only descriptor included.
const FRAME_FIELDS: [u64; 28] = [
    0, 4, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 84, 88, 90, 91, 92, 96, 104, 112, 120,
    124, 128, 136, 144, 151,
];

#[test]
fn a_bit_flipped_in_any_field_of_a_confirmed_frame_is_never_cut_away() {
    for field in FRAME_FIELDS {
        for (number, left) in [(0, [0, 0]), (3, [2, 1]), (5, [3, 2])] {
            let mut scene = scene();
            let file = live_file(&scene.calm.disk).unwrap();
            let records = frames(&scene.calm.disk, &file).unwrap().records();
            let position = records[number].position;
            let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, position + field, 0x10));
            scene.calm.restart(flip).unwrap();
            let poisoned = scene.calm.node.log.poisoned().is_some();
            assert!(
                poisoned,
                "field {field} of frame {number} was taken for a torn tail"
            );
            assert_eq!(
                ends(&scene),
                left,
                "what is before frame {number} is served"
            );
            let partition = scene.partitions[0];
            let refused = scene.calm.append(partition, 10).unwrap_err();
            assert!(matches!(refused, AppendError::Stopped(_)), "{refused}");
            // Nothing is repaired by starting again.
            scene.calm.restart(|_| ()).unwrap();
            assert!(scene.calm.node.log.poisoned().is_some());
            assert_eq!(ends(&scene), left);
        }
    }
}

#[test]
fn a_bad_payload_stops_its_partition_and_no_other() {
    let mut scene = scene();
    let file = live_file(&scene.calm.disk).unwrap();
    let frame = frames(&scene.calm.disk, &file).unwrap().records()[2];
    let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, frame.position + 152 + 300, 1));
    scene.calm.restart(flip).unwrap();
    assert!(scene.calm.node.log.poisoned().is_none());
    let [bad, good] = scene.partitions[..] else {
        panic!("two partitions")
    };
    let offsets = |scene: &Scene| [bad, good].map(|id| scene.calm.offsets(id).unwrap());
    // The second batch of the first partition is bad.
    assert_eq!(
        offsets(&scene),
        [(vec![0, 2], vec![1]), (vec![0, 1, 2], vec![])]
    );
    assert_eq!(
        scene.calm.append(bad, 10).unwrap_err(),
        AppendError::Damaged
    );
    assert_eq!(scene.calm.append(good, 10).unwrap().base_offset.0, 3);
    // It stays so when the checkpoint knows of it, and when the file is sealed.
    scene.calm.checkpoint();
    scene.calm.restart(|_| ()).unwrap();
    let both = [(vec![0, 2], vec![1]), (vec![0, 1, 2, 3], vec![])];
    assert_eq!(offsets(&scene), both);
    assert_eq!(
        scene.calm.append(bad, 10).unwrap_err(),
        AppendError::Damaged
    );
    for _ in 0..8 {
        scene.calm.append(good, 16_000).unwrap();
    }
    scene.calm.rest(Duration::from_secs(2));
    scene.calm.checkpoint();
    let segments: Vec<_> = scene.calm.node.owner.segments().cloned().collect();
    let holds = |s: &&std::sync::Arc<log::segment::Segment>| s.row(bad).is_some();
    assert!(
        segments
            .iter()
            .find(holds)
            .unwrap()
            .row(bad)
            .unwrap()
            .damaged
    );
    scene.calm.power_cut().unwrap();
    let both = [(vec![0, 2], vec![1]), ((0..12).collect(), vec![])];
    assert_eq!(offsets(&scene), both);
    assert_eq!(
        scene.calm.append(bad, 10).unwrap_err(),
        AppendError::Damaged
    );
}

#[test]
fn a_partition_takes_records_again_once_its_bad_batch_is_trimmed_away() {
    let mut scene = scene();
    let file = live_file(&scene.calm.disk).unwrap();
    let frame = frames(&scene.calm.disk, &file).unwrap().records()[2];
    let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, frame.position + 152 + 300, 1));
    scene.calm.restart(flip).unwrap();
    let id = scene.partitions[0];
    let damaged = scene.calm.node.shared.damaged_partitions();
    let [only] = &damaged[..] else {
        panic!("{damaged:?}")
    };
    assert_eq!((&*only.topic, only.partition), ("topic", 0));
    let hole = &only.holes[0];
    assert_eq!((hole.first_offset.0, hole.end_offset.0), (1, 2));
    assert_eq!(hole.corruption.path, file);

    scene.calm.trim(id, 1).unwrap();
    assert_eq!(scene.calm.append(id, 10).unwrap_err(), AppendError::Damaged);
    scene.calm.trim(id, 2).unwrap();
    assert_eq!(scene.calm.node.shared.damaged_partitions(), []);
    assert_eq!(scene.calm.append(id, 10).unwrap().base_offset.0, 3);
    // By a replay of the trim, and by what a checkpoint says.
    for last in [3, 4] {
        scene.calm.restart(|_| ()).unwrap();
        assert_eq!(scene.calm.node.shared.damaged_partitions(), []);
        let good = (2..=last).collect();
        assert_eq!(scene.calm.offsets(id).unwrap(), (good, vec![]));
        assert_eq!(scene.calm.append(id, 10).unwrap().base_offset.0, last + 1);
        scene.calm.checkpoint();
        scene.calm.checkpoint();
    }
}

#[test]
fn a_bad_change_of_metadata_ends_what_is_served_before_it() {
    let mut scene = scene();
    scene.calm.create("later", 1).unwrap();
    scene.calm.append(scene.partitions[0], 10).unwrap();
    scene.calm.rest(Duration::from_millis(200));
    let file = live_file(&scene.calm.disk).unwrap();
    let frame = frames(&scene.calm.disk, &file)
        .unwrap()
        .others()
        .last()
        .copied()
        .unwrap();
    let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, frame.position + 152 + 3, 1));
    scene.calm.restart(flip).unwrap();
    assert!(scene.calm.node.log.poisoned().is_some());
    assert!(scene.calm.node.shared.topic("later").is_none());
    assert_eq!(ends(&scene), [3, 3]);
    let refused = scene.calm.append(scene.partitions[0], 10).unwrap_err();
    assert!(matches!(refused, AppendError::Stopped(_)));
}

#[test]
fn a_torn_frame_that_nobody_was_told_of_is_cut_silently() {
    for field in FRAME_FIELDS.into_iter().chain([500]) {
        let mut scene = scene();
        let file = live_file(&scene.calm.disk).unwrap();
        let before = frames(&scene.calm.disk, &file).unwrap().all.len();
        scene.calm.write_only(scene.partitions[0], 1_000).unwrap();
        let torn = frames(&scene.calm.disk, &file).unwrap().all[before];
        let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, torn.position + field, 4));
        scene.calm.restart(flip).unwrap();
        assert!(scene.calm.node.log.poisoned().is_none(), "field {field}");
        assert_eq!(ends(&scene), [3, 3]);
        assert_eq!(
            scene
                .calm
                .append(scene.partitions[0], 10)
                .unwrap()
                .base_offset
                .0,
            3
        );
    }
}

#[test]
fn the_last_confirmed_frame_is_proven_once_the_node_rests() {
    let mut scene = scene();
    // A restart rewrites what nothing proved; it must be proven again by itself.
    scene.calm.write_only(scene.partitions[0], 1_000).unwrap();
    scene.calm.restart(|_| ()).unwrap();
    scene.calm.rest(Duration::from_millis(200));
    assert_eq!(ends(&scene), [4, 3]);
    let file = live_file(&scene.calm.disk).unwrap();
    let position = frames(&scene.calm.disk, &file).unwrap().records()[0].position;
    scene
        .calm
        .restart(|disk| assert!(disk.corrupt(&file, position + 33, 1)))
        .unwrap();
    assert!(scene.calm.node.log.poisoned().is_some());
    assert_eq!(ends(&scene), [3, 3]);
}

#[test]
fn one_copy_of_a_file_header_is_enough() {
    for copy in [0, 4_096] {
        for field in [0, 4, 8, 10, 16, 24, 32, 40, 48, 56, 64, 72, 80, 100] {
            let mut scene = scene();
            let file = live_file(&scene.calm.disk).unwrap();
            let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&file, copy + field, 2));
            scene.calm.restart(flip).unwrap();
            assert!(
                scene.calm.node.log.poisoned().is_none(),
                "copy {copy} field {field}"
            );
            assert_eq!(ends(&scene), [3, 3]);
        }
    }
}

#[test]
fn a_log_file_that_is_missing_between_others_ends_what_is_served_before_it() {
    let mut scene = scene();
    let mut files = Vec::new();
    for _ in 0..2 {
        scene.calm.restart(|_| ()).unwrap();
        scene.calm.append(scene.partitions[0], 1_000).unwrap();
        scene.calm.rest(Duration::from_millis(200));
        files.push(live_file(&scene.calm.disk).unwrap());
    }
    assert_eq!(ends(&scene), [5, 3]);
    let lost = scene.calm.disk.contents(&files[0]).unwrap();
    let last = scene.calm.disk.contents(&files[1]).unwrap();
    let meddle = |disk: &disk::SimDisk| disk::Disk::remove(disk, &files[0]).unwrap();
    scene.calm.restart(meddle).unwrap();
    assert!(scene.calm.node.log.poisoned().is_some(), "said loudly");
    assert_eq!(ends(&scene), [3, 3], "what is before it is served");
    scene.calm.rest(Duration::from_secs(5));
    assert_eq!(scene.calm.disk.contents(&files[1]).unwrap(), last);
    // Put back, it is as if nothing had been.
    let meddle = |disk: &disk::SimDisk| disk.place(&files[0], &lost);
    scene.calm.restart(meddle).unwrap();
    assert!(scene.calm.node.log.poisoned().is_none());
    assert_eq!(ends(&scene), [5, 3]);
}

#[test]
fn without_the_first_file_to_replay_what_is_sealed_is_served() {
    let mut scene = scene();
    let [one, two] = scene.partitions[..] else {
        panic!("two partitions")
    };
    for _ in 0..8 {
        scene.calm.append(one, 14_000).unwrap();
    }
    scene.calm.rest(Duration::from_secs(2));
    scene.calm.checkpoint();
    scene.calm.checkpoint();
    scene.calm.rest(Duration::from_millis(200));
    let end = scene.calm.partition(one).unwrap().end().0;
    let files = LogFiles::of(&scene.calm.disk).unwrap().live;
    let sealed: Vec<_> = scene.calm.node.owner.segments().cloned().collect();
    let is_sealed = |file: &PathBuf| sealed.iter().any(|s| s.data_path() == *file);
    let first = files.into_iter().find(|file| !is_sealed(file)).unwrap();
    let sealed_end = sealed
        .iter()
        .filter_map(|s| s.row(one))
        .map(|row| row.end_offset.0)
        .max()
        .unwrap();
    assert!(0 < sealed_end && sealed_end < end, "{sealed_end} of {end}");
    let lost = scene.calm.disk.contents(&first).unwrap();
    let before = disk::Disk::list(&scene.calm.disk, Path::new("/data/log")).unwrap();

    let meddle = |disk: &disk::SimDisk| disk::Disk::remove(disk, &first).unwrap();
    scene.calm.restart(meddle).unwrap();
    for _ in 0..2 {
        assert!(scene.calm.node.log.poisoned().is_some(), "said loudly");
        let expected = ((0..sealed_end).collect(), (sealed_end..end).collect());
        assert_eq!(scene.calm.offsets(one).unwrap(), expected);
        assert_eq!(scene.calm.offsets(two).unwrap(), (vec![0, 1, 2], vec![]));
        let refused = scene.calm.append(two, 10).unwrap_err();
        assert!(matches!(refused, AppendError::Stopped(_)), "{refused}");
        scene.calm.rest(Duration::from_secs(5));
        let now = disk::Disk::list(&scene.calm.disk, Path::new("/data/log")).unwrap();
        assert_eq!(now.len() + 1, before.len(), "{now:?}, before {before:?}");
        scene.calm.restart(|_| ()).unwrap();
    }
    let meddle = |disk: &disk::SimDisk| disk.place(&first, &lost);
    scene.calm.restart(meddle).unwrap();
    assert!(scene.calm.node.log.poisoned().is_none());
    assert_eq!(
        scene.calm.offsets(one).unwrap(),
        ((0..end).collect(), vec![])
    );
    assert_eq!(scene.calm.append(two, 10).unwrap().base_offset.0, 3);
}

fn break_both(disk: &disk::SimDisk, file: &Path) {
    assert!(disk.corrupt(file, 20, 1) && disk.corrupt(file, 4_096 + 20, 1));
}

#[test]
fn a_file_without_a_good_header_is_damage_and_never_a_spare() {
    let mut scene = scene();
    // The second file of the log: the first one is where the checkpoint begins.
    scene.calm.restart(|_| ()).unwrap();
    scene.calm.append(scene.partitions[1], 1_000).unwrap();
    scene.calm.rest(Duration::from_millis(200));
    assert_eq!(ends(&scene), [3, 4]);
    let file = live_file(&scene.calm.disk).unwrap();
    let before = scene.calm.disk.contents(&file).unwrap();
    scene.calm.restart(|disk| break_both(disk, &file)).unwrap();
    assert!(scene.calm.node.log.poisoned().is_some(), "said loudly");
    assert_eq!(ends(&scene), [3, 3], "what is before it is served");
    scene.calm.rest(Duration::from_secs(5));
    let after = scene.calm.disk.contents(&file).unwrap();
    assert_eq!(before[8_192..], after[8_192..], "the file is left alone");
}

#[test]
fn a_spare_without_a_good_header_is_not_used() {
    let mut scene = scene();
    let spares = LogFiles::of(&scene.calm.disk).unwrap().spares;
    let broken: BTreeSet<PathBuf> = spares.iter().take(2).cloned().collect();
    let before: Vec<_> = broken
        .iter()
        .map(|f| scene.calm.disk.contents(f).unwrap())
        .collect();
    let meddle = |disk: &disk::SimDisk| broken.iter().for_each(|file| break_both(disk, file));
    scene.calm.restart(meddle).unwrap();
    assert!(scene.calm.node.log.poisoned().is_none());
    for _ in 0..30 {
        scene.calm.append(scene.partitions[0], 16_000).unwrap();
    }
    let live = LogFiles::of(&scene.calm.disk).unwrap().live;
    assert!(live.iter().all(|file| !broken.contains(file)));
    for (file, before) in broken.iter().zip(before) {
        let now = scene.calm.disk.contents(file);
        assert!(
            now.is_none_or(|now| now[8_192..] == before[8_192..]),
            "nothing went into it"
        );
    }
}

#[test]
fn a_damaged_checkpoint_means_the_one_before_it() {
    let newest = |calm: &Calm| {
        let dir = Path::new("/data/checkpoints");
        let names = disk::Disk::list(&calm.disk, dir).unwrap();
        let mut all: Vec<_> = names
            .into_iter()
            .filter(|n| n.ends_with("0.checkpoint") || n.len() == 31)
            .collect();
        all.sort();
        all.into_iter()
            .rev()
            .map(|name| dir.join(name))
            .collect::<Vec<_>>()
    };
    for byte in [0, 5, 20, 60, 110, 130, 165, 200, 300] {
        let mut scene = scene();
        scene.calm.checkpoint();
        scene.calm.append(scene.partitions[0], 1_000).unwrap();
        scene.calm.checkpoint();
        let checkpoints = newest(&scene.calm);
        assert_eq!(checkpoints.len(), 2);
        let flip = |disk: &disk::SimDisk| assert!(disk.corrupt(&checkpoints[0], byte, 8));
        scene.calm.restart(flip).unwrap();
        assert!(scene.calm.node.log.poisoned().is_none(), "byte {byte}");
        assert_eq!(ends(&scene), [4, 3]);
        assert_eq!(
            scene
                .calm
                .append(scene.partitions[0], 10)
                .unwrap()
                .base_offset
                .0,
            4
        );
    }
}

#[test]
fn two_damaged_checkpoints_keep_the_node_from_starting() {
    let mut scene = scene();
    scene.calm.checkpoint();
    let meddle = |disk: &disk::SimDisk| {
        for name in disk::Disk::list(disk, Path::new("/data/checkpoints")).unwrap() {
            if name.ends_with(".checkpoint") {
                assert!(disk.corrupt(&Path::new("/data/checkpoints").join(name), 30, 1));
            }
        }
    };
    let refused = scene.calm.restart(meddle).unwrap_err();
    assert!(refused.0.contains("checkpoint"), "{refused}");
}

//! Segments of which a file is missing, too short or damaged: the node starts, and as little as
//! possible around it is refused.
#![expect(clippy::unwrap_used, reason = "tests outside of test functions")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use broker::AppendError;
use disk::{Disk, SimDisk};
use simulation::calm::Calm;
use types::PartitionId;

/// A node with several segments, of which one is to be damaged.
struct Scene {
    calm: Calm,
    /// It has batches in the victim, before it and behind it.
    hit: PartitionId,
    /// It has none in the victim.
    spared: PartitionId,
    data: PathBuf,
    footer: PathBuf,
    /// What the victim holds of the first partition, and where its second extent begins.
    offsets: std::ops::Range<i64>,
    second_extent: (i64, u64),
    /// Where the extents of the first partition begin in the footer.
    extents_at: u64,
}

fn scene() -> Scene {
    let mut calm = Calm::new().unwrap();
    let ids = calm.create("topic", 2).unwrap();
    let (hit, spared) = (ids[0], ids[1]);
    calm.append(spared, 100).unwrap();
    for _ in 0..12 {
        calm.append(hit, 14_000).unwrap();
    }
    for _ in 0..6 {
        calm.append(spared, 14_000).unwrap();
    }
    calm.append(hit, 100).unwrap();
    calm.rest(Duration::from_secs(2));
    calm.checkpoint();
    calm.rest(Duration::from_secs(2));
    let mut segments = calm.node.owner.segments().cloned();
    let is_victim = |s: &std::sync::Arc<log::segment::Segment>| {
        let row = s.row(hit);
        row.is_some_and(|row| row.first_offset.0 > 0) && s.row(spared).is_none()
    };
    let victim = segments.find(is_victim).unwrap();
    drop(segments);
    let row = victim.row(hit).unwrap();
    let extents = victim.stored_extents(hit).unwrap();
    let second = extents[1];
    assert!(extents.len() > 2, "{extents:?}");
    Scene {
        hit,
        spared,
        data: victim.data_path(),
        footer: victim.info().footer_path(Path::new("/data")),
        offsets: row.first_offset.0..row.end_offset.0,
        second_extent: (second.base_offset.0, second.position),
        extents_at: row.extents_position,
        calm,
    }
}

fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let list = |dir: &str| {
        let names = disk.list(Path::new(dir)).unwrap().into_iter();
        names
            .map(|name| Path::new(dir).join(name))
            .collect::<Vec<_>>()
    };
    [list("/data/log"), list("/data/segments")].concat()
}

/// What is asserted whenever the offsets `lost` of the first partition are gone.
fn only_that_is_lost(scene: &mut Scene, lost: std::ops::Range<i64>) {
    let calm = &mut scene.calm;
    assert_eq!(calm.node.log.poisoned(), None);
    let partition = calm.partition(scene.hit).unwrap();
    assert_eq!((partition.log_start().0, partition.end().0), (0, 13));
    let good = (0..13).filter(|offset| !lost.contains(offset)).collect();
    let expected = (good, lost.clone().collect::<Vec<_>>());
    assert_eq!(calm.offsets(scene.hit).unwrap(), expected);
    let damaged = calm.node.shared.damaged_partitions();
    let shown: Vec<_> = damaged
        .iter()
        .flat_map(|of| of.holes.iter().map(move |hole| (of.partition, hole)))
        .map(|(partition, hole)| (partition, hole.first_offset.0..hole.end_offset.0))
        .collect();
    if lost.is_empty() {
        assert_eq!(shown, []);
    } else {
        assert_eq!(shown, [(0, lost)]);
        assert_eq!(
            calm.append(scene.hit, 10).unwrap_err(),
            AppendError::Damaged
        );
    }
    let end = calm.partition(scene.spared).unwrap().end().0;
    assert_eq!(
        calm.offsets(scene.spared).unwrap(),
        ((0..end).collect(), vec![])
    );
    assert_eq!(calm.append(scene.spared, 10).unwrap().base_offset.0, end);
}

/// Damages the disk; then nothing is deleted because of it, and it stays so over starts.
fn lose(scene: &mut Scene, lost: &std::ops::Range<i64>, meddle: impl FnOnce(&SimDisk)) {
    scene.calm.restart(meddle).unwrap();
    let before = files(&scene.calm.disk);
    only_that_is_lost(scene, lost.clone());
    for _ in 0..3 {
        scene.calm.rest(Duration::from_secs(3));
        scene.calm.checkpoint();
        let now = files(&scene.calm.disk);
        let gone: Vec<_> = before.iter().filter(|f| !now.contains(f)).collect();
        assert!(gone.is_empty(), "{gone:?}");
        assert!(!before.contains(&scene.data) || now.contains(&scene.data));
        scene.calm.restart(|_| ()).unwrap();
        only_that_is_lost(scene, lost.clone());
    }
}

#[test]
fn a_missing_data_file_takes_only_what_it_held() {
    let mut scene = scene();
    let (lost, data) = (scene.offsets.clone(), scene.data.clone());
    let contents = scene.calm.disk.contents(&data).unwrap();
    lose(&mut scene, &lost, |disk| disk.remove(&data).unwrap());
    // No file took its name meanwhile: put back, it is as if nothing had been.
    assert!(scene.calm.disk.contents(&data).is_none());
    scene
        .calm
        .restart(|disk| disk.place(&data, &contents))
        .unwrap();
    only_that_is_lost(&mut scene, 0..0);
    assert_eq!(scene.calm.append(scene.hit, 10).unwrap().base_offset.0, 13);
}

#[test]
fn a_data_file_that_is_too_short_takes_what_stood_behind_its_end() {
    let mut scene = scene();
    let (first, position) = scene.second_extent;
    let (lost, data) = (first..scene.offsets.end, scene.data.clone());
    lose(&mut scene, &lost, |disk| {
        disk.open(&data).unwrap().set_len(position + 100).unwrap();
    });
}

#[test]
fn a_footer_that_is_missing_takes_nothing() {
    let mut scene = scene();
    let footer = scene.footer.clone();
    lose(&mut scene, &(0..0), |disk| disk.remove(&footer).unwrap());
}

#[test]
fn a_footer_that_is_damaged_takes_nothing() {
    let mut scene = scene();
    let (footer, at) = (scene.footer.clone(), scene.extents_at);
    lose(&mut scene, &(0..0), |disk| {
        assert!(disk.corrupt(&footer, at + 9, 1))
    });
}

#[test]
fn a_segment_without_both_files_takes_only_what_it_held() {
    let mut scene = scene();
    let (lost, data, footer) = (
        scene.offsets.clone(),
        scene.data.clone(),
        scene.footer.clone(),
    );
    lose(&mut scene, &lost, |disk| {
        disk.remove(&data).unwrap();
        disk.remove(&footer).unwrap();
    });
}

#[test]
fn a_lost_segment_is_trimmed_away_and_its_partition_takes_records_again() {
    let mut scene = scene();
    let (lost, data) = (scene.offsets.clone(), scene.data.clone());
    scene
        .calm
        .restart(|disk| disk.remove(&data).unwrap())
        .unwrap();
    let calm = &mut scene.calm;
    calm.trim(scene.hit, lost.end - 1).unwrap();
    assert_eq!(
        calm.append(scene.hit, 10).unwrap_err(),
        AppendError::Damaged
    );
    calm.trim(scene.hit, lost.end).unwrap();
    for next in 13..16 {
        assert_eq!(calm.node.shared.damaged_partitions(), []);
        assert_eq!(calm.append(scene.hit, 10).unwrap().base_offset.0, next);
        let good = (lost.end..=next).collect();
        assert_eq!(calm.offsets(scene.hit).unwrap(), (good, vec![]));
        calm.rest(Duration::from_secs(3));
        calm.checkpoint();
        calm.restart(|_| ()).unwrap();
    }
    for _ in 0..3 {
        calm.rest(Duration::from_secs(3));
        calm.checkpoint();
    }
    // The segment is dropped like any other, and its footer with it.
    assert!(calm.disk.contents(&scene.footer).is_none());
    assert!(calm.node.owner.segments().all(|s| s.data_path() != data));
}

#[test]
fn a_topic_with_a_lost_segment_can_be_deleted() {
    let mut scene = scene();
    let data = scene.data.clone();
    scene
        .calm
        .restart(|disk| disk.remove(&data).unwrap())
        .unwrap();
    scene.calm.delete("topic").unwrap();
    for _ in 0..3 {
        scene.calm.rest(Duration::from_secs(3));
        scene.calm.checkpoint();
    }
    scene.calm.restart(|_| ()).unwrap();
    assert_eq!(scene.calm.node.shared.damaged_partitions(), []);
    assert_eq!(scene.calm.node.owner.segments().count(), 0);
    assert!(scene.calm.disk.contents(&scene.footer).is_none());
}

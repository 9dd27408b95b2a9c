//! Cutting the power before and after every operation of every path that changes the disk.

use disk::{Op, When};
use simulation::probe::Point;
use simulation::{Summary, World};

/// Seeds whose runs are probed.
const SEEDS: std::ops::Range<u64> = 0..40;
/// Copies that each place gets in each run.
const CUTS: u64 = 3;

#[test]
fn a_cut_at_any_operation_of_any_path_loses_nothing() {
    let mut summary = Summary::default();
    for seed in SEEDS {
        match World::new(seed).probed(CUTS).run() {
            Ok(world) => summary.add(&world.summary),
            Err(failure) => panic!("seed {seed}: {failure}"),
        }
    }
    println!("{}{summary}", summary.table());
    let found = summary.paths();
    for (path, operations) in PATHS.iter().copied() {
        let cuts = found.get(path).copied().unwrap_or_default();
        assert!(cuts.cuts >= 100, "{path}: {cuts:?}");
        for (op, place) in operations.iter().copied() {
            for when in [When::Before, When::After] {
                let point = Point {
                    path,
                    op,
                    place,
                    when,
                };
                assert!(summary.points.contains_key(&point), "{point:?} was not cut");
            }
        }
    }
    let known: usize = PATHS
        .iter()
        .map(|(_, operations)| 2 * operations.len())
        .sum();
    assert!(summary.points.len() >= known);
}

/// Every operation of every path that changes the disk.
const PATHS: &[(&str, &[(Op, &str)])] = &[
    (
        "creation",
        &[
            (Op::CreateDir, "directory"),
            (Op::CreateDir, "log directory"),
            (Op::SyncDir, "log directory"),
            (Op::SyncDir, "directory"),
            (Op::Create, "log file"),
            (Op::Allocate, "log file"),
            (Op::Write, "header 1"),
            (Op::SyncData, "header 1"),
            (Op::Write, "header 2"),
            (Op::SyncData, "header 2"),
            (Op::Create, "next checkpoint"),
            (Op::Write, "next checkpoint"),
            (Op::SyncData, "next checkpoint"),
            (Op::Rename, "next checkpoint"),
            (Op::SyncDir, "checkpoint directory"),
            (Op::Create, "format"),
            (Op::Write, "format"),
            (Op::SyncData, "format"),
            (Op::Rename, "format"),
        ],
    ),
    ("append", &[(Op::Write, "frames"), (Op::SyncData, "frames")]),
    ("roll", HEADER),
    (
        "spare",
        &[
            (Op::Create, "log file"),
            (Op::Allocate, "log file"),
            (Op::Write, "header 1"),
            (Op::SyncData, "header 1"),
            (Op::Write, "header 2"),
            (Op::SyncData, "header 2"),
            (Op::SyncDir, "log directory"),
        ],
    ),
    ("fill", &[(Op::Write, "frames"), (Op::SyncData, "frames")]),
    ("recycle", HEADER),
    (
        "seal",
        &[
            (Op::Create, "footer"),
            (Op::Write, "footer"),
            (Op::SyncData, "footer"),
            (Op::Rename, "footer"),
            (Op::SyncDir, "segment directory"),
        ],
    ),
    (
        "checkpoint",
        &[
            (Op::Write, "next checkpoint"),
            (Op::SyncData, "next checkpoint"),
            (Op::SetLen, "next checkpoint"),
            (Op::Rename, "next checkpoint"),
            (Op::Rename, "checkpoint"),
            (Op::Allocate, "next checkpoint"),
            (Op::SyncDir, "checkpoint directory"),
        ],
    ),
    ("punch", &[(Op::Punch, "log file")]),
    (
        "remove",
        &[
            (Op::Remove, "footer"),
            (Op::Remove, "log file"),
            (Op::SyncDir, "segment directory"),
            (Op::SyncDir, "log directory"),
        ],
    ),
    (
        "recovery",
        &[
            // Frames that nothing proved are rewritten before the header that names them.
            (Op::Write, "frames"),
            (Op::SyncData, "frames"),
            (Op::Write, "header 1"),
            (Op::SyncData, "header 1"),
            (Op::Write, "header 2"),
            (Op::SyncData, "header 2"),
            (Op::Rename, "format"),
            (Op::SyncDir, "directory"),
        ],
    ),
    (
        "full disk",
        &[
            (Op::Write, "frames"),
            (Op::SyncData, "frames"),
            (Op::Create, "log file"),
            (Op::Allocate, "log file"),
            (Op::Remove, "log file"),
            (Op::Write, "header 1"),
            (Op::SyncData, "header 1"),
            (Op::Write, "next checkpoint"),
            (Op::SyncData, "next checkpoint"),
            (Op::Rename, "next checkpoint"),
            (Op::Write, "footer"),
            (Op::SyncData, "footer"),
            (Op::Rename, "footer"),
            (Op::Punch, "log file"),
        ],
    ),
];

const HEADER: &[(Op, &str)] = &[
    (Op::Write, "header 1"),
    (Op::SyncData, "header 1"),
    (Op::Write, "header 2"),
    (Op::SyncData, "header 2"),
];

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
    let is_listed = |point: &&Point| {
        let mut listed = PATHS
            .iter()
            .chain(RARELY)
            .filter(|(path, _)| *path == point.path);
        listed.any(|(_, operations)| operations.contains(&(point.op, point.place)))
    };
    let points = summary.points.keys();
    let unlisted: Vec<_> = points.filter(|point| !is_listed(point)).collect();
    assert!(unlisted.is_empty(), "not listed: {unlisted:#?}");
}

/// The operations of every path that changes the disk: each is cut.
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
    (
        "recycle",
        &[
            (Op::Allocate, "log file"),
            (Op::Write, "header 1"),
            (Op::SyncData, "header 1"),
            (Op::Write, "header 2"),
            (Op::SyncData, "header 2"),
        ],
    ),
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

/// Operations that these runs come by in some lives only, mostly when something failed before.
const RARELY: &[(&str, &[(Op, &str)])] = &[
    (
        "checkpoint",
        &[
            (Op::Create, "next checkpoint"),
            (Op::CreateDir, "checkpoint directory"),
            (Op::Remove, "checkpoint"),
            (Op::Remove, "log file"),
            (Op::Remove, "next checkpoint"),
            (Op::SyncDir, "log directory"),
        ],
    ),
    (
        "creation",
        &[
            (Op::Allocate, "next checkpoint"),
            (Op::CreateDir, "checkpoint directory"),
            (Op::CreateDir, "segment directory"),
            (Op::Remove, "checkpoint"),
            (Op::Remove, "format"),
            (Op::Remove, "log file"),
            (Op::Remove, "next checkpoint"),
            (Op::SyncDir, "segment directory"),
        ],
    ),
    (
        "fill",
        &[(Op::Remove, "log file"), (Op::SyncDir, "log directory")],
    ),
    (
        "full disk",
        &[
            (Op::Allocate, "next checkpoint"),
            (Op::Create, "footer"),
            (Op::Create, "next checkpoint"),
            (Op::CreateDir, "checkpoint directory"),
            (Op::CreateDir, "segment directory"),
            (Op::Remove, "checkpoint"),
            (Op::Remove, "footer"),
            (Op::Remove, "next checkpoint"),
            (Op::Rename, "checkpoint"),
            (Op::SetLen, "next checkpoint"),
            (Op::SyncData, "header 2"),
            (Op::SyncDir, "checkpoint directory"),
            (Op::SyncDir, "log directory"),
            (Op::SyncDir, "segment directory"),
            (Op::Write, "header 2"),
        ],
    ),
    (
        "recovery",
        &[
            (Op::Allocate, "next checkpoint"),
            (Op::Create, "format"),
            (Op::Create, "next checkpoint"),
            (Op::CreateDir, "checkpoint directory"),
            (Op::CreateDir, "directory"),
            (Op::Remove, "footer"),
            (Op::Remove, "format"),
            (Op::Remove, "log file"),
            (Op::SyncData, "format"),
            (Op::SyncData, "next checkpoint"),
            (Op::SyncDir, "checkpoint directory"),
            (Op::SyncDir, "log directory"),
            (Op::Write, "format"),
        ],
    ),
    (
        "recycle",
        &[(Op::Remove, "log file"), (Op::SyncDir, "log directory")],
    ),
    (
        "seal",
        &[
            (Op::CreateDir, "segment directory"),
            (Op::Punch, "log file"),
            (Op::Remove, "footer"),
        ],
    ),
    ("spare", &[(Op::Remove, "log file")]),
];

const HEADER: &[(Op, &str)] = &[
    (Op::Write, "header 1"),
    (Op::SyncData, "header 1"),
    (Op::Write, "header 2"),
    (Op::SyncData, "header 2"),
];

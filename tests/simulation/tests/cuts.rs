//! Cutting the power before and after every operation of every path that changes the disk.

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
    // Each place is cut on both sides: two points for each operation of a path.
    let paths = [
        ("creation", 40),
        ("append", 4),
        ("roll", 8),
        ("spare", 14),
        ("recycle", 8),
        ("seal", 14),
        ("checkpoint", 18),
        ("punch", 2),
        ("remove", 8),
        ("recovery", 14),
        ("full disk", 40),
    ];
    let found = summary.paths();
    for (path, points) in paths {
        let cuts = found.get(path).copied().unwrap_or_default();
        assert!(
            cuts.points >= points,
            "{path}: {cuts:?}, {points} points are known"
        );
        assert!(cuts.cuts >= 100, "{path}: {cuts:?}");
    }
}

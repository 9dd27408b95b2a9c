//! Seeds of the simulation, and that a seed is a run.

use simulation::{Summary, World};

/// Seeds that every test run goes through.
const SEEDS: u64 = 300;

#[test]
fn what_was_confirmed_or_seen_survives_whatever_happens() {
    let mut summary = Summary::default();
    for seed in 0..SEEDS {
        match World::new(seed).run() {
            Ok(world) => summary.add(&world.summary),
            Err(failure) => panic!("seed {seed}: {failure}"),
        }
    }
    println!("{summary}");
    assert_eq!(summary.seeds, SEEDS);
    assert!(summary.cuts > SEEDS, "{summary}");
    assert!(
        summary.kills > SEEDS / 2 && summary.clean_stops > SEEDS,
        "{summary}"
    );
    assert!(
        summary.full_phases > SEEDS / 2 && summary.poisoned > SEEDS / 10,
        "{summary}"
    );
    assert!(
        summary.assembled_ahead > 10 * SEEDS,
        "frames were made ahead: {summary}"
    );
    assert!(
        summary.held_reads > 10 * SEEDS && summary.sealed > 10 * SEEDS,
        "{summary}"
    );
    assert!(summary.confirmed > 500 * SEEDS, "{summary}");
    assert!(
        summary.expiries.by_time > SEEDS && summary.expiries.by_size > SEEDS,
        "{summary}"
    );
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| World::new(seed).run().unwrap().summary.trace;
    let first: Vec<u64> = (1_000..1_008).map(run).collect();
    let second: Vec<u64> = (1_000..1_008).map(run).collect();
    assert_eq!(first, second);
    let distinct: std::collections::BTreeSet<u64> = first.iter().copied().collect();
    assert_eq!(
        distinct.len(),
        first.len(),
        "another seed gives another trace"
    );
}

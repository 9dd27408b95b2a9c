//! Runs seeds of the simulation: `simulate --seeds 0..300`, `simulate --seed 17 --trace`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, bail};
use clap::Parser;
use simulation::{Summary, World};

/// Power cuts, faults and restarts of the shipped engine on a simulated disk.
#[derive(Debug, Parser)]
struct Arguments {
    /// Seeds to run, first..end.
    #[arg(long, default_value = "0..300")]
    seeds: String,
    /// Judges this many copies at each place where the power may go.
    #[arg(long, default_value_t = 0)]
    cuts: u64,
    /// One seed alone.
    #[arg(long)]
    seed: Option<u64>,
    /// Tells what happens.
    #[arg(long)]
    trace: bool,
    /// Tells each place where the power went.
    #[arg(long)]
    points: bool,
    /// Goes on after a seed that fails.
    #[arg(long)]
    keep_going: bool,
}

#[expect(clippy::print_stdout, reason = "this is what the program is for")]
fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.trace {
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(std::io::stderr)
            .without_time()
            .init();
    }
    let (first, end) = match arguments.seed {
        Some(seed) => (seed, seed + 1),
        None => range(&arguments.seeds)?,
    };
    let mut summary = Summary::default();
    let mut failed = Vec::new();
    for seed in first..end {
        match catch_unwind(AssertUnwindSafe(|| world(seed, arguments.cuts).run())) {
            Ok(Ok(world)) => summary.add(&world.summary),
            Ok(Err(failure)) => {
                println!("seed {seed}: {failure}");
                failed.push(seed);
            }
            Err(_) => {
                println!("seed {seed}: the engine panicked");
                failed.push(seed);
            }
        }
        if !failed.is_empty() && !arguments.keep_going {
            break;
        }
    }
    for (point, count) in summary.points.iter().filter(|_| arguments.points) {
        println!("{point:?} {count}");
    }
    print!("{}", summary.table());
    println!("{summary}");
    if !failed.is_empty() {
        bail!("seeds that failed: {failed:?}");
    }
    Ok(())
}

fn range(text: &str) -> anyhow::Result<(u64, u64)> {
    let (first, end) = text.split_once("..").context("seeds are first..end")?;
    Ok((
        first.parse().context("first seed")?,
        end.parse().context("end of the seeds")?,
    ))
}

fn world(seed: u64, cuts: u64) -> World {
    let world = World::new(seed);
    if cuts == 0 { world } else { world.probed(cuts) }
}

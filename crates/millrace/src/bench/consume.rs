//! `millrace bench consume`.

mod driver;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kafka::wire::ApiKey;
use types::SystemClock;

use super::cpu;
use super::interrupt::end_on_interrupt;
use super::progress::{Counters, Goal};
use super::threads::run_all;
use crate::client::{EARLIEST, FetchLimits, LATEST, by_leader};
use crate::command::{ServerArgs, block_on};
use crate::failure::{Failure, Outcome};
use driver::{Driver, FETCH_VERSION};

/// Read partitions from their start, as fast as the broker gives them
#[derive(Args, Clone, Debug)]
pub(crate) struct ConsumeBench {
    /// Topic
    #[arg(default_value = "bench")]
    topic: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Start at the end and wait for what is produced meanwhile; needs --duration or --records
    #[arg(long)]
    tail: bool,
    /// Stop after this many records
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    /// Stop after this many seconds; at the ends of the partitions if neither is given
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: Option<u64>,
    /// Connections; partitions are shared out to them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Threads that drive them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Most record bytes of one answer
    #[arg(long, default_value_t = 52_428_800, value_parser = clap::value_parser!(i32).range(1..=500_000_000))]
    fetch_bytes: i32,
    /// Most record bytes of one partition in an answer
    #[arg(long, default_value_t = 1_048_576, value_parser = clap::value_parser!(i32).range(1..=500_000_000))]
    partition_fetch_bytes: i32,
    /// Verify the CRC of every batch
    #[arg(long)]
    check_crcs: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One connection: where it goes and what it reads.
#[derive(Debug)]
struct Plan {
    server: String,
    positions: BTreeMap<i32, i64>,
}

impl ConsumeBench {
    fn goal(&self) -> Goal {
        Goal {
            records: self.records,
            time: self.duration.map(Duration::from_secs),
        }
    }

    /// Whether reading stops where the partitions ended at the start: unless a goal says when.
    fn stops_at_ends(&self) -> bool {
        self.records.is_none() && self.duration.is_none()
    }

    fn limits(&self) -> FetchLimits {
        FetchLimits {
            max_wait_ms: 500,
            min_bytes: 1,
            max_bytes: self.fetch_bytes,
            partition_max_bytes: self.partition_fetch_bytes,
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if self.connections < self.threads {
            let (threads, connections) = (self.threads, self.connections);
            return Err(Failure::usage(format_args!(
                "--threads {threads} is not allowed; allowed: 1 to --connections, which is {connections}"
            )));
        }
        if self.tail && self.stops_at_ends() {
            return Err(Failure::usage("--tail needs --duration or --records"));
        }
        Ok(())
    }
}

/// Runs `millrace bench consume`.
pub(crate) fn run(args: &ConsumeBench) -> Outcome {
    args.check()?;
    let mut prepared = (Vec::new(), BTreeMap::new());
    block_on(async {
        prepared = prepare(args).await?;
        Ok(())
    })?;
    let (plans, ends) = prepared;
    let ends = args.stops_at_ends().then_some(ends);
    let clock = Arc::new(SystemClock::new());
    let counters = Arc::new(Counters::default());
    let threads = usize::try_from(args.threads)?.min(plans.len());
    let mut shares: Vec<Vec<Plan>> = (0..threads).map(|_| Vec::new()).collect();
    for (plan, i) in plans.into_iter().zip((0..threads).cycle()) {
        shares.get_mut(i).context("a share per thread")?.push(plan);
    }
    let driver = |share| -> anyhow::Result<_> {
        let driver = Driver::new(args, share, ends.clone(), clock.clone(), counters.clone())?;
        Ok(move || driver.run())
    };
    let drivers = shares.into_iter().map(driver).collect::<Result<_, _>>()?;
    end_on_interrupt(&counters)?;
    let cpu_before = cpu::seconds();
    let measured = run_all(drivers, &counters, args.goal(), &*clock)?;
    report::print(args, &measured, cpu::seconds() - cpu_before)
}

/// Shares the partitions out to connections; also tells where they end.
async fn prepare(args: &ConsumeBench) -> anyhow::Result<(Vec<Plan>, BTreeMap<i32, i64>)> {
    let client = args.server.connect().await?;
    let topic = client.topic(&args.topic, false).await?;
    let all: Vec<_> = topic.partitions.iter().map(|p| p.partition_index).collect();
    let ends = client.offsets(&topic, &all, LATEST).await?;
    let starts = if args.tail {
        ends.clone()
    } else {
        client.offsets(&topic, &all, EARLIEST).await?
    };
    let leaders = by_leader(&topic, &all);
    let connections = usize::try_from(args.connections)?.div_ceil(leaders.len().max(1));
    let mut plans = Vec::new();
    for (leader, partitions) in leaders {
        let server = client.address(leader).await?;
        client
            .broker(leader)
            .await?
            .version(ApiKey::Fetch, FETCH_VERSION)?;
        for place in 0..connections.min(partitions.len()) {
            let own = partitions.iter().skip(place).step_by(connections);
            let positions = own.filter_map(|p| starts.get(p).map(|offset| (*p, *offset)));
            plans.push(Plan {
                server: server.clone(),
                positions: positions.collect(),
            });
        }
    }
    Ok((plans, ends))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        bench: ConsumeBench,
    }

    #[test]
    fn the_ends_of_the_partitions_count_only_without_a_goal() {
        let stops_at_ends = |flags: &[&str]| {
            let words = ["bench", "t"].iter().chain(flags);
            Command::parse_from(words).bench.stops_at_ends()
        };
        assert!(stops_at_ends(&[]));
        assert!(!stops_at_ends(&["--duration", "5"]));
        assert!(!stops_at_ends(&["--records", "5"]));
        assert!(!stops_at_ends(&["--records", "5", "--tail"]));
    }
}

//! `millrace bench produce`.

mod batch;
mod driver;
mod pace;
mod plan;
mod report;
mod request;
mod template;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use types::SystemClock;

use super::cpu;
use super::interrupt::end_on_interrupt;
use super::progress::{Counters, Goal};
use super::threads::run_all;
use crate::command::{Acks, CodecArg, ServerArgs, block_on, key_value};
use crate::failure::{Failure, Outcome};
use driver::Driver;

/// Produce records at a rate, or as fast as the broker takes them
#[derive(Args, Clone, Debug)]
pub(crate) struct ProduceBench {
    /// Topic; made if it does not exist
    #[arg(default_value = "bench")]
    topic: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Partitions of the topic when it is made
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=100_000))]
    partitions: i32,
    /// A setting of the topic when it is made; may be repeated
    #[arg(long = "config", value_name = "KEY=VALUE", value_parser = key_value)]
    configs: Vec<(String, String)>,
    /// Bytes of each record's value
    #[arg(long, default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=67_108_864))]
    record_bytes: u32,
    /// Records per second of all connections together; as fast as possible if not given
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rate: Option<u64>,
    /// Stop after this many records
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    /// Stop after this many seconds; 30 if --records is not given either
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: Option<u64>,
    /// Seconds at the start that are not measured
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    warmup: u64,
    /// Connections; one for each leader of partitions at least
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Threads that drive them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// A batch is closed at this size, before compression
    #[arg(long, default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(100..=67_108_864))]
    batch_bytes: u32,
    /// Batches of several partitions share a request up to this size
    #[arg(long, default_value_t = 1_048_576, value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    request_bytes: u32,
    /// Longest time that a record waits for its batch to fill, with --rate
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    linger_ms: u64,
    /// Requests of one connection that may be under way
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    in_flight: u32,
    /// Who must have a record before it is confirmed
    #[arg(long, value_enum, default_value_t = Acks::All)]
    acks: Acks,
    /// Produce with a producer id and sequence numbers
    #[arg(long)]
    idempotent: bool,
    /// Compression of the batches
    #[arg(long, value_enum, default_value_t = CodecArg::None)]
    codec: CodecArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ProduceBench {
    fn goal(&self) -> Goal {
        let warmup = Duration::from_secs(self.warmup);
        let seconds = self.duration.or(self.records.is_none().then_some(30));
        Goal {
            records: self.records,
            time: seconds.map(|s| warmup + Duration::from_secs(s)),
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if self.connections < self.threads {
            let (threads, connections) = (self.threads, self.connections);
            return Err(Failure::usage(format_args!(
                "--threads {threads} is not allowed; allowed: 1 to --connections, which is {connections}"
            )));
        }
        if self.idempotent && (self.acks != Acks::All || self.in_flight > 5) {
            return Err(Failure::usage(
                "--idempotent needs --acks all and --in-flight of at most 5, which is how many \
                 batches brokers remember",
            ));
        }
        Ok(())
    }
}

/// Runs `millrace bench produce`.
pub(crate) fn run(args: &ProduceBench) -> Outcome {
    args.check()?;
    let mut plans = Vec::new();
    block_on(async {
        plans = plan::prepare(args).await?;
        Ok(())
    })?;
    // Where leaders are more than the connections asked for.
    let connections = u32::try_from(plans.len())?;
    let args = &ProduceBench {
        connections,
        ..args.clone()
    };
    let clock = Arc::new(SystemClock::new());
    let counters = Arc::new(Counters::default());
    let threads = usize::try_from(args.threads)?;
    let driver = |share| -> anyhow::Result<_> {
        let driver = Driver::new(args, share, clock.clone(), counters.clone())?;
        Ok(move || driver.run())
    };
    let shares = plan::share(plans, threads);
    let drivers = shares.into_iter().map(driver).collect::<Result<_, _>>()?;
    end_on_interrupt(&counters)?;
    let cpu_before = cpu::seconds();
    let measured = run_all(drivers, &counters, args.goal(), &*clock)?;
    report::print(args, &measured, cpu::seconds() - cpu_before)
}

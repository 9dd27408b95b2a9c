//! `millrace bench`: load on any Kafka broker, light enough to share a machine with it.
//!
//! A few threads drive plain sockets by `poll`, whose timeouts are finer than a runtime's ticks;
//! requests are written record by record straight into the buffer that goes to the socket. The
//! client of the other commands only prepares: topic, leaders, producer ids.
//!
//! What is measured:
//! - a record is created by itself, at its due time when a rate is asked for, late or not: a slow
//!   broker does not slow the schedule down (no coordinated omission);
//! - a batch's confirm latency runs from the creation of its oldest record to the answer, and
//!   counts once for each of its records;
//! - rates are over the time from the end of the warm-up to the last confirm.

mod consume;
mod cpu;
mod interrupt;
mod latency;
mod produce;
mod progress;
mod socket;
mod threads;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Load a broker and measure it
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Produce records at a rate, or as fast as the broker takes them
    Produce(produce::ProduceBench),
    /// Read partitions from their start, as fast as the broker gives them
    Consume(consume::ConsumeBench),
}

/// Runs `millrace bench`.
pub(crate) fn run(args: &BenchArgs) -> Outcome {
    match &args.command {
        BenchCommand::Produce(args) => produce::run(args),
        BenchCommand::Consume(args) => consume::run(args),
    }
}

//! The command line: what there is to type, and one module per command.

mod config;
mod consume;
mod log;
mod produce;
mod server;
mod status;
mod topic;

pub(crate) use produce::{Acks, CodecArg};
pub(crate) use server::{ServerArgs, block_on, key_value};

use clap::{Parser, Subcommand};

use crate::failure::Outcome;
use crate::{bench, serve};

/// A persistent message broker that Kafka clients use as it is.
#[derive(Debug, Parser)]
#[command(name = "millrace", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a broker
    Serve(config::ConfigArgs),
    /// Make, list, describe, alter and delete topics
    Topic(topic::TopicArgs),
    /// Produce records
    Produce(produce::ProduceArgs),
    /// Print records
    Consume(consume::ConsumeArgs),
    /// Load a broker and measure it
    Bench(bench::BenchArgs),
    /// Look into a data directory
    Log(log::LogArgs),
    /// Print every setting with its value, source, unit and range
    Config(config::Config),
    /// Show what a broker says of itself
    Status(status::StatusArgs),
}

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Serve(args) => serve::run(&args.load()?),
        Command::Topic(args) => topic::run(&args),
        Command::Produce(args) => produce::run(&args),
        Command::Consume(args) => consume::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Status(args) => status::run(&args),
    }
}

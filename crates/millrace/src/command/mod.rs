//! The command line: what there is to type, and one module per command.

mod config;
mod status;

use clap::{Parser, Subcommand};

use crate::failure::Outcome;
use crate::serve;

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
    /// Print every setting with its value, source, unit and range
    Config(config::Config),
    /// Show what a broker says of itself
    Status(status::StatusArgs),
}

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Serve(args) => serve::run(&args.load()?),
        Command::Config(args) => config::run(&args),
        Command::Status(args) => status::run(&args),
    }
}

//! `millrace log`: what stands in a data directory, for those who look after it.

mod dump;
mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Look into a data directory
#[derive(Args, Debug)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Print the files, frames and entries of the log
    Dump(dump::DumpArgs),
    /// Check every checksum of checkpoints, log files and segments
    Verify(verify::VerifyArgs),
}

/// Which directory.
#[derive(Args, Debug)]
struct DirArgs {
    /// Data directory
    #[arg(long, value_name = "DIR", default_value = "./millrace-data")]
    data_dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `millrace log`.
pub(crate) fn run(args: &LogArgs) -> Outcome {
    match &args.command {
        LogCommand::Dump(args) => dump::run(args),
        LogCommand::Verify(args) => verify::run(args),
    }
}

//! Tasks of the project: tests with real clients, soak runs, comparisons, and the rules of the repository.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for developers: it reads files and clocks, waits, and talks on the terminal"
)]

mod broker;
mod command;
mod compare;
mod install;
mod interop;
mod paths;
mod process;
mod soak;
mod suite;
mod tidy;
mod wire;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    about = "Tests, soak runs and comparisons of the project"
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything once, in one small instance of each
    Test,
    /// The full lines of the tests, for hours; it goes on where it was ended
    Soak(soak::Options),
    /// Check the rules of the repository that no compiler checks
    Tidy,
    /// Install the clients that the tests need, into the cache directory
    Install,
    /// Run the tests with real clients
    Interop(interop::Options),
    /// Compare speed and cost with another broker
    #[command(subcommand)]
    Compare(compare::Other),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test => suite::test(),
        Task::Soak(options) => soak::run(&options),
        Task::Tidy => tidy::run(),
        Task::Install => install::install().map(|_| ()),
        Task::Interop(options) => interop::run(&options),
        Task::Compare(other) => compare::run(&other),
    }
}

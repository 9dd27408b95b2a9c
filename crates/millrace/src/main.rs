//! The one binary: configuration, listeners, wiring, command line.
//!
//! - [`config`] makes plain data out of flags, environment and file;
//! - [`serve`] runs a node: signals, logging, listeners, readiness; `serve/wiring.rs` is the only
//!   place that knows the storage engine and the protocols together;
//! - [`client`] speaks the Kafka protocol to any broker, for [`command`] and [`mod@bench`].

mod bench;
mod client;
mod command;
mod config;
mod failure;
mod logging;
mod output;
mod serve;

use std::process::ExitCode;

use clap::Parser;

/// Less resident memory and less time per allocation than the C library's allocator.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // clap prints its own errors and leaves with 2, and with 0 after --help and --version.
    let outcome = command::run(command::Cli::parse());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_logged() {
                eprintln!("{failure}");
            }
            failure.exit_code()
        }
    }
}

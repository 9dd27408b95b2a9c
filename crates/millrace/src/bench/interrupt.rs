//! Ctrl-C: the first ends the run, and what was measured so far is printed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;

use super::progress::Counters;

/// Lets the first SIGINT ask the drivers to end; the second one ends the process.
#[expect(clippy::disallowed_methods, reason = "the shell of the load generator")]
pub(super) fn end_on_interrupt(counters: &Arc<Counters>) -> anyhow::Result<()> {
    let counters = counters.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .context("cannot wait for signals")?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            runtime.block_on(async {
                if tokio::signal::ctrl_c().await.is_ok() {
                    counters.stop.store(true, Ordering::Relaxed);
                    if tokio::signal::ctrl_c().await.is_ok() {
                        std::process::exit(1);
                    }
                }
            });
        })
        .context("cannot start a thread")?;
    Ok(())
}

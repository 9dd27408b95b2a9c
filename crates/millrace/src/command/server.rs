//! The flags of every command that speaks to a broker.

use std::future::Future;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::client::Client;
use crate::failure::Outcome;

/// Which cluster to speak to
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgs {
    /// Any brokers of the cluster, separated by commas
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        default_value = "127.0.0.1:9092",
        global = true
    )]
    pub(crate) server: Vec<String>,
    /// Longest time to wait for an answer, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=3_600),
        global = true
    )]
    timeout: u64,
}

impl ServerArgs {
    /// Connects to the cluster.
    pub(crate) async fn connect(&self) -> anyhow::Result<Client> {
        let client = Client::connect(&self.server, Duration::from_secs(self.timeout)).await;
        client.with_context(|| format!("--server {}", self.server.join(",")))
    }
}

/// Runs a command on this thread.
pub(crate) fn block_on(command: impl Future<Output = Outcome>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(command)
}

/// `KEY=VALUE` of a flag.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("not of the form KEY=VALUE")?;
    if key.trim().is_empty() {
        return Err("the key is empty".into());
    }
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

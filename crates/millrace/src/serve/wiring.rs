//! The only place that knows storage engine, services and protocols together.
//!
//! Three steps, called by the shell in this order: [`prepare`] takes the data directory or says
//! why it cannot be used (exit code 3), [`Prepared::start`] recovers and serves, and
//! [`Node::stop`] ends in order. Everything else of `serve` stays as it is.

use std::sync::Arc;

use admin::{Status, StatusSource};
use anyhow::Context;
use tokio::net::TcpListener;

use crate::config::NodeConfig;
use crate::failure::{Failure, Outcome};

/// A data directory that is ours, not recovered yet.
#[derive(Debug)]
pub(crate) struct Prepared {}

/// A node that serves clients.
#[derive(Debug)]
pub(crate) struct Node {
    kafka: Vec<TcpListener>,
}

/// Takes the data directory. [`Failure::DataDir`] when it is in use, damaged or of a newer format.
pub(crate) fn prepare(config: &NodeConfig) -> Result<Prepared, Failure> {
    for dir in &config.log.dirs {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("cannot make log.dirs entry {}", dir.display()))
            .map_err(Failure::DataDir)?;
    }
    Ok(Prepared {})
}

impl Prepared {
    /// Recovers the log and serves Kafka clients on `kafka` (bound, nothing accepted yet).
    pub(crate) async fn start(
        self,
        _config: &NodeConfig,
        kafka: Vec<TcpListener>,
    ) -> Result<Node, Failure> {
        Ok(Node { kafka })
    }
}

impl Node {
    /// What the node says of itself; the shell fills version, uptime, listeners and memory.
    pub(crate) fn status(&self) -> Arc<dyn StatusSource> {
        Arc::new(NoBroker)
    }

    /// Completes when the node cannot go on by itself.
    pub(crate) async fn failed(&self) -> Failure {
        std::future::pending().await
    }

    /// Ends in order: no new connections, what is under way, a clean stop of the log.
    pub(crate) async fn stop(self) -> Outcome {
        drop(self.kafka);
        Ok(())
    }
}

/// Until the broker is wired in, the node says that it is not ready.
struct NoBroker;

impl StatusSource for NoBroker {
    fn status(&self) -> Status {
        Status::default()
    }

    fn ready(&self) -> Result<(), String> {
        Err("this build has no broker".into())
    }
}

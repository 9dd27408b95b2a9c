//! `millrace serve`: the shell around a node.
//!
//! Order of a start: configuration, logging, data directory ([`wiring::prepare`]), listeners,
//! admin, recovery ([`wiring::Prepared::start`]), the ready line. Order of a stop: the node, then
//! the admin listener, so that readiness says "stopping" while the node does.

mod abandon;
mod bind;
mod clock;
mod kafka_settings;
mod open_files;
mod ready;
mod shell_status;
mod signals;
mod wiring;

pub(crate) use open_files::raise_limit;
pub(crate) use wiring::take_directory;

use std::sync::Arc;

use admin::StatusSource;
use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::config::{NodeConfig, Settings};
use crate::failure::{Failure, Outcome};
use crate::logging;
use bind::Bound;
use shell_status::ShellStatus;

/// Runs a node until it is told to stop.
pub(crate) fn run(settings: &Settings) -> Outcome {
    let config = NodeConfig::new(settings);
    logging::start(config.log_levels.clone(), &config.log_format);
    run_logging(config, settings).map_err(Failure::log)
}

fn run_logging(mut config: NodeConfig, settings: &Settings) -> Outcome {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let connections_max = open_files::for_connections(raise_limit());
    config.connections_max = config.connections_max.min(connections_max);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("millrace")
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(node(config, settings))
}

async fn node(config: NodeConfig, settings: &Settings) -> Outcome {
    let stop = signals::install()?;
    let prepared = wiring::prepare(&config)?;
    let bound = Bound::bind(&config)?;
    let status = Arc::new(ShellStatus::new(&config, &bound));
    let admin = Admin::start(bound.admin, &status);

    let started = prepared
        .start(&config, settings, bound.kafka, &stop)
        .await?;
    let Some(node) = started else {
        ready::stopping();
        tracing::info!("stopped while starting");
        return Ok(());
    };
    status.attach(node.status());
    if !stop.is_cancelled() {
        ready::announce(status.listeners(), status.ready().err().as_deref())?;
    }
    let failed = tokio::select! {
        () = stop.cancelled() => None,
        failure = node.failed() => Some(failure),
    };
    status.stopping();
    ready::stopping();
    let stopped = node.stop().await;
    admin.stop().await;
    tracing::info!("stopped");
    failed.map_or(stopped, Err)
}

/// The admin listener's tasks.
struct Admin {
    stop: CancellationToken,
    tasks: tokio::task::JoinSet<()>,
}

impl Admin {
    fn start(listeners: Vec<tokio::net::TcpListener>, status: &Arc<ShellStatus>) -> Self {
        let stop = CancellationToken::new();
        let mut tasks = tokio::task::JoinSet::new();
        for listener in listeners {
            let router = admin::router(status.clone());
            let stop = stop.clone();
            tasks.spawn(async move {
                let served = admin::serve(listener, router, stop.cancelled_owned()).await;
                if let Err(error) = served {
                    tracing::error!(%error, "the admin listener ended");
                }
            });
        }
        Self { stop, tasks }
    }

    /// Requests under way get a moment; an idle connection must not hold up the stop.
    async fn stop(mut self) {
        self.stop.cancel();
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(std::time::Duration::from_millis(200), drained)
            .await
            .is_err()
        {
            tracing::debug!("closing admin connections that are still open");
        }
    }
}

//! Connections: accepting, reading frames, answering in order.

use broker::Broker;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::KafkaConfig;

/// Serves Kafka clients.
#[derive(Debug)]
pub struct Server {
    broker: Broker,
    config: KafkaConfig,
}

impl Server {
    /// A server of `broker` that does not accept yet.
    #[must_use]
    pub fn new(broker: Broker, config: KafkaConfig) -> Self {
        Self { broker, config }
    }

    /// Serves on bound listeners until `shutdown` is cancelled: then nothing more is accepted or
    /// read, what is under way is answered, and connections are closed.
    pub async fn run(self, listeners: Vec<TcpListener>, shutdown: CancellationToken) {
        tracing::debug!(broker = ?self.broker.info(), config = ?self.config, "no connection is served yet");
        shutdown.cancelled().await;
        drop(listeners);
    }
}

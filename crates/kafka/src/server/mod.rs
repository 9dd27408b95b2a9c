//! Connections: accepting, reading frames, answering in order.
//!
//! A connection is one small future ([`Connection`](connection::Connection)), polled by one task.
//! It reads frames ([`FrameReader`](frame_reader::FrameReader)), starts requests
//! ([`Pipeline`](pipeline::Pipeline)) and writes answers ([`Output`](output::Output)); each of the
//! three has a bound, and what is over it stops the one before it, so that in the end the client's
//! bytes wait in its own socket.
//!
//! Invariants:
//! - **S1** answers leave in the order of their requests.
//! - **S2** batches of Produce requests reach the owner in the order of the requests.
//! - **S3** a connection without traffic holds no buffer, and no claimed length allocates.

mod connection;
mod frame_reader;
mod listener;
mod output;
mod pipeline;

use std::sync::Arc;

use broker::Broker;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::KafkaConfig;
use crate::handlers::Node;

pub(crate) use frame_reader::BadLength;
pub(crate) use output::Answer;

/// Serves Kafka clients.
#[derive(Debug)]
pub struct Server {
    node: Arc<Node>,
}

impl Server {
    /// A server of `broker` that does not accept yet.
    #[must_use]
    pub fn new(broker: Broker, config: KafkaConfig) -> Self {
        Self {
            node: Arc::new(Node::new(broker, config)),
        }
    }

    /// Serves on bound listeners until `shutdown` is cancelled: then nothing more is accepted or
    /// read, what is under way is answered, and connections are closed.
    pub async fn run(self, listeners: Vec<TcpListener>, shutdown: CancellationToken) {
        let connections_max = self.node.config.connections_max;
        let slots = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
        let tasks = TaskTracker::new();
        for listener in listeners {
            let (node, slots) = (Arc::clone(&self.node), Arc::clone(&slots));
            let (connections, shutdown) = (tasks.clone(), shutdown.clone());
            tasks.spawn(listener::run(listener, node, slots, connections, shutdown));
        }
        shutdown.cancelled().await;
        self.node.close();
        tasks.close();
        tasks.wait().await;
    }
}

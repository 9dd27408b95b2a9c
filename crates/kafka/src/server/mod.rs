//! Connections: accepting, reading frames, answering in order.
//!
//! A connection is one small future ([`Connection`](connection::Connection)), polled by one task.
//! It reads frames ([`FrameReader`](frame_reader::FrameReader)) from its
//! [`Socket`](socket::Socket), starts requests
//! ([`Pipeline`](pipeline::Pipeline)) and writes answers ([`Output`](output::Output)); each of the
//! three has a bound, and what is over it stops the one before it, so that in the end the client's
//! bytes wait in its own socket. Where a client keeps several small produce requests in flight, one
//! thread may stay with its connection and write several of them at once
//! ([`Gather`](gather::Gather)).
//!
//! Invariants:
//! - **S1** answers leave in the order of their requests.
//! - **S2** batches of Produce requests reach the owner in the order of the requests.
//! - **S3** a connection without traffic holds no buffer, and no claimed length allocates.

mod connection;
mod frame_reader;
mod gather;
mod listener;
mod open_count;
mod output;
mod pace;
mod pipeline;
mod socket;

use std::sync::Arc;

use broker::Broker;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::KafkaConfig;
use crate::handlers::Node;

use listener::Accepting;

pub use open_count::OpenCount;

pub(crate) use frame_reader::BadLength;
pub(crate) use output::Answer;
pub(crate) use pace::TooSlow;

/// Serves Kafka clients.
#[derive(Debug)]
pub struct Server {
    node: Arc<Node>,
    open: OpenCount,
}

impl Server {
    /// A server of `broker` that does not accept yet.
    #[must_use]
    pub fn new(broker: Broker, config: KafkaConfig) -> Self {
        Self {
            node: Arc::new(Node::new(broker, config)),
            open: OpenCount::default(),
        }
    }

    /// How many connections are open, now and later.
    #[must_use]
    pub fn open_count(&self) -> OpenCount {
        self.open.clone()
    }

    /// Serves on bound listeners until `shutdown` is cancelled: then nothing more is accepted or
    /// read, what is under way is answered, and connections are closed.
    pub async fn run(self, listeners: Vec<TcpListener>, shutdown: CancellationToken) {
        let connections_max = self.node.config.connections_max;
        let slots = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
        let tasks = TaskTracker::new();
        for listener in listeners {
            let (node, slots) = (Arc::clone(&self.node), Arc::clone(&slots));
            let accepting = Accepting {
                node,
                slots,
                connections: tasks.clone(),
                open: self.open.clone(),
            };
            tasks.spawn(accepting.run(listener, shutdown.clone()));
        }
        shutdown.cancelled().await;
        self.node.close();
        tasks.close();
        tasks.wait().await;
    }
}

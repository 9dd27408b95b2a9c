//! What all connections share, and what one knows of itself.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use broker::Broker;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};
use types::BufferPool;
use types::limits::{
    KAFKA_FETCH_MEMORY_BYTES, KAFKA_LARGE_REQUESTS_BYTES, KAFKA_REQUEST_POOL_BYTES,
    KAFKA_STAY_CONNECTIONS_MAX,
};

use super::ProduceTimer;
use crate::KafkaConfig;

/// Bytes that one permit of memory stands for.
const UNIT_BYTES: usize = 1024;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) broker: Broker,
    pub(crate) config: KafkaConfig,
    fetch_memory: Arc<Semaphore>,
    large_requests: Arc<Semaphore>,
    /// For connections that a thread stays with.
    stays: Arc<Semaphore>,
    /// Memory of requests that goes round.
    pub(crate) request_buffers: Arc<BufferPool>,
    is_closing: AtomicBool,
    closing: CancellationToken,
}

impl Node {
    pub(crate) fn new(broker: Broker, config: KafkaConfig) -> Self {
        Self {
            broker,
            config,
            fetch_memory: Arc::new(Semaphore::new(KAFKA_FETCH_MEMORY_BYTES / UNIT_BYTES)),
            large_requests: Arc::new(Semaphore::new(KAFKA_LARGE_REQUESTS_BYTES / UNIT_BYTES)),
            stays: Arc::new(Semaphore::new(KAFKA_STAY_CONNECTIONS_MAX)),
            request_buffers: BufferPool::new(KAFKA_REQUEST_POOL_BYTES),
            is_closing: AtomicBool::new(false),
            closing: CancellationToken::new(),
        }
    }

    /// Tells connections to end and requests to be quick.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.closing.cancel();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    pub(crate) fn closing(&self) -> WaitForCancellationFuture<'_> {
        self.closing.cancelled()
    }

    /// Whether a thread may stay with one more connection.
    pub(crate) fn try_stay(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.stays).try_acquire_owned().ok()
    }

    /// Waits for the memory of a large request. `None` when the node closes.
    pub(crate) async fn large_request(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        // One larger than all memory is let in alone.
        let units = bytes.min(KAFKA_LARGE_REQUESTS_BYTES) / UNIT_BYTES;
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Arc::clone(&self.large_requests)
            .acquire_many_owned(units)
            .await
            .ok()
    }

    /// Memory for the records of an answer, and its permit: what is wanted, but at most half of
    /// what is free, so that others get some as well.
    pub(crate) fn fetch_memory(
        &self,
        wanted_bytes: usize,
    ) -> (usize, Option<OwnedSemaphorePermit>) {
        let wanted = wanted_bytes.div_ceil(UNIT_BYTES);
        let units = wanted.min(self.fetch_memory.available_permits() / 2);
        let count = u32::try_from(units).unwrap_or(u32::MAX);
        match Arc::clone(&self.fetch_memory).try_acquire_many_owned(count) {
            Ok(permit) => (wanted_bytes.min(units * UNIT_BYTES), Some(permit)),
            // Others were faster.
            Err(_) => (0, None),
        }
    }

    /// Gives back what an answer of `used_bytes` does not need.
    pub(crate) fn trim_fetch_memory(permit: &mut Option<OwnedSemaphorePermit>, used_bytes: usize) {
        let used = used_bytes.div_ceil(UNIT_BYTES);
        if let Some(permit) = permit {
            let unused = permit.num_permits().saturating_sub(used);
            drop(permit.split(unused));
        }
    }
}

/// What a connection knows of itself. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    node: Arc<Node>,
    /// Where the client reached us.
    local: SocketAddr,
    produce_timer: Arc<ProduceTimer>,
}

/// Where clients are told to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: i32,
}

impl Session {
    /// # Errors
    /// When the connection is gone already.
    pub(crate) fn new(node: Arc<Node>, stream: &TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        let produce_timer = Arc::default();
        Ok(Self {
            node,
            local,
            produce_timer,
        })
    }

    /// The timer of this connection's Produce requests.
    pub(crate) fn produce_timer(&self) -> &ProduceTimer {
        &self.produce_timer
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    pub(crate) fn broker(&self) -> &Broker {
        &self.node.broker
    }

    /// Where this client is told to connect: where it came from reaches us there.
    pub(crate) fn endpoint(&self) -> Endpoint {
        let advertised = self.node.config.advertised.as_ref();
        let port = advertised.and_then(|advertised| advertised.port);
        let host = advertised.map(|advertised| advertised.host.clone());
        Endpoint {
            // An IPv4 client of an IPv6 socket is told the address that it knows.
            host: host.unwrap_or_else(|| self.local.ip().to_canonical().to_string()),
            port: i32::from(port.unwrap_or_else(|| self.local.port())),
        }
    }
}

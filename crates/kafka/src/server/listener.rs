//! Accepting.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::limits::{ACCEPT_RETRY_MS, STOP_ANSWERS_MS};

use super::connection::Connection;
use super::open_count::{Counted, OpenCount};
use crate::handlers::{Closed, Node, Session};

/// What a listener needs to serve whom it accepts.
pub(super) struct Accepting {
    pub(super) node: Arc<Node>,
    /// One for each connection that may be open.
    pub(super) slots: Arc<Semaphore>,
    pub(super) connections: TaskTracker,
    pub(super) open: OpenCount,
}

impl Accepting {
    /// Accepts until `shutdown`; each connection has a slot as long as it lives.
    pub(super) async fn run(self, listener: TcpListener, shutdown: CancellationToken) {
        tokio::select! {
            () = self.accept_all(&listener) => {}
            () = shutdown.cancelled() => {}
        }
    }

    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            let (stream, peer) = accept(listener).await;
            // Only now: a listener to which nobody comes takes no slot from others.
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
                return;
            };
            match Session::new(Arc::clone(&self.node), &stream) {
                Ok(session) => {
                    let held = (slot, self.open.count());
                    self.connections.spawn(serve(stream, peer, session, held));
                }
                Err(error) => tracing::debug!(%peer, %error, "a connection was gone at once"),
            }
        }
    }
}

/// The next connection. A process without descriptors waits until it has some again.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                pause().await;
            }
        }
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells when descriptors are free again"
)]
async fn pause() {
    tokio::time::sleep(Duration::from_millis(ACCEPT_RETRY_MS)).await;
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    session: Session,
    held: (OwnedSemaphorePermit, Counted),
) {
    let mut connection = Connection::new(stream, session.clone());
    let end = until_closing(&mut connection, &session).await;
    let end = match end {
        Some(end) => end,
        None => {
            connection.stop_reading();
            let grace = Duration::from_millis(STOP_ANSWERS_MS);
            match tokio::time::timeout(grace, &mut connection).await {
                Ok(end) => end,
                Err(_) => {
                    tracing::debug!(%peer, "closed with requests under way");
                    return;
                }
            }
        }
    };
    match end {
        Ok(()) => tracing::trace!(%peer, "connection ended"),
        Err(closed) if closed.is_of_the_client() => {
            tracing::debug!(%peer, reason = %closed, "connection ended");
        }
        Err(closed) => tracing::info!(%peer, reason = %closed, "connection closed"),
    }
    drop(held);
}

/// Polls a connection until it ends, or until the node closes.
async fn until_closing(
    connection: &mut Connection,
    session: &Session,
) -> Option<Result<(), Closed>> {
    let mut closing = pin!(session.node().closing());
    let mut is_registered = false;
    poll_fn(|cx| {
        // Polling it takes a lock that all connections share: once to be woken, and when woken.
        if !is_registered || session.node().is_closing() {
            is_registered = true;
            if closing.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
        }
        Pin::new(&mut *connection).poll(cx).map(Some)
    })
    .await
}

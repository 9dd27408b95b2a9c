//! A listener whose connections are bounded in number and time.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};
use types::limits::{ADMIN_CONNECTION_MS, ADMIN_CONNECTIONS_MAX};

/// How many connections a listener has, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections that are open at once; more wait to be accepted.
    pub connections_max: usize,
    /// How long one may live, from its acceptance to its end.
    pub connection: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: ADMIN_CONNECTIONS_MAX,
            connection: Duration::from_millis(ADMIN_CONNECTION_MS),
        }
    }
}

/// Accepts within bounds.
#[derive(Debug)]
pub(crate) struct Bounded {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    connection: Duration,
}

impl Bounded {
    pub(crate) fn new(listener: TcpListener, bounds: Bounds) -> Self {
        Self {
            listener,
            slots: Arc::new(Semaphore::new(bounds.connections_max)),
            connection: bounds.connection,
        }
    }
}

impl Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // It is never closed, so there is always a slot.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        // Retries what is worth it.
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        let deadline = Instant::now() + self.connection;
        let connection = Connection {
            stream,
            end: Box::pin(sleep_until(deadline)),
            _slot: slot,
        };
        (connection, peer)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that fails once its time is up, and has a slot until it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// The stream, and a task that is woken at the end at the latest.
    fn stream(&mut self, cx: &mut Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(Pin::new(&mut self.stream)),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream(cx)?.poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream(cx)?.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream(cx)?.poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream(cx)?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream(cx)?.poll_shutdown(cx)
    }
}

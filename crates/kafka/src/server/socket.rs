//! A client's socket: the runtime tells of it, or one thread stays with it.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream as StdStream;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use nix::sys::socket::setsockopt;
use nix::{libc, setsockopt_impl, sockopt_impl};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use types::limits::READ_BUFFER_BYTES;

sockopt_impl!(
    /// Bytes that must have arrived before `poll` tells of them, in socket(7).
    ReceiveLowWater,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_RCVLOWAT,
    usize
);

/// A socket that never blocks.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Stream,
    /// Bytes that must have arrived before a wait ends.
    low_water: usize,
    /// All that had arrived was read. Only of a socket that a thread stays with.
    is_drained: bool,
}

#[derive(Debug)]
enum Stream {
    /// The runtime tells when something can be done.
    Told(TcpStream),
    /// The runtime knows nothing of it: the thread that polls the connection waits for it.
    Held(StdStream, OwnedSemaphorePermit),
    /// It could not be given back to the runtime.
    Lost,
}

/// What has arrived when a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// All that was waited for, or the client is gone.
    Enough,
    /// Less.
    Some,
    /// Nothing.
    Nothing,
}

impl Socket {
    pub(super) const fn new(stream: TcpStream) -> Self {
        Self {
            stream: Stream::Told(stream),
            low_water: 1,
            is_drained: false,
        }
    }

    /// Whether a thread stays with it: nobody is woken by what it does.
    pub(super) const fn is_held(&self) -> bool {
        matches!(self.stream, Stream::Held(..))
    }

    /// Takes the socket from the runtime, whose other threads would be woken by each request.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn hold(&mut self, permit: OwnedSemaphorePermit) -> io::Result<()> {
        let stream = match std::mem::replace(&mut self.stream, Stream::Lost) {
            Stream::Told(stream) => stream.into_std()?,
            other => {
                self.stream = other;
                return Ok(());
            }
        };
        self.stream = Stream::Held(stream, permit);
        self.is_drained = false;
        Ok(())
    }

    /// Gives the socket back to the runtime, if it was taken from it: true then.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn release(&mut self) -> io::Result<bool> {
        // The runtime is to be told of each byte.
        self.set_low_water(1)?;
        match std::mem::replace(&mut self.stream, Stream::Lost) {
            Stream::Held(stream, _permit) => {
                self.stream = Stream::Told(TcpStream::from_std(stream)?);
                Ok(true)
            }
            other => {
                self.stream = other;
                Ok(false)
            }
        }
    }

    /// Waits until `bytes` can be read from a held socket, for less than a second. For threads that
    /// may wait ([`broker::may_wait`]).
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn wait(&mut self, bytes: usize, limit: Duration) -> io::Result<Arrived> {
        self.set_low_water(bytes)?;
        self.is_drained = false;
        if self.has_arrived(limit)? {
            return Ok(Arrived::Enough);
        }
        if bytes == 1 {
            return Ok(Arrived::Nothing);
        }
        self.set_low_water(1)?;
        Ok(if self.has_arrived(Duration::ZERO)? {
            Arrived::Some
        } else {
            Arrived::Nothing
        })
    }

    fn set_low_water(&mut self, bytes: usize) -> io::Result<()> {
        if let Stream::Held(stream, _) = &self.stream
            && self.low_water != bytes
        {
            setsockopt(stream, ReceiveLowWater, &bytes)?;
            self.low_water = bytes;
        }
        Ok(())
    }

    fn has_arrived(&self, limit: Duration) -> io::Result<bool> {
        let Stream::Held(stream, _) = &self.stream else {
            return Ok(false);
        };
        let mut fds = [PollFd::new(stream, PollFlags::IN)];
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: limit.subsec_nanos().into(),
        };
        match tokio::task::block_in_place(|| poll(&mut fds, Some(&limit))) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Time has passed: something may have arrived.
    pub(super) const fn look_again(&mut self) {
        self.is_drained = false;
    }

    /// Ready when there may be something to read.
    pub(super) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &self.stream {
            Stream::Told(stream) => stream.poll_read_ready(cx),
            Stream::Held(..) if self.is_drained => Poll::Pending,
            Stream::Held(..) => Poll::Ready(Ok(())),
            Stream::Lost => Poll::Ready(Err(lost())),
        }
    }

    /// Reads once into the room that `buffer` has, up to `limit` bytes.
    pub(super) fn try_read(&mut self, buffer: &mut impl Room, limit: usize) -> io::Result<usize> {
        match &self.stream {
            Stream::Told(stream) => stream.try_read_buf(&mut buffer.as_buf().limit(limit)),
            Stream::Held(stream, _) => {
                let mut stream = stream;
                // Small requests come here: what is cleared for nothing costs less than a wait.
                let mut asked = 0;
                let read = buffer.fill_with(limit.min(READ_BUFFER_BYTES), |room| {
                    asked = room.len();
                    stream.read(room)
                });
                self.is_drained = match &read {
                    Ok(got) => (1..asked).contains(got),
                    Err(error) => would_block(error),
                };
                read
            }
            Stream::Lost => Err(lost()),
        }
    }

    /// Writes once.
    pub(super) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            let written = match &self.stream {
                Stream::Told(stream) => {
                    ready!(stream.poll_write_ready(cx))?;
                    stream.try_write_vectored(slices)
                }
                Stream::Held(stream, _) => {
                    let mut stream = stream;
                    stream.write_vectored(slices)
                }
                Stream::Lost => Err(lost()),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if would_block(&error) => {
                    if self.is_held() {
                        return Poll::Pending;
                    }
                }
                written => return Poll::Ready(written),
            }
        }
    }
}

fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

fn lost() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

/// A buffer with room behind what it holds.
pub(super) trait Room {
    /// The buffer, for those who write to its room.
    fn as_buf(&mut self) -> impl BufMut;

    /// Has at most `limit` bytes of its room filled; they are cleared before.
    ///
    /// # Errors
    /// Those of `fill`.
    fn fill_with(
        &mut self,
        limit: usize,
        fill: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize>;
}

macro_rules! room {
    ($buffer:ty) => {
        impl Room for $buffer {
            fn as_buf(&mut self) -> impl BufMut {
                self
            }

            fn fill_with(
                &mut self,
                limit: usize,
                fill: impl FnOnce(&mut [u8]) -> io::Result<usize>,
            ) -> io::Result<usize> {
                let before = self.len();
                let room = (self.capacity() - before).min(limit);
                self.resize(before + room, 0);
                let filled = fill(self.get_mut(before..).unwrap_or_default());
                self.truncate(before + filled.as_ref().map_or(0, |filled| *filled));
                filled
            }
        }
    };
}

room!(BytesMut);
room!(Vec<u8>);

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::task::Waker;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::Semaphore;

    const MOMENT: Duration = Duration::from_millis(1);

    async fn pair() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).await.unwrap();
        (Socket::new(listener.accept().await.unwrap().0), client)
    }

    /// Holds it with the only permit of those returned.
    fn hold(socket: &mut Socket) -> Arc<Semaphore> {
        let permits = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&permits).try_acquire_owned().unwrap();
        socket.hold(permit).unwrap();
        assert!(socket.is_held());
        permits
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_held_socket_is_waited_for_read_and_written_by_its_thread() {
        let (mut socket, mut client) = pair().await;
        hold(&mut socket);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(socket.wait(1, MOMENT).unwrap(), Arrived::Nothing);
        client.write_all(b"abc").await.unwrap();
        while socket.wait(1, MOMENT).unwrap() == Arrived::Nothing {}
        assert!(socket.poll_read_ready(&mut cx).is_ready());
        let mut buffer = BytesMut::with_capacity(100);
        assert_eq!(socket.try_read(&mut buffer, 2).unwrap(), 2);
        assert_eq!(socket.try_read(&mut buffer, 50).unwrap(), 1);
        assert_eq!(&buffer[..], b"abc");
        assert!(socket.poll_read_ready(&mut cx).is_pending(), "all was read");
        socket.look_again();
        let nothing = socket.try_read(&mut buffer, 50).unwrap_err();
        assert!(would_block(&nothing));
        assert_eq!(&buffer[..], b"abc");
        let written = socket.poll_write(&mut cx, &[IoSlice::new(b"de"), IoSlice::new(b"f")]);
        assert!(matches!(written, Poll::Ready(Ok(3))));
        let mut answer = [0; 3];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"def");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_wait_ends_when_enough_has_arrived_and_tells_of_less() {
        let (mut socket, mut client) = pair().await;
        let _permits = hold(&mut socket);
        client.write_all(b"abc").await.unwrap();
        while socket.wait(1, MOMENT).unwrap() == Arrived::Nothing {}
        assert_eq!(socket.wait(4, MOMENT).unwrap(), Arrived::Some);
        client.write_all(b"d").await.unwrap();
        while socket.wait(4, MOMENT).unwrap() != Arrived::Enough {}
        let mut buffer = BytesMut::with_capacity(10);
        assert_eq!(socket.try_read(&mut buffer, 10).unwrap(), 4);
        assert_eq!(socket.wait(2, MOMENT).unwrap(), Arrived::Nothing);
        // The runtime is told of less than a thread waited for.
        socket.wait(100, MOMENT).unwrap();
        assert!(socket.release().unwrap());
        client.write_all(b"e").await.unwrap();
        poll_fn(|cx| socket.poll_read_ready(cx)).await.unwrap();
        assert_eq!(socket.try_read(&mut buffer, 10).unwrap(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_socket_that_is_given_back_wakes_its_task_again() {
        let (mut socket, mut client) = pair().await;
        assert!(!socket.release().unwrap(), "it was not taken");
        let permits = hold(&mut socket);
        assert_eq!(permits.available_permits(), 0);
        assert!(socket.release().unwrap());
        assert_eq!(permits.available_permits(), 1, "others may be held");
        client.write_all(b"abc").await.unwrap();
        poll_fn(|cx| socket.poll_read_ready(cx)).await.unwrap();
        let mut buffer = Vec::with_capacity(10);
        assert_eq!(socket.try_read(&mut buffer, 10).unwrap(), 3);
        assert_eq!(buffer, b"abc");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_end_of_a_client_ends_the_wait() {
        let (mut socket, client) = pair().await;
        let permits = hold(&mut socket);
        drop(client);
        while socket.wait(1, MOMENT).unwrap() == Arrived::Nothing {}
        let mut buffer = BytesMut::with_capacity(10);
        assert_eq!(socket.try_read(&mut buffer, 10).unwrap(), 0);
        drop(socket);
        assert_eq!(permits.available_permits(), 1, "others may be held");
    }
}

//! A non-blocking socket that sends whole buffers and receives whole frames.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::{Buf, Bytes, BytesMut};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const FRAME_BYTES_MAX: usize = 512 << 20;

/// A connection that another one may replace.
#[derive(Debug, thiserror::Error)]
#[error("lost the connection to {server}")]
pub(super) struct Lost {
    server: String,
    source: io::Error,
}

/// One connection of a load generator.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    server: String,
    out: Vec<u8>,
    written: usize,
    input: BytesMut,
    read_step_bytes: usize,
}

impl Socket {
    /// Connects; one read brings `read_step_bytes` at most.
    pub(super) fn connect(server: &str, read_step_bytes: usize) -> anyhow::Result<Self> {
        let stream = connect(server).map_err(|source| Lost {
            server: server.to_owned(),
            source,
        });
        let stream = stream.with_context(|| format!("cannot connect to {server}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let input = BytesMut::with_capacity(read_step_bytes);
        let server = server.to_owned();
        Ok(Self {
            stream,
            server,
            out: Vec::new(),
            written: 0,
            input,
            read_step_bytes,
        })
    }

    /// Whether all that was given to it has gone to the system.
    pub(super) fn is_flushed(&self) -> bool {
        self.written == self.out.len()
    }

    /// The buffer for the next request; only while flushed. Its memory is used again.
    pub(super) fn start(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.is_flushed(), "one request at a time");
        self.out.clear();
        self.written = 0;
        &mut self.out
    }

    /// Writes as much as the system takes.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        while let Some(rest) = self.out.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(count) => self.written += count,
                Err(error) if is_would_block(&error) => return Ok(()),
                Err(error) => return Err(self.lost(error)),
            }
        }
        Ok(())
    }

    /// Reads what is there, once. Room is cleared in steps that stay in the processor's cache.
    pub(super) fn fill(&mut self) -> anyhow::Result<()> {
        let frame_bytes = self.frame_length()?.map_or(0, |length| length + 4);
        self.input
            .reserve(frame_bytes.saturating_sub(self.input.len()));
        let before = self.input.len();
        self.input.resize(before + self.read_step_bytes, 0);
        let read = self
            .stream
            .read(self.input.get_mut(before..).unwrap_or_default());
        self.input.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(()),
            Err(error) if is_would_block(&error) => Ok(()),
            Err(error) => Err(self.lost(error)),
        }
    }

    /// The next whole frame, without its length.
    pub(super) fn frame(&mut self) -> anyhow::Result<Option<Bytes>> {
        match self.frame_length()? {
            Some(length) if self.input.len() >= length + 4 => {
                self.input.advance(4);
                Ok(Some(self.input.split_to(length).freeze()))
            }
            _ => Ok(None),
        }
    }

    fn frame_length(&self) -> anyhow::Result<Option<usize>> {
        let Some(prefix) = self.input.first_chunk::<4>() else {
            return Ok(None);
        };
        let announced = i32::from_be_bytes(*prefix);
        let length = usize::try_from(announced)
            .ok()
            .filter(|length| *length <= FRAME_BYTES_MAX);
        match length {
            Some(length) => Ok(Some(length)),
            None => bail!("{} sent a frame of {announced} bytes", self.server),
        }
    }

    fn lost(&self, source: io::Error) -> anyhow::Error {
        let server = self.server.clone();
        Lost { server, source }.into()
    }
}

fn connect(server: &str) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in server.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_would_block(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Waits until one of some sockets can be read, or written where something is left to write, for
/// `timeout` at most. Tells of each, in order, whether it can be read.
pub(super) fn wait<'a>(
    sockets: impl Iterator<Item = &'a Socket>,
    timeout: Duration,
) -> io::Result<Vec<bool>> {
    let mut fds: Vec<_> = sockets.map(interest).collect();
    let timeout = Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let readable = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
    Ok(fds
        .iter()
        .map(|fd| fd.revents().intersects(readable))
        .collect())
}

fn interest(socket: &Socket) -> PollFd<'_> {
    let write = if socket.is_flushed() {
        PollFlags::empty()
    } else {
        PollFlags::OUT
    };
    PollFd::new(&socket.stream, PollFlags::IN | write)
}

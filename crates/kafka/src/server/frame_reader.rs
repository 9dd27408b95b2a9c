//! Frames out of a byte stream, with memory for what arrived only.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Duration, Instant};
use types::PooledBuffer;
use types::limits::{
    KAFKA_LARGE_FRAME_PART_MS, KAFKA_TRUSTED_FRAME_BYTES_MAX, READ_BUFFER_BYTES, READ_GROWTH_FACTOR,
};

use super::pace::{Pace, TooSlow};
use super::socket::Socket;
use crate::handlers::Session;

/// Bytes of the length before each frame.
const PREFIX_BYTES: usize = 4;
/// Less room than this at the end of a buffer is not worth a read.
const USEFUL_ROOM_BYTES: usize = 1024;

/// Takes frames out of a stream. A frame larger than what a connection has sent before gets room
/// as its bytes arrive, a multiple of them at a time, and none before the first. A large one waits
/// for its share of the memory that all large ones have.
pub(super) struct FrameReader {
    session: Session,
    /// What has arrived, unless it is the beginning of a large frame.
    buffer: BytesMut,
    large: Option<Large>,
    /// Size of the last frame, up to a bound: the next one is believed to be as large.
    trusted_bytes: usize,
    /// Memory for the large frame that is arriving.
    share: Option<Share>,
    reserving: Option<Reserving>,
}

/// A frame larger than the read buffer: it has a buffer of its own and no byte behind it is read,
/// so that its batches are slices of one allocation.
struct Large {
    buffer: PooledBuffer,
    /// Bytes that it may hold for now.
    room: usize,
}

/// A share of the memory for large frames, and how fast its frame comes.
struct Share {
    permit: OwnedSemaphorePermit,
    pace: Pace,
}

type Reserving = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

/// A frame without its length.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    /// Memory that it was given, if it is large.
    pub(super) reserved: Option<OwnedSemaphorePermit>,
}

impl Frame {
    /// Bytes that it took in the stream.
    pub(super) const fn stream_bytes(&self) -> usize {
        PREFIX_BYTES + self.bytes.len()
    }
}

impl fmt::Debug for FrameReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameReader")
            .field("buffered", &self.arrived().len())
            .field("reserved", &self.share.is_some())
            .finish_non_exhaustive()
    }
}

/// A length that no frame may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request claims {claimed} bytes, socket.request.max.bytes is {bytes_max}")]
pub(crate) struct BadLength {
    /// What it says.
    pub(crate) claimed: i32,
    /// The largest that is taken.
    pub(crate) bytes_max: usize,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Bytes.
    Some,
    /// The client sends nothing more.
    End,
}

impl FrameReader {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            buffer: BytesMut::new(),
            large: None,
            trusted_bytes: 0,
            share: None,
            reserving: None,
        }
    }

    /// The next frame, if it is complete.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>, BadLength> {
        let Some(frame_bytes) = self.claimed()? else {
            return Ok(None);
        };
        if self.arrived().len() - PREFIX_BYTES < frame_bytes {
            return Ok(None);
        }
        let bytes = match self.large.take() {
            Some(large) => Bytes::from_owner(large.buffer).slice(PREFIX_BYTES..),
            None => {
                self.buffer.advance(PREFIX_BYTES);
                self.buffer.split_to(frame_bytes).freeze()
            }
        };
        self.trusted_bytes = frame_bytes.min(KAFKA_TRUSTED_FRAME_BYTES_MAX);
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
        let reserved = self.share.take().map(|share| share.permit);
        Ok(Some(Frame { bytes, reserved }))
    }

    fn arrived(&self) -> &[u8] {
        match &self.large {
            Some(large) => &large.buffer,
            None => &self.buffer,
        }
    }

    /// The length of the frame that the buffer begins with, if that much has arrived.
    fn claimed(&self) -> Result<Option<usize>, BadLength> {
        let Some(prefix) = self.arrived().first_chunk::<PREFIX_BYTES>() else {
            return Ok(None);
        };
        let claimed = i32::from_be_bytes(*prefix);
        let bytes_max = self.session.node().config.request_bytes_max;
        let bytes = usize::try_from(claimed).ok();
        match bytes.filter(|bytes| *bytes <= bytes_max) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(BadLength { claimed, bytes_max }),
        }
    }

    /// Reads what has arrived, once. Nothing is allocated while nothing has.
    pub(super) fn poll_fill(
        &mut self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Filled>> {
        loop {
            self.note_pace();
            ready!(socket.poll_read_ready(cx))?;
            ready!(self.poll_reserve(cx));
            self.make_room();
            let read = match &mut self.large {
                Some(Large { buffer, room }) => {
                    let left = room.saturating_sub(buffer.len());
                    socket.try_read(&mut **buffer, left)
                }
                None => socket.try_read(&mut self.buffer, usize::MAX),
            };
            match read {
                Ok(0) => return Poll::Ready(Ok(Filled::End)),
                Ok(_) => {
                    self.note_pace();
                    return Poll::Ready(Ok(Filled::Some));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.buffer.is_empty() {
                        self.buffer = BytesMut::new();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Waits for the memory that a large frame needs.
    fn poll_reserve(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // What `claimed` refuses was refused when the bytes arrived.
        let claimed = self.claimed().ok().flatten().unwrap_or(0);
        if claimed <= KAFKA_TRUSTED_FRAME_BYTES_MAX || self.share.is_some() {
            return Poll::Ready(());
        }
        let session = &self.session;
        let reserving = self.reserving.get_or_insert_with(|| {
            let session = session.clone();
            Box::pin(async move { session.node().large_request(claimed).await })
        });
        let permit = ready!(reserving.as_mut().poll(cx));
        self.reserving = None;
        let idle_max = self.session.node().config.idle_max;
        let part_max = Duration::from_millis(KAFKA_LARGE_FRAME_PART_MS).min(idle_max);
        let pace = Pace::new(claimed, part_max);
        self.share = permit.map(|permit| Share { permit, pace });
        Poll::Ready(())
    }

    fn note_pace(&mut self) {
        let arrived_bytes = self.arrived().len();
        if let Some(share) = &mut self.share {
            share.pace.reads(arrived_bytes, Instant::now());
        }
    }

    /// Nothing is read for now, for reasons that are not the client's.
    pub(super) const fn rest(&mut self) {
        if let Some(share) = &mut self.share {
            share.pace.rests();
        }
    }

    /// Whether a large frame waits for others to give their memory back.
    pub(super) const fn awaits_share(&self) -> bool {
        self.reserving.is_some()
    }

    /// When more of a large frame must have arrived.
    pub(super) fn due(&self) -> Option<Instant> {
        self.share.as_ref().and_then(|share| share.pace.due())
    }

    /// # Errors
    /// A large frame comes too slowly.
    pub(super) fn check_pace(&self, now: Instant) -> Result<(), TooSlow> {
        let arrived_bytes = self.arrived().len();
        let share = self.share.as_ref();
        share.map_or(Ok(()), |share| share.pace.check(arrived_bytes, now))
    }

    /// Room for the next read.
    fn make_room(&mut self) {
        let claimed = self.claimed().ok().flatten();
        let whole = claimed.map_or(0, |bytes| bytes.saturating_add(PREFIX_BYTES));
        if whole > READ_BUFFER_BYTES {
            return self.make_large_room(whole);
        }
        let (arrived, capacity) = (self.buffer.len(), self.buffer.capacity());
        if capacity > arrived && capacity >= whole.max(USEFUL_ROOM_BYTES) {
            return;
        }
        // `reserve` would round up to twice the old size.
        let mut buffer = BytesMut::with_capacity(READ_BUFFER_BYTES);
        buffer.extend_from_slice(&self.buffer);
        self.buffer = buffer;
    }

    fn make_large_room(&mut self, whole: usize) {
        let arrived = self.arrived();
        if self.large.as_ref().is_some_and(|l| l.room > arrived.len()) {
            return;
        }
        let grown = arrived.len().saturating_mul(READ_GROWTH_FACTOR);
        let trusted = self.trusted_bytes.saturating_add(PREFIX_BYTES);
        let room = whole.min(grown.max(trusted).max(2 * READ_BUFFER_BYTES));
        let mut buffer = self.session.node().request_buffers.take(room);
        buffer.extend_from_slice(arrived);
        self.buffer = BytesMut::new();
        self.large = Some(Large { buffer, room });
    }
}

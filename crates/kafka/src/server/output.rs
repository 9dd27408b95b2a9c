//! Encoded answers on their way to the client.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use bytes::Buf;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Duration, Instant};
use types::limits::{KAFKA_OUTPUT_SHARED_MS_MAX, WRITE_PIECES_MAX};

use super::socket::Socket;
use crate::wire::Chunks;

/// An encoded answer, and the memory that it was charged with until it is written.
#[derive(Debug)]
pub(crate) struct Answer {
    chunks: Chunks,
    #[expect(dead_code, reason = "given back when the answer is dropped")]
    charge: Option<OwnedSemaphorePermit>,
    /// Shares no memory with others any more.
    is_detached: bool,
}

impl Answer {
    /// An answer that is charged with memory.
    pub(crate) fn charged(chunks: Chunks, charge: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            chunks,
            charge,
            is_detached: false,
        }
    }
}

impl From<Chunks> for Answer {
    fn from(chunks: Chunks) -> Self {
        Self::charged(chunks, None)
    }
}

/// Answers to write, in order. Several small ones leave in one system call.
#[derive(Debug, Default)]
pub(super) struct Output {
    answers: VecDeque<Answer>,
    bytes: usize,
    /// Since when the client takes nothing, while answers share memory with others.
    stuck_since: Option<Instant>,
}

impl Output {
    /// Bytes not yet written.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(super) fn push(&mut self, answer: Answer) {
        self.bytes += answer.chunks.len();
        self.answers.push_back(answer);
    }

    /// Writes once. True when something was written.
    pub(super) fn poll_write(
        &mut self,
        socket: &Socket,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<bool>> {
        if self.is_empty() {
            return Poll::Ready(Ok(false));
        }
        let mut slices = [IoSlice::new(&[]); WRITE_PIECES_MAX];
        let filled = self.fill(&mut slices);
        let written = socket.poll_write(cx, slices.get(..filled).unwrap_or_default());
        if written.is_pending() && !self.answers.iter().all(|answer| answer.is_detached) {
            self.stuck_since.get_or_insert_with(Instant::now);
        }
        match ready!(written)? {
            0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            count => {
                self.written(count);
                Poll::Ready(Ok(true))
            }
        }
    }

    /// When to [`detach`](Self::detach), if the client goes on taking nothing.
    pub(super) fn detach_at(&self) -> Option<Instant> {
        let since = self.stuck_since?;
        Some(since + Duration::from_millis(KAFKA_OUTPUT_SHARED_MS_MAX))
    }

    /// The client is slow: a few bytes for it must not keep whole frames of the log in memory.
    pub(super) fn detach(&mut self) {
        self.stuck_since = None;
        let attached = self.answers.iter_mut().filter(|answer| !answer.is_detached);
        for answer in attached {
            answer.chunks.detach();
            answer.is_detached = true;
        }
    }

    fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        for answer in &self.answers {
            let Some(rest) = slices.get_mut(filled..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            filled += answer.chunks.chunks_vectored(rest);
        }
        filled
    }

    fn written(&mut self, mut count: usize) {
        self.bytes -= count;
        self.stuck_since = None;
        while let Some(front) = self.answers.front_mut() {
            let of_front = count.min(front.chunks.len());
            front.chunks.advance(of_front);
            count -= of_front;
            if !front.chunks.is_empty() {
                return;
            }
            self.answers.pop_front();
        }
        // A burst must not leave its room to an idle connection.
        self.answers = VecDeque::new();
    }
}

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

const SHARED_MAX: Duration = Duration::from_millis(KAFKA_OUTPUT_SHARED_MS_MAX);

/// An encoded answer, and the memory that it was charged with until it is written.
#[derive(Debug)]
pub(crate) struct Answer {
    chunks: Chunks,
    #[expect(dead_code, reason = "given back when the answer is dropped")]
    charge: Option<OwnedSemaphorePermit>,
    /// Since when the client has been slow to take it.
    slow_since: Option<Instant>,
    /// Shares no memory with others any more.
    is_detached: bool,
}

impl Answer {
    /// An answer that is charged with memory.
    pub(crate) fn charged(chunks: Chunks, charge: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            chunks,
            charge,
            slow_since: None,
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
        if written.is_pending() {
            self.note_slow(Instant::now());
        }
        match ready!(written)? {
            0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            count => {
                self.written(count);
                Poll::Ready(Ok(true))
            }
        }
    }

    /// The client takes nothing more for now.
    fn note_slow(&mut self, now: Instant) {
        for answer in &mut self.answers {
            answer.slow_since.get_or_insert(now);
        }
    }

    /// When to [`detach`](Self::detach), if answers are not taken by then.
    pub(super) fn detach_at(&self) -> Option<Instant> {
        let attached = self.answers.iter().filter(|answer| !answer.is_detached);
        let since = attached.filter_map(|answer| answer.slow_since).min()?;
        Some(since + SHARED_MAX)
    }

    /// The client is slow: a few bytes for it must not keep whole frames of the log in memory.
    pub(super) fn detach(&mut self, now: Instant) {
        let is_late = |since: Instant| since + SHARED_MAX <= now;
        for answer in &mut self.answers {
            if !answer.is_detached && answer.slow_since.is_some_and(is_late) {
                answer.chunks.detach();
                answer.is_detached = true;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn chunks(memory: &Bytes) -> Chunks {
        let mut chunks = Chunks::default();
        chunks.push(memory.clone());
        chunks
    }

    #[test]
    fn what_a_client_is_slow_to_take_is_copied_though_it_takes_a_little_now_and_then() {
        let memory = Bytes::from(vec![7; 1000]);
        let mut output = Output::default();
        let began = Instant::now();
        output.push(chunks(&memory).into());
        assert_eq!(output.detach_at(), None);
        output.note_slow(began);
        let later = began + SHARED_MAX / 2;
        output.written(10);
        output.push(chunks(&memory).into());
        output.note_slow(later);
        let due = began + SHARED_MAX;
        assert_eq!(output.detach_at(), Some(due));
        output.detach(due);
        assert_eq!(output.detach_at(), Some(later + SHARED_MAX));
        assert!(!memory.is_unique(), "the later answer still shares it");
        output.detach(later + SHARED_MAX);
        assert!(memory.is_unique());
        assert_eq!((output.detach_at(), output.bytes()), (None, 1990));
    }
}

//! Requests of one connection that are under way.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use types::limits::{KAFKA_IN_FLIGHT_BYTES_MAX, KAFKA_IN_FLIGHT_MAX};

use super::frame_reader::Frame;
use super::output::Answer;
use crate::handlers::{Appending, Closed, Outcome, Session, Started};
use crate::wire::ApiKey;

/// A future of a request that is under way.
type Running<T> = Pin<Box<dyn Future<Output = Result<T, Closed>> + Send>>;

/// The requests of one connection that are under way, in order.
///
/// Clients count on one request being done before the next one begins. Produce requests may go
/// ahead all the same: their batches are proposed in order, and what is proposed later is visible
/// later. So one starts as it comes unless something before it may change what it finds
/// ([`Queued::lets_pass`]); every other request starts when all before it are answered.
#[derive(Default)]
pub(super) struct Pipeline {
    queue: VecDeque<Queued>,
    starting: Option<Starting>,
    bytes: usize,
}

/// A Produce request that is being checked and proposed.
struct Starting {
    running: Running<Started>,
    /// Size of the request.
    bytes: usize,
    /// Memory that it was given, if it is large.
    reserved: Option<OwnedSemaphorePermit>,
}

struct Queued {
    step: Step,
    /// Size of the request.
    bytes: usize,
    /// It changes nothing.
    reads: bool,
    /// Memory that it was given, if it is large.
    #[expect(dead_code, reason = "given back when the request is answered")]
    reserved: Option<OwnedSemaphorePermit>,
}

enum Step {
    /// Not begun: this is its frame.
    Waiting(Bytes),
    /// Under way.
    Running(Running<Outcome>),
    /// Proposed; the owner answers.
    Appending(Appending),
    /// Done.
    Done(Outcome),
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("queued", &self.queue.len())
            .field("starting", &self.starting.is_some())
            .field("bytes", &self.bytes)
            .finish()
    }
}

impl Pipeline {
    /// Whether another request may begin.
    pub(super) fn has_room(&self) -> bool {
        self.starting.is_none()
            && self.queue.len() < KAFKA_IN_FLIGHT_MAX
            && self.bytes < KAFKA_IN_FLIGHT_BYTES_MAX
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.starting.is_none() && self.queue.is_empty()
    }

    /// Whether what is left changes nothing any more, whoever waits for its answers.
    pub(super) fn changes_nothing(&self) -> bool {
        self.starting.is_none() && self.queue.iter().all(Queued::lets_pass)
    }

    /// Takes the next request. True of a Produce request that begins.
    pub(super) fn push(&mut self, frame: Frame, session: &Session) -> bool {
        let Frame {
            bytes: frame,
            reserved,
        } = frame;
        let bytes = frame.len();
        self.bytes += bytes;
        if is_produce(&frame) && self.queue.iter().all(Queued::lets_pass) {
            let start = crate::handlers::start_produce(session.clone(), frame);
            self.starting = Some(Starting {
                running: Box::pin(start),
                bytes,
                reserved,
            });
            true
        } else {
            let reads = is_read(&frame);
            let step = Step::Waiting(frame);
            self.queue.push_back(Queued {
                step,
                bytes,
                reads,
                reserved,
            });
            false
        }
    }

    /// Goes on with the Produce request that is being started; true when it is.
    pub(super) fn poll_start(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let Some(starting) = &mut self.starting else {
            return Ok(false);
        };
        let Poll::Ready(started) = starting.running.as_mut().poll(cx) else {
            return Ok(false);
        };
        let bytes = starting.bytes;
        let reserved = starting.reserved.take();
        self.starting = None;
        let step = match started? {
            Started::Appending(appending) => Step::Appending(appending),
            Started::Done(outcome) => Step::Done(outcome),
        };
        self.queue.push_back(Queued {
            step,
            bytes,
            reads: false,
            reserved,
        });
        Ok(true)
    }

    /// The answer of the oldest request, if it is done; `None` in place of one that has none.
    pub(super) fn poll_answer(
        &mut self,
        session: &Session,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Answer>, Closed>> {
        let Some(oldest) = self.queue.front_mut() else {
            return Poll::Pending;
        };
        if let Step::Waiting(frame) = &mut oldest.step {
            let frame = std::mem::take(frame);
            let run = crate::handlers::run(session.clone(), frame);
            oldest.step = Step::Running(Box::pin(run));
        }
        let outcome = match &mut oldest.step {
            Step::Running(running) => running.as_mut().poll(cx),
            Step::Appending(appending) => appending.poll(cx),
            Step::Done(outcome) => Poll::Ready(Ok(std::mem::take(outcome))),
            Step::Waiting(_) => Poll::Pending,
        };
        let Poll::Ready(outcome) = outcome else {
            return Poll::Pending;
        };
        self.bytes -= oldest.bytes;
        self.queue.pop_front();
        if self.queue.is_empty() {
            // A burst must not leave its room to an idle connection.
            self.queue = VecDeque::new();
        }
        Poll::Ready(outcome)
    }
}

impl Queued {
    /// Whether a Produce request behind it may begin: it only reads, or is proposed.
    fn lets_pass(&self) -> bool {
        self.reads || self.is_proposed()
    }

    fn is_proposed(&self) -> bool {
        match self.step {
            Step::Appending(_) | Step::Done(_) => true,
            Step::Waiting(_) | Step::Running(_) => false,
        }
    }
}

fn is_produce(frame: &Bytes) -> bool {
    api_of(frame) == Some(ApiKey::Produce)
}

fn is_read(frame: &Bytes) -> bool {
    matches!(api_of(frame), Some(ApiKey::Fetch | ApiKey::ListOffsets))
}

fn api_of(frame: &Bytes) -> Option<ApiKey> {
    let key = frame.first_chunk::<2>()?;
    ApiKey::from_code(i16::from_be_bytes(*key))
}

//! One connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use types::limits::{CONNECTION_STEPS_MAX, KAFKA_OUTPUT_BYTES_MAX};

use super::frame_reader::{Filled, FrameReader};
use super::output::Output;
use super::pipeline::Pipeline;
use crate::handlers::{Closed, Session};

/// Reads requests and writes answers until one side has had enough. A future to be polled by one
/// task; it is small, and what a request needs is allocated while it is under way.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    session: Session,
    reader: FrameReader,
    pipeline: Pipeline,
    output: Output,
    /// Nothing more is read.
    read_ended: bool,
    /// Frames that have arrived are no longer begun.
    stopped: bool,
    idle: Pin<Box<Sleep>>,
    active: Instant,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, session: Session) -> Self {
        let active = Instant::now();
        let deadline = active + session.node().config.idle_max;
        Self {
            stream,
            reader: FrameReader::new(session.clone()),
            session,
            pipeline: Pipeline::default(),
            output: Output::default(),
            read_ended: false,
            stopped: false,
            idle: Box::pin(tokio::time::sleep_until(deadline)),
            active,
        }
    }

    /// Begins no request any more; the future ends when those under way are answered.
    pub(super) fn stop_reading(&mut self) {
        self.read_ended = true;
        self.stopped = true;
    }

    /// Does what can be done now. False when nothing could.
    fn step(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let mut moved = self.pipeline.poll_start(cx)?;
        moved |= self.begin_requests(cx)?;
        moved |= self.collect_answers(cx)?;
        if let Poll::Ready(written) = self.output.poll_write(&self.stream, cx) {
            moved |= written?;
        }
        moved |= self.read(cx)?;
        Ok(moved)
    }

    fn begin_requests(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let mut moved = false;
        while self.takes_requests() {
            let Some(frame) = self.reader.next_frame()? else {
                break;
            };
            self.pipeline.push(frame, &self.session);
            self.pipeline.poll_start(cx)?;
            moved = true;
        }
        Ok(moved)
    }

    fn takes_requests(&self) -> bool {
        !self.stopped && self.pipeline.has_room() && self.output_has_room()
    }

    /// A client that does not read its answers gets no more of them made.
    fn output_has_room(&self) -> bool {
        self.output.bytes() < KAFKA_OUTPUT_BYTES_MAX
    }

    fn collect_answers(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let mut moved = false;
        while self.output_has_room() {
            let Poll::Ready(answer) = self.pipeline.poll_answer(&self.session, cx) else {
                break;
            };
            if let Some(answer) = answer? {
                self.output.push(answer);
            }
            moved = true;
        }
        Ok(moved)
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        if self.read_ended || !self.takes_requests() {
            return Ok(false);
        }
        match self.reader.poll_fill(&self.stream, cx) {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(Filled::Some)) => Ok(true),
            Poll::Ready(Ok(Filled::End)) => {
                self.read_ended = true;
                Ok(true)
            }
            Poll::Ready(Err(error)) => Err(error.into()),
        }
    }

    /// Whether the client is gone and all it sent is begun, or all is answered after a stop.
    fn is_done(&self) -> bool {
        if self.stopped {
            return self.pipeline.is_empty() && self.output.is_empty();
        }
        // Whoever closes waits for no answer, but what was asked for before is done.
        self.read_ended && self.takes_requests() && self.pipeline.changes_nothing()
    }

    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        while self.idle.as_mut().poll(cx).is_ready() {
            // A request that takes its time is ours to answer; an answer is the client's to read.
            if !self.pipeline.is_empty() && self.output.is_empty() {
                self.active = Instant::now();
            }
            let deadline = self.active + self.session.node().config.idle_max;
            if Instant::now() >= deadline {
                return Poll::Ready(Closed::Idle);
            }
            self.idle.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// Goes on until there is nothing to do, or for as many rounds as others may wait.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let mut moved_at_all = false;
        for _ in 0..CONNECTION_STEPS_MAX {
            // All that has arrived is proposed before any of it is written.
            if !self.step(cx)? && !self.session.broker().write() {
                if moved_at_all {
                    self.active = Instant::now();
                }
                if self.is_done() {
                    return Poll::Ready(Ok(()));
                }
                return self.poll_idle(cx).map(Err);
            }
            moved_at_all = true;
        }
        // Other connections get their turn.
        self.active = Instant::now();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Future for Connection {
    type Output = Result<(), Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let polled = this.advance(cx);
        // However it ended, what was proposed does not wait for this connection.
        this.session.broker().write();
        polled
    }
}

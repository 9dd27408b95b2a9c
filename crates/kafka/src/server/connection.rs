//! One connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio::time::{Duration, Instant, Sleep};
use types::limits::{
    CONNECTION_STEPS_MAX, CONNECTION_WAITS_MAX, KAFKA_OUTPUT_BYTES_MAX, KAFKA_STAY_MS_MAX,
};

use super::frame_reader::{Filled, FrameReader};
use super::gather::Gather;
use super::output::Output;
use super::pipeline::Pipeline;
use super::socket::{Arrived, Socket};
use crate::handlers::{Closed, Session};

const STAY_MAX: Duration = Duration::from_millis(KAFKA_STAY_MS_MAX);

/// Reads requests and writes answers until one side has had enough. A future to be polled by one
/// task; it is small, and what a request needs is allocated while it is under way.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    session: Session,
    reader: FrameReader,
    pipeline: Pipeline,
    output: Output,
    gather: Gather,
    /// Since when what was proposed waits for more.
    gathers_since: Option<Instant>,
    /// Nothing more is read.
    read_ended: bool,
    /// Frames that have arrived are no longer begun.
    stopped: bool,
    /// What the connection ends with once the requests before it are answered.
    failed: Option<Closed>,
    /// Fires when there is something to do though nothing arrived.
    timer: Pin<Box<Sleep>>,
    active: Instant,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, session: Session) -> Self {
        let active = Instant::now();
        let deadline = active + session.node().config.idle_max;
        Self {
            socket: Socket::new(stream),
            reader: FrameReader::new(session.clone()),
            session,
            pipeline: Pipeline::default(),
            output: Output::default(),
            gather: Gather::default(),
            gathers_since: None,
            read_ended: false,
            stopped: false,
            failed: None,
            timer: Box::pin(tokio::time::sleep_until(deadline)),
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
        let started = self.pipeline.poll_start(cx);
        let mut moved = self.or_fail(started);
        let begun = self.begin_requests(cx);
        moved |= self.or_fail(begun);
        let collected = self.collect_answers(cx);
        if collected.is_err() {
            // Those behind a request that has no answer are not begun any more.
            self.pipeline = Pipeline::default();
        }
        moved |= self.or_fail(collected);
        if let Poll::Ready(written) = self.output.poll_write(&self.socket, cx) {
            moved |= written?;
        }
        moved |= self.read(cx)?;
        Ok(moved)
    }

    /// Whether something was done. What a request fails with ends the connection, but not before the
    /// requests before it are answered: they are done, and their client is to know.
    fn or_fail(&mut self, did: Result<bool, Closed>) -> bool {
        did.unwrap_or_else(|closed| {
            self.failed.get_or_insert(closed);
            self.stop_reading();
            true
        })
    }

    /// The same, without the bound that the runtime sets to a task's turn where none waits for it.
    fn step_on(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        if !self.socket.is_held() {
            return self.step(cx);
        }
        let step = poll_fn(|cx| Poll::Ready(self.step(cx)));
        match pin!(tokio::task::unconstrained(step)).poll(cx) {
            Poll::Ready(moved) => moved,
            // It is always ready.
            Poll::Pending => Ok(false),
        }
    }

    fn begin_requests(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let mut moved = false;
        while self.takes_requests() {
            let Some(frame) = self.reader.next_frame()? else {
                break;
            };
            let bytes = frame.stream_bytes();
            if self.pipeline.push(frame, &self.session) {
                self.gather.count(bytes);
            }
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
        if !self.reads() {
            self.reader.rest();
            return Ok(false);
        }
        match self.reader.poll_fill(&mut self.socket, cx) {
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

    /// Has written what was proposed, unless its thread stays for what is to be written with it.
    /// True when answers may have come of it.
    fn write(&mut self) -> bool {
        if !self.session.broker().awaits_write() {
            self.gather.forget();
        } else if self.gathers() {
            return false;
        } else {
            self.gather.wrote();
        }
        self.gathers_since = None;
        let told = self.session.broker().write();
        self.socket.look_again();
        told
    }

    /// Whether what was proposed waits for more, and has not waited for long.
    fn gathers(&mut self) -> bool {
        if !self.socket.is_held() || !self.gather.wants_more() || !self.reads() {
            return false;
        }
        self.gathers_since.get_or_insert_with(Instant::now);
        let goes_on = !self.stay_max().is_zero();
        if !goes_on {
            self.gather.give_up(false);
        }
        goes_on
    }

    /// How long a thread may wait for the client now.
    fn stay_max(&self) -> Duration {
        let waited = self.gathers_since.map(|since| since.elapsed());
        STAY_MAX.saturating_sub(waited.unwrap_or_default())
    }

    fn reads(&self) -> bool {
        !self.read_ended && self.takes_requests()
    }

    /// Waits in this thread, for a moment, for the next request of a client that keeps several in
    /// flight: to be woken by each costs more. True when something may be done now.
    fn stay(&mut self) -> Result<bool, Closed> {
        let node = self.session.node();
        if node.is_closing() || !self.gather.is_on() {
            return Ok(false);
        }
        // Nobody wakes this thread by an answer, nor when the client takes one.
        let is_ours = self.pipeline.is_empty() || self.session.broker().awaits_write();
        if !is_ours || !self.output.is_empty() || !self.reads() {
            return Ok(false);
        }
        if !self.socket.is_held() {
            let permit = broker::may_wait().then(|| node.try_stay());
            let Some(permit) = permit.flatten() else {
                return Ok(false);
            };
            self.socket.hold(permit)?;
        }
        let awaited = self.gather.awaited_bytes();
        let arrived = self.socket.wait(awaited, self.stay_max())?;
        let came = arrived != Arrived::Nothing;
        if arrived != Arrived::Enough {
            self.gather.give_up(came);
        }
        Ok(came || !self.pipeline.is_empty())
    }

    /// Goes on until there is nothing to do, or for as many rounds as others may wait.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        // A thread stays once for each thing that was done: for a silent client it does not.
        let (mut moved_at_all, mut stayed) = (false, true);
        let (mut rounds_left, mut waits_left) = (CONNECTION_STEPS_MAX, CONNECTION_WAITS_MAX);
        while rounds_left > 0 {
            rounds_left -= 1;
            // All that has arrived is proposed before any of it is written.
            if self.step_on(cx)? {
                (moved_at_all, stayed) = (true, false);
                continue;
            }
            let wrote = self.write();
            if wrote || (!stayed && self.stay()?) {
                moved_at_all |= wrote;
                stayed = !wrote;
                // Meanwhile others went on in other threads.
                if self.socket.is_held() && waits_left > 0 {
                    waits_left -= 1;
                    rounds_left = CONNECTION_STEPS_MAX;
                }
                continue;
            }
            stayed = true;
            if self.socket.release()? {
                // The runtime learns what this connection waits for in one more round.
                rounds_left = rounds_left.max(1);
                continue;
            }
            if moved_at_all {
                self.active = Instant::now();
            }
            if self.is_done() {
                return Poll::Ready(self.failed.take().map_or(Ok(()), Err));
            }
            return self.poll_timer(cx).map(Err);
        }
        // Others get their turn, and may be those whom a thread stays with.
        self.socket.release()?;
        self.active = Instant::now();
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Waits for what comes by the clock; the connection ends with what it gives.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        let due = self.next_due();
        // A timer that fires too early is set again then; most of the time it is not needed.
        if due < self.timer.deadline() {
            self.timer.as_mut().reset(due);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            self.output.detach(now);
            if self.is_idle(now) {
                return Poll::Ready(Closed::Idle);
            }
            if let Err(slow) = self.reader.check_pace(now) {
                return Poll::Ready(slow.into());
            }
            let due = self.next_due();
            self.timer.as_mut().reset(due);
        }
        Poll::Pending
    }

    fn next_due(&self) -> Instant {
        let idle_at = self.active + self.session.node().config.idle_max;
        let detach_at = self.output.detach_at();
        let others = [detach_at, self.reader.due()].into_iter().flatten();
        others.fold(idle_at, Instant::min)
    }

    /// Whether the client has done nothing for too long.
    fn is_idle(&mut self, now: Instant) -> bool {
        // A request that takes its time is ours to answer, and memory is ours to give; an answer is
        // the client's to read.
        let awaits_us = !self.pipeline.is_empty() || self.reader.awaits_share();
        let is_ours = awaits_us && self.output.is_empty();
        let is_over = now >= self.active + self.session.node().config.idle_max;
        if is_over && is_ours {
            self.active = now;
        }
        is_over && !is_ours
    }
}

impl Future for Connection {
    type Output = Result<(), Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let polled = this.advance(cx);
        // However it ended, what was proposed does not wait for this connection.
        if polled.is_ready() {
            this.session.broker().write();
        } else {
            this.write();
        }
        polled
    }
}

//! One connection under load.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use kafka::wire::{ErrorCode, decode_response};
use kafka::wire::messages::{ProduceRequest, ProduceResponse};
use record::{Codec, HEADER_BYTES};

use super::Measured;
use super::batch_sent::{Batch, Sent};
use super::retry::{Failures, GIVE_UP, is_retriable};
use crate::bench::produce::ProduceBench;
use crate::bench::produce::batch::{self, Contents};
use crate::bench::produce::pace::Pace;
use crate::bench::produce::plan::Plan;
use crate::bench::produce::request::{PRODUCE_VERSION, RequestWriter};
use crate::bench::produce::template::Template;
use crate::bench::progress::Counters;
use crate::bench::socket::{Lost, Socket};
use crate::client::Producer;

const READ_STEP_BYTES: usize = 16 << 10;

/// A connection, the partitions that it writes and the requests that it waits for.
///
/// Batches that fail and may be taken later are sent again, as producers do it: nothing new is sent
/// until all that is under way has its answer and what failed of it was sent again in its old order
/// and with its old sequences.
#[derive(Debug)]
pub(super) struct Lane {
    server: String,
    /// `None` while the connection is lost.
    socket: Option<Socket>,
    /// Connections that were lost or refused in a row.
    outage: Failures,
    topic: String,
    template: Template,
    partitions: Vec<Partition>,
    /// Where the next batch goes.
    next: usize,
    producer: Option<Producer>,
    codec: Codec,
    acks: i16,
    limits: Limits,
    pace: Option<Pace>,
    /// Records made so far.
    made: u64,
    records_max: u64,
    in_flight: VecDeque<Sent>,
    /// What failed of the requests under way, in the order in which it was sent.
    failed: Vec<Batch>,
    /// What is to be sent again, before anything new.
    again: VecDeque<Batch>,
    /// Nothing is sent before.
    rest_until: Duration,
    correlation_id: i32,
    /// When there will be something to send, if that is known.
    next_time: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    batch_records: u64,
    request_bytes: usize,
    in_flight: usize,
    linger: Duration,
}

#[derive(Debug)]
struct Partition {
    index: i32,
    sequence: i32,
}

impl Lane {
    pub(super) fn new(args: &ProduceBench, plan: Plan) -> anyhow::Result<Self> {
        let template = Template::new(usize::try_from(args.record_bytes)?, plan.number.into());
        let room = usize::try_from(args.batch_bytes)?.saturating_sub(HEADER_BYTES);
        let limits = Limits {
            batch_records: u64::try_from(room / template.record_bytes())?.max(1),
            request_bytes: usize::try_from(args.request_bytes)?,
            in_flight: usize::try_from(args.in_flight)?,
            linger: Duration::from_millis(args.linger_ms),
        };
        let partition = |index| Partition { index, sequence: 0 };
        Ok(Self {
            socket: Some(Socket::connect(&plan.server, READ_STEP_BYTES)?),
            server: plan.server,
            outage: Failures::default(),
            topic: args.topic.clone(),
            template,
            partitions: plan.partitions.into_iter().map(partition).collect(),
            next: 0,
            producer: plan.producer,
            codec: args.codec.into(),
            acks: args.acks.number(),
            limits,
            pace: args
                .rate
                .map(|rate| Pace::new(rate, args.connections, plan.number)),
            made: 0,
            records_max: plan.records,
            in_flight: VecDeque::new(),
            failed: Vec::new(),
            again: VecDeque::new(),
            rest_until: Duration::ZERO,
            correlation_id: 0,
            next_time: None,
        })
    }

    /// The connection, if there is one.
    pub(super) fn socket(&self) -> Option<&Socket> {
        self.socket.as_ref()
    }

    /// When to look again although the socket has nothing to tell.
    pub(super) fn next_time(&self) -> Option<Duration> {
        self.next_time
    }

    /// Whether nothing will be sent any more and all is answered.
    pub(super) fn is_done(&self, ending: bool) -> bool {
        let sent_all = ending || self.made >= self.records_max;
        let is_flushed = self.socket.as_ref().is_none_or(Socket::is_flushed);
        sent_all && self.in_flight.is_empty() && !self.has_failed() && is_flushed
    }

    /// Whether it waits for a broker that may never come back.
    pub(super) fn is_in_trouble(&self) -> bool {
        self.socket.is_none() || self.has_failed()
    }

    fn has_failed(&self) -> bool {
        !self.failed.is_empty() || !self.again.is_empty()
    }

    /// Sends as many requests as are due and may be under way.
    pub(super) fn send(
        &mut self,
        now: Duration,
        start_ms: i64,
        ending: bool,
        measured: &mut Measured,
        counters: &Counters,
    ) -> anyhow::Result<()> {
        self.next_time = None;
        self.flush(now)?;
        while self.may_send(now)? && !counters.is_stopped() {
            if self.again.is_empty() {
                let ready = if ending { 0 } else { self.ready(now) };
                if ready == 0 {
                    return Ok(());
                }
                self.request(now, start_ms, ready)?;
            } else {
                measured.retries += self.request_again()?;
            }
            self.flush(now)?;
        }
        if self.acks == 0 && self.socket.as_ref().is_some_and(Socket::is_flushed) {
            // No answer will wake us: the next turn comes at once.
            self.next_time = Some(self.rest_until.max(now));
        }
        Ok(())
    }

    /// Whether a request may be sent now. Connects anew where the connection is lost.
    fn may_send(&mut self, now: Duration) -> anyhow::Result<bool> {
        if self.in_flight.is_empty() && !self.failed.is_empty() {
            let failed = std::mem::take(&mut self.failed);
            failed
                .into_iter()
                .rev()
                .for_each(|batch| self.again.push_front(batch));
        }
        if now < self.rest_until {
            self.next_time = Some(self.rest_until);
            return Ok(false);
        }
        if self.socket.is_none() {
            match Socket::connect(&self.server, READ_STEP_BYTES) {
                Ok(socket) => {
                    self.socket = Some(socket);
                    self.outage = Failures::default();
                }
                Err(error) => {
                    self.lose(now, &error)?;
                    self.next_time = Some(self.rest_until);
                    return Ok(false);
                }
            }
        }
        let is_flushed = self.socket.as_ref().is_some_and(Socket::is_flushed);
        let has_room = self.in_flight.len() < self.limits.in_flight;
        Ok(is_flushed && has_room && self.failed.is_empty())
    }

    fn flush(&mut self, now: Duration) -> anyhow::Result<()> {
        let flushed = self.socket.as_mut().map_or(Ok(()), Socket::flush);
        self.unless_lost(now, flushed)
    }

    /// A lost connection is no error: what was under way on it is sent again on the next one.
    fn unless_lost(&mut self, now: Duration, result: anyhow::Result<()>) -> anyhow::Result<()> {
        match result {
            Err(error) if error.is::<Lost>() => self.lose(now, &error),
            other => other,
        }
    }

    fn lose(&mut self, now: Duration, error: &anyhow::Error) -> anyhow::Result<()> {
        self.socket = None;
        let rest = self.outage.add(now);
        let Some(rest) = rest else {
            bail!("gave up after {} s: {error:#}", GIVE_UP.as_secs());
        };
        self.rest_until = self.rest_until.max(now + rest);
        for sent in std::mem::take(&mut self.in_flight) {
            for batch in sent.batches {
                self.fail(now, batch, || format!("{error:#}"))?;
            }
        }
        Ok(())
    }

    /// Keeps a batch to be sent again after a rest.
    fn fail(
        &mut self,
        now: Duration,
        mut batch: Batch,
        error: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let Some(rest) = batch.failures.add(now) else {
            bail!("gave up after {} s: {}", GIVE_UP.as_secs(), error());
        };
        self.rest_until = self.rest_until.max(now + rest);
        self.failed.push(batch);
        Ok(())
    }

    /// How many records may go now; 0 also sets the time to ask again.
    fn ready(&mut self, now: Duration) -> u64 {
        let left = self.records_max - self.made;
        let Some(pace) = &self.pace else { return left };
        let due = pace.due_count(now).saturating_sub(self.made).min(left);
        if due >= self.limits.batch_records.min(left.max(1)) {
            return due;
        }
        // The oldest waits for company, but not longer than the linger time.
        let oldest = pace.due(self.made);
        let full = pace.due(self.made + self.limits.batch_records - 1);
        let deadline = full.min(oldest.saturating_add(self.limits.linger));
        if due > 0 && now >= deadline {
            return due;
        }
        self.next_time = (left > 0).then_some(deadline.max(oldest));
        0
    }

    /// Sends new batches of up to `ready` records, one for each partition in turn.
    fn request(&mut self, now: Duration, start_ms: i64, mut ready: u64) -> anyhow::Result<()> {
        let batch_bytes = self.batch_bytes(self.limits.batch_records);
        let (mut batches, mut bytes) = (Vec::new(), 0);
        while ready > 0 && batches.len() < self.partitions.len() {
            if !batches.is_empty() && bytes + batch_bytes > self.limits.request_bytes {
                break;
            }
            let records = ready.min(self.limits.batch_records);
            batches.push(self.make(now, start_ms, records)?);
            bytes += self.batch_bytes(records);
            ready -= records;
        }
        self.write(batches)
    }

    /// Sends what failed, in its order; how many batches that were. A partition has one batch in a
    /// request.
    fn request_again(&mut self) -> anyhow::Result<u64> {
        let (mut batches, mut bytes) = (Vec::<Batch>::new(), 0);
        while let Some(batch) = self.again.front() {
            let batch_bytes = self.batch_bytes(batch.records());
            let is_too_much =
                !batches.is_empty() && bytes + batch_bytes > self.limits.request_bytes;
            if is_too_much || batches.iter().any(|b| b.partition == batch.partition) {
                break;
            }
            bytes += batch_bytes;
            batches.extend(self.again.pop_front());
        }
        let count = u64::try_from(batches.len())?;
        self.write(batches)?;
        Ok(count)
    }

    fn batch_bytes(&self, records: u64) -> usize {
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        self.template.record_bytes().saturating_mul(records)
    }

    /// The next batch, for the partition whose turn it is.
    fn make(&mut self, now: Duration, start_ms: i64, records: u64) -> anyhow::Result<Batch> {
        let pace = self.pace.as_ref();
        let created = pace.map_or(now, |pace| pace.due(self.made).min(now));
        let interval = pace.map(|p| p.due(self.made + 1).saturating_sub(p.due(self.made)));
        let count = self.partitions.len();
        let Some(partition) = self.partitions.get_mut(self.next % count) else {
            bail!("the topic has no partitions");
        };
        let contents = Contents {
            records: i32::try_from(records).context("--batch-bytes holds too many records")?,
            base_timestamp_ms: start_ms + i64::try_from(created.as_millis())?,
            interval_ns: interval.map_or(0, |i| u64::try_from(i.as_nanos()).unwrap_or(0)),
            producer: self.producer.map(|producer| (producer, partition.sequence)),
            codec: self.codec,
        };
        partition.sequence = types::Sequence(partition.sequence).plus(contents.records).0;
        self.made += records;
        self.next = (self.next + 1) % count;
        Ok(Batch {
            partition: partition.index,
            contents,
            created,
            bytes: 0,
            failures: Failures::default(),
        })
    }

    /// Writes one request.
    fn write(&mut self, mut batches: Vec<Batch>) -> anyhow::Result<()> {
        let socket = self.socket.as_mut().context("there is no connection")?;
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let correlation_id = self.correlation_id;
        let mut writer =
            RequestWriter::new(socket.start(), correlation_id, self.acks, &self.topic);
        let mut before = 0;
        for batch in &mut batches {
            let template = &mut self.template;
            writer.partition(batch.partition, |out| {
                batch::put(out, template, &batch.contents)
            })?;
            batch.bytes = u64::try_from(writer.len() - before)?;
            before = writer.len();
        }
        writer.finish()?;
        self.in_flight.push_back(Sent {
            correlation_id,
            batches,
        });
        Ok(())
    }

    /// Takes the answers that have arrived.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) -> anyhow::Result<()> {
        let filled = self.socket.as_mut().map_or(Ok(()), Socket::fill);
        while let Some(socket) = &mut self.socket
            && let Some(frame) = socket.frame()?
        {
            let answer = decode_response::<ProduceRequest>(PRODUCE_VERSION, &frame);
            let (correlation_id, answer) = answer.context("an answer cannot be read")?;
            let sent = self
                .in_flight
                .pop_front()
                .context("an answer that was not asked for")?;
            ensure!(
                sent.correlation_id == correlation_id,
                "answers came out of order"
            );
            measured.requests += u64::from(now >= warmup_end);
            for batch in sent.batches {
                if self.is_confirmed(now, batch, &answer)? {
                    batch.count(now, warmup_end, measured, counters);
                }
            }
        }
        // What arrived before the end counts.
        self.unless_lost(now, filled)
    }

    /// Whether a batch was taken. One that may be taken later is kept for that.
    fn is_confirmed(
        &mut self,
        now: Duration,
        batch: Batch,
        answer: &ProduceResponse,
    ) -> anyhow::Result<bool> {
        let results = answer.responses.iter();
        let result = results
            .flat_map(|topic| &topic.partition_responses)
            .find(|result| result.index == batch.partition)
            .with_context(|| format!("no answer about partition {}", batch.partition))?;
        let code = result.error_code;
        // A broker that remembers fewer batches than were sent again since says so.
        let is_here = code == ErrorCode::DUPLICATE_SEQUENCE_NUMBER && batch.failures.any();
        if code.is_none() || is_here {
            return Ok(true);
        }
        // It came too early: one before it failed.
        let is_behind = code == ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
            && self.failed.iter().any(|b| b.partition == batch.partition);
        let error = || {
            let message = result.error_message.as_deref().unwrap_or_default();
            let index = result.index;
            format!("partition {index} refused a batch: {code} {message}")
        };
        if is_behind || is_retriable(code) {
            self.fail(now, batch, error)?;
            Ok(false)
        } else {
            bail!(error())
        }
    }

    /// Without answers, what the system took counts as done.
    pub(super) fn flushed(
        &mut self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) {
        if self.acks == 0 && self.socket.as_ref().is_some_and(Socket::is_flushed) {
            while let Some(sent) = self.in_flight.pop_front() {
                measured.requests += u64::from(now >= warmup_end);
                for batch in &sent.batches {
                    batch.count(now, warmup_end, measured, counters);
                }
            }
        }
    }
}

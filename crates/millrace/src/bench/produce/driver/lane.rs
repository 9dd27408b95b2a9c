//! One connection under load.

mod answers;

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, bail};
use record::{Codec, HEADER_BYTES};

use super::Measured;
use super::batch_sent::{Batch, Sent};
use super::retry::Failures;
use crate::bench::produce::ProduceBench;
use crate::bench::produce::batch::{self, Contents};
use crate::bench::produce::pace::Pace;
use crate::bench::produce::plan::Plan;
use crate::bench::produce::request::RequestWriter;
use crate::bench::produce::template::Template;
use crate::bench::progress::Counters;
use crate::bench::socket::Socket;
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
                measured.retries += self.request_again(now)?;
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
        self.write(now, |lane, batches| {
            if ready == 0 || batches.len() == lane.partitions.len() {
                return Ok(None);
            }
            let records = ready.min(lane.limits.batch_records);
            ready -= records;
            lane.make(now, start_ms, records).map(Some)
        })
    }

    /// Sends what failed, in its order, a batch for each partition; how many batches that were.
    fn request_again(&mut self, now: Duration) -> anyhow::Result<u64> {
        let mut count = 0;
        self.write(now, |lane, batches| {
            let is_in = |batch: &Batch| batches.iter().any(|b| b.partition == batch.partition);
            let next = lane.again.pop_front_if(|batch| !is_in(batch));
            count += u64::from(next.is_some());
            Ok(next)
        })?;
        Ok(count)
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

    /// Writes one request of the batches that `next` gives, as many as it may hold.
    fn write(
        &mut self,
        now: Duration,
        mut next: impl FnMut(&mut Self, &[Batch]) -> anyhow::Result<Option<Batch>>,
    ) -> anyhow::Result<()> {
        let mut socket = self.socket.take().context("there is no connection")?;
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let correlation_id = self.correlation_id;
        let mut writer = RequestWriter::new(socket.start(), correlation_id, self.acks, &self.topic);
        let batch_bytes = self.template.record_bytes()
            * usize::try_from(self.limits.batch_records).unwrap_or(usize::MAX);
        let (mut batches, mut before) = (Vec::new(), 0);
        while batches.is_empty() || writer.len() + batch_bytes <= self.limits.request_bytes {
            let Some(mut batch) = next(self, &batches)? else {
                break;
            };
            let template = &mut self.template;
            writer.partition(batch.partition, |out| {
                batch::put(out, template, &batch.contents)
            })?;
            batch.bytes = u64::try_from(writer.len() - before)?;
            before = writer.len();
            batches.push(batch);
        }
        writer.finish()?;
        self.socket = Some(socket);
        self.in_flight.push_back(Sent {
            correlation_id,
            time: now,
            batches,
        });
        Ok(())
    }
}

//! One connection under load.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use kafka::wire::decode_response;
use kafka::wire::messages::{ProduceRequest, ProduceResponse};
use record::{Codec, HEADER_BYTES};

use super::Measured;
use crate::bench::produce::ProduceBench;
use crate::bench::produce::batch::{self, Contents};
use crate::bench::produce::pace::Pace;
use crate::bench::produce::plan::Plan;
use crate::bench::produce::request::{PRODUCE_VERSION, RequestWriter};
use crate::bench::produce::template::Template;
use crate::bench::progress::Counters;
use crate::bench::socket::Socket;
use crate::client::Producer;

const READ_STEP_BYTES: usize = 16 << 10;

/// A connection, the partitions that it writes and the requests that it waits for.
#[derive(Debug)]
pub(super) struct Lane {
    socket: Socket,
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

/// A request on its way.
#[derive(Debug)]
struct Sent {
    correlation_id: i32,
    batches: Vec<Batch>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Batch {
    /// When its oldest record was made.
    created: Duration,
    records: u64,
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
            socket: Socket::connect(&plan.server, READ_STEP_BYTES)?,
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
            correlation_id: 0,
            next_time: None,
        })
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// When to look again although the socket has nothing to tell.
    pub(super) fn next_time(&self) -> Option<Duration> {
        self.next_time
    }

    /// Whether nothing will be sent any more and all is answered.
    pub(super) fn is_done(&self, ending: bool) -> bool {
        let sent_all = ending || self.made >= self.records_max;
        sent_all && self.in_flight.is_empty() && self.socket.is_flushed()
    }

    /// Sends as many requests as are due and may be under way.
    pub(super) fn send(
        &mut self,
        now: Duration,
        start_ms: i64,
        ending: bool,
        counters: &Counters,
    ) -> anyhow::Result<()> {
        self.socket.flush()?;
        self.next_time = None;
        while self.socket.is_flushed() && self.in_flight.len() < self.limits.in_flight {
            let ready = if ending { 0 } else { self.ready(now) };
            if ready == 0 || counters.is_stopped() {
                return Ok(());
            }
            self.request(now, start_ms, ready)?;
            self.socket.flush()?;
        }
        if self.acks == 0 && self.socket.is_flushed() {
            // No answer will wake us: the next turn comes at once.
            self.next_time = Some(now);
        }
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

    /// Writes one request with up to `ready` records, a batch for each partition in turn.
    fn request(&mut self, now: Duration, start_ms: i64, mut ready: u64) -> anyhow::Result<()> {
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let out = self.socket.start();
        let mut writer = RequestWriter::new(out, self.correlation_id, self.acks, &self.topic);
        let mut batches = Vec::new();
        let batch_bytes = self.template.record_bytes()
            * usize::try_from(self.limits.batch_records).unwrap_or(usize::MAX);
        while ready > 0 && batches.len() < self.partitions.len() {
            if !batches.is_empty() && writer.len() + batch_bytes > self.limits.request_bytes {
                break;
            }
            let records = ready.min(self.limits.batch_records);
            let created = self
                .pace
                .as_ref()
                .map_or(now, |pace| pace.due(self.made).min(now));
            let interval = self
                .pace
                .as_ref()
                .map(|p| p.due(self.made + 1).saturating_sub(p.due(self.made)));
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
            let template = &mut self.template;
            writer.partition(partition.index, |out| batch::put(out, template, &contents))?;
            partition.sequence = types::Sequence(partition.sequence).plus(contents.records).0;
            batches.push(Batch { created, records });
            self.made += records;
            ready -= records;
            self.next = (self.next + 1) % count;
        }
        let bytes = u64::try_from(writer.len())?;
        writer.finish()?;
        let correlation_id = self.correlation_id;
        self.in_flight.push_back(Sent {
            correlation_id,
            batches,
            bytes,
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
        self.socket.fill()?;
        while let Some(frame) = self.socket.frame()? {
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
            check(&answer, sent.batches.len())?;
            sent.count(now, warmup_end, measured, counters);
        }
        Ok(())
    }

    /// Without answers, what the system took counts as done.
    pub(super) fn flushed(
        &mut self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) {
        if self.acks == 0 && self.socket.is_flushed() {
            while let Some(sent) = self.in_flight.pop_front() {
                sent.count(now, warmup_end, measured, counters);
            }
        }
    }
}

impl Sent {
    fn count(
        &self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) {
        let records = self.batches.iter().map(|batch| batch.records).sum();
        counters.add(records, self.bytes);
        if now < warmup_end {
            return;
        }
        measured.records += records;
        measured.bytes += self.bytes;
        measured.requests += 1;
        measured.span = now - warmup_end;
        for batch in &self.batches {
            measured.batches += 1;
            if batch.created >= warmup_end {
                measured
                    .latency
                    .record(now.saturating_sub(batch.created), batch.records);
            }
        }
    }
}

fn check(answer: &ProduceResponse, batches: usize) -> anyhow::Result<()> {
    let mut count = 0;
    for result in answer
        .responses
        .iter()
        .flat_map(|topic| &topic.partition_responses)
    {
        count += 1;
        if !result.error_code.is_none() {
            let message = result.error_message.as_deref().unwrap_or_default();
            bail!(
                "partition {} refused a batch: {} {message}",
                result.index,
                result.error_code
            );
        }
    }
    ensure!(
        count == batches,
        "{batches} batches were sent and {count} answered"
    );
    Ok(())
}

//! Batches of records on their way to the partitions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use kafka::wire::ErrorCode;
use kafka::wire::messages::ProduceRequest;
use record::{BatchBuilder, Codec, HEADER_BYTES};
use serde::Serialize;
use types::{Clock, SystemClock};

use super::ProduceArgs;
use super::input::{Input, Message};
use crate::client::{
    Client, ClientError, Connection, Reply, base_offset, partition_of_key, send_batch,
};
use crate::failure::Failure;

/// A batch is closed before it exceeds this size, uncompressed, as Kafka's producer does it.
const BATCH_BYTES: usize = 16 << 10;
/// Most bytes of a record besides its key, its value and its headers, as Kafka's clients reckon.
const RECORD_OVERHEAD_BYTES: usize = 21;
/// Most bytes of a header's two lengths.
const HEADER_OVERHEAD_BYTES: usize = 10;
/// Batches on their way at once; the oldest is waited for beyond it.
const IN_FLIGHT: usize = 16;

/// Records that one partition took.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Placed {
    pub(super) partition: i32,
    pub(super) records: u64,
    pub(super) first_offset: Option<i64>,
    pub(super) last_offset: Option<i64>,
}

/// Sends records in the order in which they come.
pub(super) struct Sender<'a> {
    args: &'a ProduceArgs,
    leaders: BTreeMap<i32, Arc<Connection>>,
    partition: Option<i32>,
    clock: SystemClock,
    open: BTreeMap<i32, Open>,
    batch_bytes: usize,
    in_flight: VecDeque<Sent>,
    next_partition: u32,
    placed: BTreeMap<i32, Placed>,
}

/// A batch that is being filled.
#[derive(Default)]
struct Open {
    records: Vec<Stamped>,
    bytes: usize,
}

/// A record with its time.
struct Stamped {
    time_ms: i64,
    message: Message,
}

struct Sent {
    partition: i32,
    /// Kept until the answer: a batch that is too large is sent again in halves.
    records: Vec<Stamped>,
    reply: Reply<ProduceRequest>,
}

impl<'a> Sender<'a> {
    /// Connects to the leaders of the topic, which is made where the broker allows it.
    pub(super) async fn new(client: &Client, args: &'a ProduceArgs) -> Result<Self, Failure> {
        let topic = client.topic(&args.topic, true).await?;
        let mut leaders = BTreeMap::new();
        for p in &topic.partitions {
            leaders.insert(p.partition_index, client.broker(p.leader_id).await?);
        }
        let partition = args.checked_partition(leaders.len())?;
        Ok(Self {
            args,
            leaders,
            partition,
            clock: SystemClock::new(),
            open: BTreeMap::new(),
            batch_bytes: BATCH_BYTES,
            in_flight: VecDeque::new(),
            next_partition: 0,
            placed: BTreeMap::new(),
        })
    }

    /// Sends all records; what is there goes as soon as the input pauses.
    ///
    /// After an error no more is read. What was confirmed is told in any case; records that were
    /// read before a bad one are sent as well, but not after a broker refused some.
    pub(super) async fn send_all(mut self, mut input: Input) -> (Vec<Placed>, anyhow::Result<()>) {
        let mut outcome = self.send_input(&mut input).await;
        if !matches!(&outcome, Err(error) if error.is::<ClientError>()) {
            let finished = self.finish().await;
            outcome = outcome.and(finished);
        }
        while let Some(sent) = self.in_flight.pop_front() {
            if let Ok(offset) = base_offset(sent.reply).await {
                self.count(sent.partition, sent.records.len(), Some(offset));
            }
        }
        (self.placed.into_values().collect(), outcome)
    }

    async fn send_input(&mut self, input: &mut Input) -> anyhow::Result<()> {
        while let Some(message) = input.next().await? {
            self.append(message).await?;
            while let Some(message) = input.try_next()? {
                self.append(message).await?;
            }
            self.flush().await?;
        }
        Ok(())
    }

    async fn finish(&mut self) -> anyhow::Result<()> {
        self.flush().await?;
        self.confirm_to(0).await
    }

    async fn append(&mut self, message: Message) -> anyhow::Result<()> {
        let partition = self.choose(&message);
        let bytes = self.bytes_max(&message);
        let has_room = |open: &Open| HEADER_BYTES + open.bytes + bytes <= self.batch_bytes;
        if self
            .open
            .get(&partition)
            .is_some_and(|open| !has_room(open))
        {
            self.send(partition).await?;
        }
        // Where a record without a key goes may have changed with the batch that was sent.
        let partition = self.choose(&message);
        let open = self.open.entry(partition).or_default();
        let time_ms = self.clock.now_ms();
        open.bytes += bytes;
        open.records.push(Stamped { time_ms, message });
        Ok(())
    }

    /// Most bytes that a record can take in a batch.
    fn bytes_max(&self, message: &Message) -> usize {
        let headers = self.args.headers.iter();
        let headers = headers.map(|(k, v)| k.len() + v.len() + HEADER_OVERHEAD_BYTES);
        let key = message.key.as_ref().map_or(0, Vec::len);
        RECORD_OVERHEAD_BYTES + key + message.value.len() + headers.sum::<usize>()
    }

    /// The partition asked for, the key's, or the current one of those without a key.
    fn choose(&self, message: &Message) -> i32 {
        let count = u32::try_from(self.leaders.len()).unwrap_or(u32::MAX);
        let free = match &message.key {
            Some(key) => partition_of_key(key, count),
            None => self.next_partition.checked_rem(count).unwrap_or(0),
        };
        self.partition
            .unwrap_or_else(|| i32::try_from(free).unwrap_or(i32::MAX))
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        let partitions: Vec<_> = self.open.keys().copied().collect();
        for partition in partitions {
            self.send(partition).await?;
        }
        Ok(())
    }

    async fn send(&mut self, partition: i32) -> anyhow::Result<()> {
        let Some(open) = self.open.remove(&partition) else {
            return Ok(());
        };
        // Records without a key go on to the next partition with every batch.
        self.next_partition = self.next_partition.wrapping_add(1);
        self.dispatch(partition, open.records).await?;
        self.confirm_to(IN_FLIGHT).await
    }

    /// Sends a batch without waiting for its answer.
    async fn dispatch(&mut self, partition: i32, records: Vec<Stamped>) -> anyhow::Result<()> {
        let Some(leader) = self.leaders.get(&partition) else {
            return Ok(());
        };
        let batch = self.build(&records)?;
        let acks = self.args.acks.number();
        match send_batch(leader, &self.args.topic, partition, acks, batch).await? {
            Some(reply) => self.in_flight.push_back(Sent {
                partition,
                records,
                reply,
            }),
            None => self.count(partition, records.len(), None),
        }
        Ok(())
    }

    fn build(&self, records: &[Stamped]) -> anyhow::Result<Bytes> {
        let headers = self.args.headers.iter();
        let headers: Vec<_> = headers
            .map(|(k, v)| (k.as_bytes(), Some(v.as_bytes())))
            .collect();
        let mut builder = BatchBuilder::new();
        for Stamped { time_ms, message } in records {
            let (key, value) = (message.key.as_deref(), Some(message.value.as_slice()));
            builder.append(*time_ms, key, value, &headers)?;
        }
        Ok(builder.build(Codec::from(self.args.codec))?)
    }

    /// Waits for answers, the oldest first, until at most `left` are missing.
    async fn confirm_to(&mut self, mut left: usize) -> anyhow::Result<()> {
        while self.in_flight.len() > left
            && let Some(sent) = self.in_flight.pop_front()
        {
            match base_offset(sent.reply).await {
                Ok(offset) => self.count(sent.partition, sent.records.len(), Some(offset)),
                Err(error) if is_too_large(&error) && sent.records.len() > 1 => {
                    // What is read from now on comes behind the halves.
                    left = 0;
                    self.halve(sent.partition, sent.records).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends a batch that was too large in two, and makes the next ones no larger than those.
    async fn halve(&mut self, partition: i32, mut first: Vec<Stamped>) -> anyhow::Result<()> {
        let bytes: usize = first.iter().map(|r| self.bytes_max(&r.message)).sum();
        self.batch_bytes = self.batch_bytes.min(HEADER_BYTES + bytes / 2);
        let second = first.split_off(first.len() / 2);
        self.dispatch(partition, first).await?;
        self.dispatch(partition, second).await
    }

    fn count(&mut self, partition: i32, records: usize, offset: Option<i64>) {
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        let placed = self.placed.entry(partition).or_insert(Placed {
            partition,
            records: 0,
            first_offset: offset,
            last_offset: None,
        });
        placed.records += records;
        let last = i64::try_from(records).unwrap_or(i64::MAX) - 1;
        placed.last_offset = offset.map(|offset| offset.saturating_add(last));
    }
}

fn is_too_large(error: &ClientError) -> bool {
    error.code() == Some(ErrorCode::MESSAGE_TOO_LARGE)
}

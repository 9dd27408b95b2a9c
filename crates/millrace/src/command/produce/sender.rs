//! Batches of records on their way to the partitions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kafka::wire::messages::ProduceRequest;
use record::{BatchBuilder, Codec};
use serde::Serialize;
use types::{Clock, SystemClock};

use super::ProduceArgs;
use super::input::{Input, Message};
use crate::client::{Client, Connection, Reply, base_offset, partition_of_key, send_batch};
use crate::failure::Failure;

/// A batch is closed at this size, far below every broker's default limit.
const BATCH_BYTES: usize = 256 << 10;
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
    builders: BTreeMap<i32, BatchBuilder>,
    in_flight: VecDeque<Sent>,
    next_partition: u32,
    placed: BTreeMap<i32, Placed>,
}

struct Sent {
    partition: i32,
    records: u64,
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
            builders: BTreeMap::new(),
            in_flight: VecDeque::new(),
            next_partition: 0,
            placed: BTreeMap::new(),
        })
    }

    /// Sends all records; what is there goes as soon as the input pauses.
    pub(super) async fn send_all(mut self, mut input: Input) -> anyhow::Result<Vec<Placed>> {
        while let Some(message) = input.next().await? {
            self.append(&message).await?;
            while let Some(message) = input.try_next()? {
                self.append(&message).await?;
            }
            self.flush().await?;
        }
        self.flush().await?;
        while let Some(sent) = self.in_flight.pop_front() {
            self.confirm(sent).await?;
        }
        Ok(self.placed.into_values().collect())
    }

    async fn append(&mut self, message: &Message) -> anyhow::Result<()> {
        let partition = self.choose(message);
        let builder = self.builders.entry(partition).or_default();
        let headers = self
            .args
            .headers
            .iter()
            .map(|(k, v)| (k.as_bytes(), Some(v.as_bytes())));
        builder.append(
            self.clock.now_ms(),
            message.key.as_deref(),
            Some(&message.value),
            &headers.collect::<Vec<_>>(),
        )?;
        if builder.total_bytes() >= BATCH_BYTES {
            self.send(partition).await?;
        }
        Ok(())
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
        let partitions: Vec<_> = self.builders.keys().copied().collect();
        for partition in partitions {
            self.send(partition).await?;
        }
        Ok(())
    }

    async fn send(&mut self, partition: i32) -> anyhow::Result<()> {
        let (Some(builder), Some(leader)) = (
            self.builders.remove(&partition),
            self.leaders.get(&partition),
        ) else {
            return Ok(());
        };
        // Records without a key go on to the next partition with every batch.
        self.next_partition = self.next_partition.wrapping_add(1);
        let records = u64::try_from(builder.count())?;
        let batch = builder.build(Codec::from(self.args.codec))?;
        let acks = self.args.acks.number();
        match send_batch(leader, &self.args.topic, partition, acks, batch).await? {
            Some(reply) => self.in_flight.push_back(Sent {
                partition,
                records,
                reply,
            }),
            None => self.count(partition, records, None),
        }
        if self.in_flight.len() > IN_FLIGHT
            && let Some(sent) = self.in_flight.pop_front()
        {
            self.confirm(sent).await?;
        }
        Ok(())
    }

    async fn confirm(&mut self, sent: Sent) -> anyhow::Result<()> {
        let offset = base_offset(sent.reply).await?;
        self.count(sent.partition, sent.records, Some(offset));
        Ok(())
    }

    fn count(&mut self, partition: i32, records: u64, offset: Option<i64>) {
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

//! rskafka: see ../../README.md for the command line and the content.

mod content;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use chrono::DateTime;
use clap::Parser;
use content::PARTITIONS;
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::{Record, RecordAndOffset};

const CHUNK: usize = 500;
const SILENCE: Duration = Duration::from_secs(30);
const FETCH_BYTES: std::ops::Range<i32> = 1..4_000_000;
const FETCH_WAIT_MS: i32 = 1000;
const MAP: &str = "its headers are a map of byte strings";

#[derive(Parser)]
struct Job {
    #[arg(long)]
    mode: String,
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    codec: String,
    #[arg(long)]
    records: i64,
    #[arg(long)]
    start_ms: i64,
    #[arg(long, default_value = "")]
    lacks: String,
    #[arg(skip)]
    done: Vec<String>,
}

impl Job {
    fn lacks(&self, what: &str) -> bool {
        self.lacks.split(',').any(|lack| lack == what)
    }

    fn end(&self, partition: i64) -> i64 {
        (self.records - partition + PARTITIONS - 1) / PARTITIONS
    }

    fn record(&self, n: i64) -> Result<Record> {
        Ok(Record {
            key: content::key(n),
            value: content::value(n),
            headers: content::headers(n),
            timestamp: DateTime::from_timestamp_millis(self.start_ms + n).context("timestamp")?,
        })
    }

    /// What a reader finds when the writer could not express everything.
    fn written(&self, n: i64) -> Result<Record> {
        let mut record = self.record(n)?;
        let empty = record.value.as_ref().is_none_or(Vec::is_empty);
        let filled = record.value.is_none() && self.lacks("both-null")
            || empty && self.lacks("keyless-empty");
        if filled {
            record.key.get_or_insert_default();
        }
        if self.lacks("null-values") {
            record.value.get_or_insert_default();
        }
        if self.lacks("headers") {
            record.headers.clear();
        }
        Ok(record)
    }

    fn verify(&self, partition: i64, found: &RecordAndOffset) -> Result<()> {
        let mut wanted = self.written(found.offset * PARTITIONS + partition)?;
        if self.lacks("timestamps") {
            wanted.timestamp = found.record.timestamp;
        }
        let place = format!("{}-{partition}@{}", self.topic, found.offset);
        ensure!(
            wanted == found.record,
            "{place}: expected {wanted:?}, found {:?}",
            found.record
        );
        Ok(())
    }

    async fn partition(&self, client: &Client, partition: i64) -> Result<PartitionClient> {
        let partition = i32::try_from(partition)?;
        Ok(client
            .partition_client(&self.topic, partition, UnknownTopicHandling::Retry)
            .await?)
    }

    async fn write(&mut self, client: &Client) -> Result<()> {
        let codec = match self.codec.as_str() {
            "none" => Compression::NoCompression,
            "gzip" => Compression::Gzip,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            other => bail!("unknown codec {other}"),
        };
        client
            .controller_client()?
            .create_topic(&self.topic, PARTITIONS as i32, 1, 30_000)
            .await?;
        for p in 0..PARTITIONS {
            let partition = self.partition(client, p).await?;
            let numbers: Vec<i64> = (p..self.records).step_by(PARTITIONS as usize).collect();
            for chunk in numbers.chunks(CHUNK) {
                let records = chunk
                    .iter()
                    .map(|n| self.record(*n))
                    .collect::<Result<_>>()?;
                let offsets = partition.produce(records, codec).await?;
                let wanted: Vec<i64> = chunk.iter().map(|n| n / PARTITIONS).collect();
                ensure!(
                    offsets == wanted,
                    "offsets {offsets:?}, expected {wanted:?}"
                );
            }
        }
        self.done.push(format!("codec {}", self.codec));
        let shown = [
            "create topic",
            "null and empty keys",
            "null and empty values",
        ];
        self.done.extend(shown.map(Into::into));
        self.done
            .extend(["null key with null value", "headers", "timestamps"].map(Into::into));
        Ok(())
    }

    /// Fetches at an offset; the batch may start before it.
    async fn fetch(client: &PartitionClient, offset: i64) -> Result<Vec<RecordAndOffset>> {
        let (mut records, _) = client
            .fetch_records(offset, FETCH_BYTES, FETCH_WAIT_MS)
            .await?;
        records.retain(|record| record.offset >= offset);
        ensure!(!records.is_empty(), "nothing at offset {offset}");
        Ok(records)
    }

    async fn read_partition(&self, client: &PartitionClient, p: i64) -> Result<()> {
        let mut next = client.get_offset(OffsetAt::Earliest).await?;
        ensure!(next == 0, "partition {p} starts at {next}");
        while next < self.end(p) {
            for record in Self::fetch(client, next).await? {
                ensure!(
                    record.offset == next,
                    "offset {} where {next} follows",
                    record.offset
                );
                self.verify(p, &record)?;
                next += 1;
            }
        }
        Ok(())
    }

    async fn read_one(&self, client: &PartitionClient, p: i64, offset: i64) -> Result<()> {
        let records = Self::fetch(client, offset).await?;
        ensure!(
            records[0].offset == offset,
            "offset {} where {offset} was sought",
            records[0].offset
        );
        self.verify(p, &records[0])
    }

    async fn read_at_timestamps(&self, client: &PartitionClient, p: i64) -> Result<()> {
        let n = self.records / 3;
        let (ms, wanted) = match self.lacks("timestamps") {
            true => (0, 0),
            false => (self.start_ms + n, (n - p + PARTITIONS - 1) / PARTITIONS),
        };
        let at = DateTime::from_timestamp_millis(ms).context("timestamp")?;
        let found = client.get_offset(OffsetAt::Timestamp(at)).await?;
        ensure!(
            found == wanted,
            "partition {p} at {at}: offset {found}, expected {wanted}"
        );
        self.read_one(client, p, found).await?;
        if !self.lacks("timestamps") {
            let past = DateTime::from_timestamp_millis(self.start_ms + self.records);
            let found = client
                .get_offset(OffsetAt::Timestamp(past.context("timestamp")?))
                .await?;
            ensure!(
                found == -1,
                "partition {p} after its last timestamp: offset {found}"
            );
        }
        Ok(())
    }

    async fn read(&mut self, client: &Client) -> Result<()> {
        for p in 0..PARTITIONS {
            let client = self.partition(client, p).await?;
            let end = self.end(p);
            tokio::time::timeout(SILENCE, self.read_partition(&client, p)).await??;
            self.read_one(&client, p, end / 2).await?;
            self.read_one(&client, p, end - 1).await?;
            self.read_at_timestamps(&client, p).await?;
        }
        self.done
            .extend(["read in order", "seek by offset", "seek by timestamp"].map(Into::into));
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut job = Job::parse();
    let client = ClientBuilder::new(vec![job.bootstrap.clone()])
        .build()
        .await?;
    match job.mode.as_str() {
        "write" => job.write(&client).await?,
        "read" => job.read(&client).await?,
        other => bail!("unknown mode {other}"),
    }
    let cannot = BTreeMap::from([("repeated headers", MAP), ("null header values", MAP)]);
    let report = serde_json::json!({
        "client": "rskafka", "version": "0.6.0", "done": job.done, "cannot": cannot,
    });
    println!("{report}");
    Ok(())
}

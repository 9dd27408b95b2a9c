//! What a reader sees of a node: everything that is visible, read through the shipped reader.

use std::collections::BTreeMap;
use std::sync::Arc;

use broker::{FetchError, Partition, Shared};
use bytes::Bytes;
use log::read::{Mode, Reader, split};
use record::BatchHeader;
use types::{Offset, PartitionId, TopicId};

use crate::ensure;
use crate::failure::Failure;

/// A batch as a reader got it.
#[derive(Clone, Debug)]
pub struct SeenBatch {
    /// Its header.
    pub header: BatchHeader,
    /// All its bytes, header included.
    pub bytes: Bytes,
}

impl SeenBatch {
    /// Its first offset.
    #[must_use]
    pub const fn base(&self) -> i64 {
        self.header.base_offset.0
    }

    /// The offset after its last one.
    #[must_use]
    pub const fn end(&self) -> i64 {
        self.header.last_offset().0 + 1
    }
}

/// A partition as a reader sees it.
#[derive(Clone, Debug)]
pub struct SeenPartition {
    /// Its number in the node.
    pub id: PartitionId,
    /// First offset that can be read.
    pub start: i64,
    /// The offset after the last.
    pub end: i64,
    /// It takes no records.
    pub damaged: bool,
    /// All batches from `start` on, if they were read.
    pub batches: Option<Vec<SeenBatch>>,
}

/// A topic as a reader sees it.
#[derive(Clone, Debug)]
pub struct SeenTopic {
    /// Its name.
    pub name: String,
    /// Settings as they were set.
    pub configs: BTreeMap<String, String>,
    /// Its partitions by their numbers in the topic.
    pub partitions: Vec<SeenPartition>,
}

/// Everything that is visible.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The topics.
    pub topics: BTreeMap<TopicId, SeenTopic>,
}

impl Seen {
    /// Looks at the topics and where their partitions start and end.
    #[must_use]
    pub fn outline(shared: &Shared) -> Self {
        let mut seen = Self::default();
        for topic in shared.topics() {
            let partitions = topic.partitions.iter().map(|p| outline_of(p)).collect();
            let (name, configs) = (topic.name.to_string(), topic.configs.clone());
            seen.topics.insert(
                topic.id,
                SeenTopic {
                    name,
                    configs,
                    partitions,
                },
            );
        }
        seen
    }

    /// Reads every record of every partition.
    ///
    /// # Errors
    /// When something that should be readable is not.
    pub fn everything(shared: &Shared, reader: &Reader) -> Result<Self, Failure> {
        let mut seen = Self::outline(shared);
        for topic in shared.topics() {
            let Some(seen_topic) = seen.topics.get_mut(&topic.id) else {
                continue;
            };
            for (partition, seen) in topic.partitions.iter().zip(&mut seen_topic.partitions) {
                seen.batches = Some(read_all(reader, partition)?);
            }
        }
        Ok(seen)
    }
}

fn outline_of(partition: &Partition) -> SeenPartition {
    SeenPartition {
        id: partition.id,
        start: partition.log_start().0,
        end: partition.end().0,
        damaged: partition.is_damaged(),
        batches: None,
    }
}

/// Reads a partition from its start to its end.
fn read_all(reader: &Reader, partition: &Arc<Partition>) -> Result<Vec<SeenBatch>, Failure> {
    let mut all = Vec::new();
    let mut at = partition.log_start();
    while at < partition.end() {
        let batches = read_once(reader, partition, at, 100_000)?;
        let Some(last) = batches.last() else {
            let end = partition.end();
            return Err(Failure(format!(
                "nothing at {at} of {} up to {end}",
                partition.id
            )));
        };
        at = Offset(last.end());
        all.extend(batches);
    }
    Ok(all)
}

/// One read, as a connection would do it.
///
/// # Errors
/// When what is visible cannot be read, or is not whole batches without gaps.
pub fn read_once(
    reader: &Reader,
    partition: &Partition,
    from: Offset,
    max_bytes: usize,
) -> Result<Vec<SeenBatch>, Failure> {
    let failed = |error: &dyn std::error::Error| {
        Failure(format!(
            "reading {from} of partition {}: {}",
            partition.id,
            chain(error)
        ))
    };
    let plan = partition
        .plan(from, max_bytes, true)
        .map_err(|e| failed(&e))?;
    let Some(plan) = plan else {
        return Ok(Vec::new());
    };
    let outcome = reader
        .carry_out(&plan, Mode::Blocking)
        .map_err(|e| failed(&e))?;
    let batches = outcome.into_batches().concat();
    check_readable(partition, from).map_err(|e| failed(&e))?;
    parse(&batches, from.0).map_err(|Failure(text)| {
        tracing::debug!(?plan, "a plan that was not fulfilled");
        Failure(format!(
            "reading {from} of partition {}: {text}",
            partition.id
        ))
    })
}

/// Whether what was read from `from` on counts.
///
/// # Errors
/// [`FetchError`]
pub fn check_readable(partition: &Partition, from: Offset) -> Result<(), FetchError> {
    partition.check_readable(from)
}

/// Takes bytes apart into batches that follow each other without a gap, the first one holding
/// `from`.
///
/// # Errors
/// When they do not.
pub fn parse(bytes: &Bytes, from: i64) -> Result<Vec<SeenBatch>, Failure> {
    let parts = split(bytes).map_err(|e| Failure(format!("not whole batches: {}", chain(&e))))?;
    let mut batches = Vec::with_capacity(parts.len());
    let mut next = None;
    for (header, bytes) in parts {
        record::verify_crc(&bytes)
            .map_err(|error| Failure(format!("batch at {}: {error}", header.base_offset)))?;
        let batch = SeenBatch { header, bytes };
        let fits = match next {
            None => batch.base() <= from && from < batch.end(),
            Some(next) => batch.base() == next,
        };
        let (base, end) = (batch.base(), batch.end());
        ensure!(
            fits,
            "batch [{base}, {end}) where {} was expected",
            next.unwrap_or(from)
        );
        next = Some(end);
        batches.push(batch);
    }
    Ok(batches)
}

/// An error with its sources in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

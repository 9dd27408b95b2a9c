//! Fetching of all partitions, from all their leaders at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use kafka::wire::ErrorCode;
use kafka::wire::messages::{FetchResponse, MetadataResponseTopic, PartitionData};
use record::Records;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ConsumeArgs;
use super::from::From;
use super::print::Printer;
use crate::client::{
    Client, ClientError, Connection, EARLIEST, FetchLimits, batches, by_leader, fetch,
    fetch_request, next_position,
};

const LIMITS: FetchLimits = FetchLimits {
    max_wait_ms: 500,
    min_bytes: 1,
    max_bytes: 16 << 20,
    partition_max_bytes: 1 << 20,
};
/// Answers read ahead of what is printed.
const ANSWERS_AHEAD: usize = 2;

/// Prints records until all partitions are at their ends, or `--count` is reached.
pub(super) async fn read(
    client: &Client,
    topic: &MetadataResponseTopic,
    partitions: &[i32],
    args: &ConsumeArgs,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let ends = From::ends(client, topic, partitions).await?;
    let starts = args.from.resolve(client, topic, partitions, &ends).await?;
    let (sender, mut answers) = mpsc::channel(ANSWERS_AHEAD);
    let mut tasks = JoinSet::new();
    for (leader, partitions) in by_leader(topic, partitions) {
        let of_leader = |all: &BTreeMap<i32, i64>| {
            all.iter()
                .filter(|(p, _)| partitions.contains(p))
                .map(|(p, o)| (*p, *o))
                .collect()
        };
        let positions: BTreeMap<i32, i64> = of_leader(&starts);
        let task = Fetcher {
            connection: client.broker(leader).await?,
            topic: args.topic.clone(),
            positions,
            ends: (!args.follow).then(|| of_leader(&ends)),
        };
        tasks.spawn(task.run(sender.clone()));
    }
    drop(sender);
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(answer) = answers.recv().await else {
            break;
        };
        left = print(answer?, args, &starts, &ends, left, printer)?;
        if answers.is_empty() {
            printer.flush()?;
        }
    }
    Ok(())
}

/// Reads the partitions of one leader.
struct Fetcher {
    connection: Arc<Connection>,
    topic: String,
    positions: BTreeMap<i32, i64>,
    /// Where each partition counts as read; none to go on for ever.
    ends: Option<BTreeMap<i32, i64>>,
}

impl Fetcher {
    async fn run(mut self, to: mpsc::Sender<Result<FetchResponse, ClientError>>) {
        loop {
            if let Some(ends) = &self.ends {
                self.positions
                    .retain(|p, at| ends.get(p).is_some_and(|end| *at < *end));
                if self.positions.is_empty() {
                    return;
                }
            }
            let answer = self.fetch().await;
            let failed = answer.is_err();
            if to.send(answer).await.is_err() || failed {
                return;
            }
        }
    }

    async fn fetch(&mut self) -> Result<FetchResponse, ClientError> {
        let positions: Vec<_> = self
            .positions
            .iter()
            .map(|(p, offset)| (*p, *offset))
            .collect();
        let request = fetch_request(&self.topic, &positions, LIMITS);
        let answer = fetch(&self.connection, &request).await?;
        for partition in answer.responses.iter().flat_map(|t| &t.partitions) {
            advance(&mut self.positions, &self.topic, partition)?;
        }
        Ok(answer)
    }
}

/// Moves the position of a partition behind what came of it.
fn advance(
    positions: &mut BTreeMap<i32, i64>,
    topic: &str,
    data: &PartitionData,
) -> Result<(), ClientError> {
    let partition = data.partition_index;
    let message = (data.error_code == ErrorCode::OFFSET_OUT_OF_RANGE)
        .then(|| "records expired while they were read".to_owned());
    ClientError::check(data.error_code, message, || {
        format!("cannot read partition {partition} of {topic}")
    })?;
    let last = batches(data).last().map(|(header, _)| header.next_offset());
    if let Some(at) = positions.get_mut(&partition) {
        *at = next_position(data, *at, last.map(|offset| offset.0))?;
    }
    Ok(())
}

fn print(
    answer: FetchResponse,
    args: &ConsumeArgs,
    starts: &BTreeMap<i32, i64>,
    ends: &BTreeMap<i32, i64>,
    mut left: u64,
    printer: &mut Printer<'_>,
) -> anyhow::Result<u64> {
    let mut scratch = Vec::new();
    for data in answer.responses.iter().flat_map(|t| &t.partitions) {
        let partition = data.partition_index;
        let start = starts.get(&partition).copied().unwrap_or(EARLIEST);
        let end = ends
            .get(&partition)
            .copied()
            .filter(|_| !args.follow)
            .unwrap_or(i64::MAX);
        for (header, batch) in batches(data) {
            let place = || {
                let offset = header.base_offset;
                format!("cannot read partition {partition} at offset {offset}")
            };
            record::verify_crc(batch).with_context(place)?;
            if header.attributes.is_control() {
                continue;
            }
            for record in Records::read(batch, &mut scratch).with_context(place)? {
                let record = record.with_context(place)?;
                // A batch comes whole: it may begin before the start and go on beyond the end.
                if (start..end).contains(&record.offset.0) && left > 0 {
                    printer.record(partition, &record)?;
                    left -= 1;
                }
            }
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fetch_tests::{answer, batch};

    #[test]
    fn a_batch_that_cannot_be_parsed_ends_the_reading_where_it_stands() {
        let mut positions = BTreeMap::from([(3, 7)]);
        advance(&mut positions, "t", &answer(&batch(7))).expect("a good batch");
        assert_eq!(positions[&3], 8);
        let mut old = batch(8);
        old[16] = 1;
        let error = advance(&mut positions, "t", &answer(&old)).expect_err("magic 1");
        let said = error.to_string();
        assert!(
            said.starts_with("cannot read partition 3 at offset 8"),
            "{said}"
        );
    }
}

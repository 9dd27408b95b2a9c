//! `millrace topic describe`.

use std::collections::BTreeMap;

use clap::Args;
use kafka::wire::messages::MetadataResponseTopic;
use serde::Serialize;

use crate::client::{Client, EARLIEST, LATEST};
use crate::failure::Outcome;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct DescribeArgs {
    #[arg(required = true)]
    names: Vec<String>,
    /// Show inherited settings as well
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    id: String,
    internal: bool,
    records: i64,
    partitions: Vec<Partition>,
    configs: BTreeMap<String, Option<String>>,
}

#[derive(Serialize)]
struct Partition {
    partition: i32,
    leader: i32,
    leader_epoch: i32,
    replicas: Vec<i32>,
    in_sync: Vec<i32>,
    start_offset: i64,
    end_offset: i64,
}

/// Runs `millrace topic describe`.
pub(crate) async fn run(client: &Client, args: &DescribeArgs, json: bool) -> Outcome {
    let mut topics = Vec::new();
    for name in &args.names {
        topics.push(describe(client, name, args.all).await?);
    }
    if json {
        return Ok(output::json(&topics)?);
    }
    topics.iter().try_for_each(print)
}

async fn describe(client: &Client, name: &str, all: bool) -> anyhow::Result<Topic> {
    let metadata = client.topic(name, false).await?;
    let numbers: Vec<_> = metadata
        .partitions
        .iter()
        .map(|p| p.partition_index)
        .collect();
    let starts = client.offsets(&metadata, &numbers, EARLIEST).await?;
    let ends = client.offsets(&metadata, &numbers, LATEST).await?;
    let configs = client.topic_configs(name).await?;
    let shown = configs.into_iter().filter(|config| all || config.own);
    let partitions = partitions(&metadata, &starts, &ends);
    Ok(Topic {
        name: name.to_owned(),
        id: metadata.topic_id.to_string(),
        internal: metadata.is_internal,
        records: partitions
            .iter()
            .map(|p| p.end_offset - p.start_offset)
            .sum(),
        partitions,
        configs: shown.map(|config| (config.name, config.value)).collect(),
    })
}

fn partitions(
    topic: &MetadataResponseTopic,
    starts: &BTreeMap<i32, i64>,
    ends: &BTreeMap<i32, i64>,
) -> Vec<Partition> {
    let mut all: Vec<_> = topic
        .partitions
        .iter()
        .map(|p| Partition {
            partition: p.partition_index,
            leader: p.leader_id,
            leader_epoch: p.leader_epoch,
            replicas: p.replica_nodes.clone(),
            in_sync: p.isr_nodes.clone(),
            start_offset: starts.get(&p.partition_index).copied().unwrap_or(-1),
            end_offset: ends.get(&p.partition_index).copied().unwrap_or(-1),
        })
        .collect();
    all.sort_by_key(|p| p.partition);
    all
}

fn print(topic: &Topic) -> Outcome {
    output::line(format_args!(
        "topic {}, id {}, {} offsets",
        topic.name, topic.id, topic.records
    ))?;
    for (name, value) in &topic.configs {
        output::line(format_args!(
            "  {name} = {}",
            value.as_deref().unwrap_or("(hidden)")
        ))?;
    }
    let list = |nodes: &[i32]| {
        nodes
            .iter()
            .map(i32::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let rows = topic.partitions.iter().map(|p| {
        let offsets = [p.start_offset, p.end_offset].map(|offset| offset.to_string());
        let [start, end] = offsets;
        [
            p.partition.to_string(),
            p.leader.to_string(),
            list(&p.replicas),
            list(&p.in_sync),
            start,
            end,
        ]
    });
    Ok(output::table(
        &["PARTITION", "LEADER", "REPLICAS", "IN SYNC", "START", "END"],
        rows,
    )?)
}

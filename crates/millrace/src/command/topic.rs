//! `millrace topic`: make, list, describe, alter and delete topics.

mod describe;

use clap::{Args, Subcommand};
use kafka::wire::ErrorCode;
use serde::Serialize;

use super::server::{ServerArgs, block_on, key_value};
use crate::client::{Client, ClientError, ConfigChange, NewTopic};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Make, list, describe, alter and delete topics
#[derive(Args, Debug)]
pub(crate) struct TopicArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: TopicCommand,
}

#[derive(Debug, Subcommand)]
enum TopicCommand {
    /// Make a topic
    Create(CreateArgs),
    /// List topics
    List(ListArgs),
    /// Show partitions, offsets and settings of topics
    Describe(describe::DescribeArgs),
    /// Delete topics and all their records
    Delete(DeleteArgs),
    /// Change settings of a topic, or raise the number of its partitions
    Alter(AlterArgs),
}

#[derive(Args, Debug)]
struct CreateArgs {
    name: String,
    /// Number of partitions; the broker's default if not given
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// Copies of each partition; the broker's default if not given
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(i16).range(1..))]
    replication_factor: Option<i16>,
    /// A setting of the topic; may be repeated
    #[arg(long = "config", value_name = "KEY=VALUE", value_parser = key_value)]
    configs: Vec<(String, String)>,
    /// Succeed if the topic exists already
    #[arg(long)]
    if_not_exists: bool,
}

#[derive(Args, Debug)]
struct ListArgs {
    /// List internal topics as well
    #[arg(long)]
    internal: bool,
}

#[derive(Args, Debug)]
struct DeleteArgs {
    #[arg(required = true)]
    names: Vec<String>,
    /// Succeed if a topic does not exist
    #[arg(long)]
    if_exists: bool,
}

#[derive(Args, Debug)]
struct AlterArgs {
    name: String,
    /// Raise the number of partitions to this
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// Set a setting; may be repeated
    #[arg(long = "config", value_name = "KEY=VALUE", value_parser = key_value)]
    configs: Vec<(String, String)>,
    /// Inherit a setting again; may be repeated
    #[arg(long = "reset", value_name = "KEY")]
    resets: Vec<String>,
}

/// What a change printed as JSON says.
#[derive(Serialize)]
struct Change<'a> {
    topic: &'a str,
    change: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs `millrace topic`.
pub(crate) fn run(args: &TopicArgs) -> Outcome {
    block_on(async {
        let client = args.server.connect().await?;
        match &args.command {
            TopicCommand::Create(create) => run_create(&client, create, args.json).await,
            TopicCommand::List(list) => run_list(&client, list, args.json).await,
            TopicCommand::Describe(describe) => describe::run(&client, describe, args.json).await,
            TopicCommand::Delete(delete) => run_delete(&client, delete, args.json).await,
            TopicCommand::Alter(alter) => run_alter(&client, alter, args.json).await,
        }
    })
}

async fn run_create(client: &Client, args: &CreateArgs, json: bool) -> Outcome {
    let topic = NewTopic {
        name: args.name.clone(),
        partitions: args.partitions,
        replication_factor: args.replication_factor,
        configs: args.configs.clone(),
    };
    let created = client.create_topic(&topic).await;
    let existed = unless(created, args.if_not_exists, ErrorCode::TOPIC_ALREADY_EXISTS)?;
    say(json, &args.name, if existed { "exists" } else { "created" })
}

async fn run_delete(client: &Client, args: &DeleteArgs, json: bool) -> Outcome {
    if let [name] = args.names.as_slice() {
        return say(json, name, delete(client, name, args.if_exists).await?);
    }
    let (mut changes, mut errors) = (Vec::new(), Vec::new());
    for name in &args.names {
        let deleted = delete(client, name, args.if_exists).await;
        let (change, error) = match deleted {
            Ok(change) => (change, None),
            Err(error) => ("failed", Some(format!("{:#}", anyhow::Error::from(error)))),
        };
        if !json && error.is_none() {
            say(json, name, change)?;
        }
        errors.extend(error.clone());
        changes.push(Change {
            topic: name,
            change,
            error,
        });
    }
    let printed = if json { output::json(&changes) } else { Ok(()) };
    if errors.is_empty() {
        return Ok(printed?);
    }
    Err(anyhow::anyhow!(errors.join("; ")).into())
}

/// Deletes one topic; what became of it.
async fn delete(client: &Client, name: &str, if_exists: bool) -> Result<&'static str, ClientError> {
    let deleted = client.delete_topic(name).await;
    let missing = unless(deleted, if_exists, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    Ok(if missing { "missing" } else { "deleted" })
}

async fn run_alter(client: &Client, args: &AlterArgs, json: bool) -> Outcome {
    let set = args
        .configs
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    let reset = args.resets.iter().map(|key| (key.clone(), None));
    let changes: Vec<ConfigChange> = set.chain(reset).collect();
    if changes.is_empty() && args.partitions.is_none() {
        return Err(Failure::usage(
            "nothing to alter: give --partitions, --config or --reset",
        ));
    }
    if !changes.is_empty() {
        client.alter_topic(&args.name, &changes).await?;
    }
    if let Some(count) = args.partitions {
        client.set_partitions(&args.name, count).await?;
    }
    say(json, &args.name, "altered")
}

async fn run_list(client: &Client, args: &ListArgs, json: bool) -> Outcome {
    #[derive(Serialize)]
    struct Row {
        name: String,
        partitions: usize,
        internal: bool,
    }
    let metadata = client.metadata(None, false).await?;
    let shown = metadata
        .topics
        .into_iter()
        .filter(|t| args.internal || !t.is_internal);
    let mut rows: Vec<_> = shown
        .map(|t| Row {
            name: t.name.unwrap_or_default(),
            partitions: t.partitions.len(),
            internal: t.is_internal,
        })
        .collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    if json {
        return Ok(output::json(&rows)?);
    }
    let cells = rows
        .iter()
        .map(|row| [row.name.clone(), row.partitions.to_string()]);
    Ok(output::table(&["TOPIC", "PARTITIONS"], cells)?)
}

/// Whether a request was refused with a code that is fine when `accepted`.
fn unless(
    result: Result<(), ClientError>,
    accepted: bool,
    code: ErrorCode,
) -> Result<bool, ClientError> {
    match result {
        Err(error) if accepted && error.code() == Some(code) => Ok(true),
        other => other.map(|()| false),
    }
}

fn say(json: bool, topic: &str, change: &str) -> Outcome {
    if json {
        let error = None;
        Ok(output::json(&Change {
            topic,
            change,
            error,
        })?)
    } else {
        Ok(output::line(format_args!("{topic}: {change}"))?)
    }
}

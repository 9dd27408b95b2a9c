//! `millrace produce`: records from arguments, a file or standard input.

mod input;
mod sender;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use record::Codec;
use serde::Serialize;

use super::server::{ServerArgs, block_on};
use crate::failure::{Failure, Outcome};
use crate::output;
use input::Input;
use sender::{Placed, Sender};

/// Produce records: one from --value or --file, else one for each line of standard input
#[derive(Args, Debug)]
pub(crate) struct ProduceArgs {
    topic: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Produce one record with this value
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    value: Option<String>,
    /// Produce one record with the bytes of this file as value
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Key of every record
    #[arg(long, value_name = "TEXT", conflicts_with = "key_separator")]
    key: Option<String>,
    /// Take what stands before this in a line as the key
    #[arg(
        long,
        value_name = "TEXT",
        value_parser = separator,
        conflicts_with_all = ["value", "file"]
    )]
    key_separator: Option<String>,
    /// A header of every record; may be repeated
    #[arg(long = "header", value_name = "KEY=VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Partition of every record; else the key's, else one after another
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// Compression of the batches
    #[arg(long, value_enum, default_value_t = CodecArg::None)]
    codec: CodecArg,
    /// Who must have a record before it counts as produced
    #[arg(long, value_enum, default_value_t = Acks::All)]
    acks: Acks,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A codec by its name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CodecArg {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

impl From<CodecArg> for Codec {
    fn from(codec: CodecArg) -> Self {
        match codec {
            CodecArg::None => Self::None,
            CodecArg::Gzip => Self::Gzip,
            CodecArg::Snappy => Self::Snappy,
            CodecArg::Lz4 => Self::Lz4,
            CodecArg::Zstd => Self::Zstd,
        }
    }
}

/// Who must have a record before the broker answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Acks {
    /// All in-sync replicas
    All,
    /// The leader
    #[value(name = "1")]
    One,
    /// Nobody: there is no answer
    #[value(name = "0")]
    None,
}

impl Acks {
    /// The number on the wire.
    pub(crate) const fn number(self) -> i16 {
        match self {
            Self::All => -1,
            Self::One => 1,
            Self::None => 0,
        }
    }
}

/// A header: unlike settings, values keep their spaces.
fn header(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("not of the form KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn separator(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("it must not be empty");
    }
    Ok(text.to_owned())
}

/// What was produced, by partition.
#[derive(Serialize)]
struct Summary<'a> {
    topic: &'a str,
    records: u64,
    partitions: &'a [Placed],
}

/// Runs `millrace produce`.
pub(crate) fn run(args: &ProduceArgs) -> Outcome {
    block_on(async {
        let input = Input::open(args)?;
        let client = args.server.connect().await?;
        let sender = Sender::new(&client, args).await?;
        let (placed, outcome) = sender.send_all(input).await;
        let printed = print(args, &placed);
        outcome?;
        printed
    })
}

fn print(args: &ProduceArgs, placed: &[Placed]) -> Outcome {
    let records = placed.iter().map(|p| p.records).sum();
    if args.json {
        let summary = Summary {
            topic: &args.topic,
            records,
            partitions: placed,
        };
        return Ok(output::json(&summary)?);
    }
    output::line(format_args!("{records} records to {}", args.topic))?;
    for p in placed {
        let offsets = match (p.first_offset, p.last_offset) {
            (Some(first), Some(last)) if first == last => format!(", offset {first}"),
            (Some(first), Some(last)) => format!(", offsets {first} to {last}"),
            _ => ", not confirmed (acks=0)".to_owned(),
        };
        output::line(format_args!(
            "  partition {}: {} records{offsets}",
            p.partition, p.records
        ))?;
    }
    Ok(())
}

impl ProduceArgs {
    /// The partition asked for, once it is known how many there are.
    fn checked_partition(&self, count: usize) -> Result<Option<i32>, Failure> {
        let Some(partition) = self.partition else {
            return Ok(None);
        };
        if usize::try_from(partition).is_ok_and(|p| p < count) {
            return Ok(Some(partition));
        }
        let last = count.saturating_sub(1);
        let topic = &self.topic;
        Err(Failure::usage(format_args!(
            "--partition {partition} is not allowed; allowed for {topic}: 0 to {last}"
        )))
    }
}

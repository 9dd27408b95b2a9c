//! `millrace consume`: records of a topic to standard output.

mod encode;
mod from;
mod print;
mod reader;

use std::future::Future;

use anyhow::ensure;
use clap::Args;

use super::server::{ServerArgs, block_on};
use crate::failure::{Failure, Outcome};
use from::From;
use print::Printer;

/// Print records: up to the end that the topic has at the start, or on and on with --follow
#[derive(Args, Debug)]
pub(crate) struct ConsumeArgs {
    topic: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Only these partitions, separated by commas
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    partition: Vec<i32>,
    /// Where to start: earliest, latest, an offset, -N for the last N of each partition, or a time
    /// such as 2030-01-31T12:00:00Z
    #[arg(long, default_value = "earliest", allow_hyphen_values = true)]
    from: From,
    /// Stop after this many records
    #[arg(long, value_name = "RECORDS")]
    count: Option<u64>,
    /// Go on at the end and wait for more
    #[arg(long)]
    follow: bool,
    /// Print partition, offset, time, key and headers before each value
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,
    /// Print a JSON object per line; what is no text is in base64
    #[arg(long)]
    json: bool,
}

/// Runs `millrace consume`.
pub(crate) fn run(args: &ConsumeArgs) -> Outcome {
    block_on(async {
        let client = args.server.connect().await?;
        let topic = client.topic(&args.topic, false).await?;
        let all: Vec<_> = topic.partitions.iter().map(|p| p.partition_index).collect();
        let wanted = if args.partition.is_empty() {
            all.clone()
        } else {
            args.partition.clone()
        };
        if let Some(unknown) = wanted.iter().find(|p| !all.contains(p)) {
            let last = all.len().saturating_sub(1);
            let name = &args.topic;
            return Err(Failure::usage(format_args!(
                "--partition {unknown} is not allowed; allowed for {name}: 0 to {last}"
            )));
        }
        let mut printer = Printer::new(args);
        let reading = reader::read(&client, &topic, &wanted, args, &mut printer);
        let read = unless_interrupted(reading, tokio::signal::ctrl_c(), args.follow).await;
        // What was read before an error or an interrupt is printed as well.
        let printed = printer.finish();
        read?;
        Ok(printed?)
    })
}

/// Reads until the end or until `stop`. Whoever follows ends it this way, and that is success; else
/// the output is cut, and must not look whole.
async fn unless_interrupted<T>(
    reading: impl Future<Output = anyhow::Result<()>>,
    stop: impl Future<Output = T>,
    follow: bool,
) -> anyhow::Result<()> {
    tokio::select! {
        biased;
        read = reading => read,
        _ = stop => {
            ensure!(follow, "interrupted before the end was reached");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn an_interrupt_is_success_only_for_who_follows_or_has_read_all() {
        let stop = || ready(());
        assert!(unless_interrupted(pending(), stop(), true).await.is_ok());
        assert!(
            unless_interrupted(ready(Ok(())), stop(), false)
                .await
                .is_ok()
        );
        let cut = unless_interrupted(pending(), stop(), false).await;
        let said = cut.expect_err("cut").to_string();
        assert_eq!(said, "interrupted before the end was reached");
    }
}

//! Every client writes the content with every codec; it and others read it back, byte for byte.

use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use super::Options;
use super::clients::{self, Client, Reads};
use super::report::{Report, call};
use super::table::{self, Column};
use crate::install::Clients;
use crate::wire;

const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];
const PARTITIONS: i32 = 6;
/// Time to start a program, and time per record for the slowest.
const LIMIT: Duration = Duration::from_secs(120);
const LIMIT_PER_RECORD: Duration = Duration::from_millis(2);

/// Writes, reads, and prints the table.
pub(super) fn run(options: &Options, installed: &Clients, bootstrap: &str) -> Result<()> {
    let all = clients::all(installed);
    let start = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)?
        .as_millis();
    // Timestamps end a little before now: later ones a broker refuses, much older ones it expires.
    let start_ms = start - u128::from(options.records) - 1000;
    let mut columns = Vec::new();
    let mut faults = Vec::new();
    for writer in all.iter().filter(|client| options.chooses(client)) {
        let mut job = Job {
            options,
            bootstrap,
            start_ms,
            writer,
            column: Column::default(),
        };
        for codec in CODECS {
            let result = job.run(codec, &all);
            faults.extend(
                result
                    .err()
                    .map(|error| format!("{} {codec}: {error:#}", writer.name)),
            );
        }
        columns.push((writer.clone(), job.column));
    }
    let printed = table::print(&columns);
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    printed
}

/// One writer's work.
struct Job<'a> {
    options: &'a Options,
    bootstrap: &'a str,
    start_ms: u128,
    writer: &'a Client,
    column: Column,
}

impl Job<'_> {
    fn run(&mut self, codec: &str, all: &[Client]) -> Result<()> {
        let report = self.call(self.writer, "write", codec)?;
        let wrote = report
            .done
            .iter()
            .any(|done| done == &format!("codec {codec}"));
        self.column.add(report);
        if !wrote {
            return Ok(());
        }
        for reader in self.readers(all) {
            let report = self.call(reader, "read", codec)?;
            self.column.read_by.insert(reader.name);
            if reader.name == self.writer.name {
                self.column.add(report);
            }
        }
        self.check_codec(codec)
    }

    /// The writer itself and the next client that can read it, or all that can.
    fn readers<'c>(&self, all: &'c [Client]) -> Vec<&'c Client> {
        let own = all
            .iter()
            .position(|client| client.name == self.writer.name)
            .unwrap_or(0);
        let ring = all.iter().cycle().skip(own).take(all.len());
        let able = ring.filter(|reader| reader.can_read(self.writer));
        let count = match (self.options.all_pairs, self.writer.reads) {
            (true, _) => all.len(),
            (false, Reads::Nothing) => 1,
            (false, _) => 2,
        };
        able.take(count).collect()
    }

    fn topic(&self, codec: &str) -> String {
        format!("{}-{codec}", self.writer.name)
    }

    fn call(&self, client: &Client, mode: &str, codec: &str) -> Result<Report> {
        let limit = LIMIT + LIMIT_PER_RECORD * u32::try_from(self.options.records)?;
        let what = || {
            format!(
                "{} {mode}s what {} wrote with {codec}",
                client.name, self.writer.name
            )
        };
        call(&mut self.command(client, mode, codec), limit).with_context(what)
    }

    fn command(&self, client: &Client, mode: &str, codec: &str) -> Command {
        let mut command = client.command();
        command.args([
            "--mode",
            mode,
            "--bootstrap",
            self.bootstrap,
            "--topic",
            &self.topic(codec),
        ]);
        command.args([
            "--codec",
            codec,
            "--records",
            &self.options.records.to_string(),
        ]);
        command.args([
            "--start-ms",
            &self.start_ms.to_string(),
            "--lacks",
            self.writer.lacks,
        ]);
        command
    }

    /// The batches are compressed as asked: a client that finds a codec unsupported may send plain ones without a word.
    ///
    /// Some clients leave a batch plain when compression would make it longer.
    fn check_codec(&self, codec: &str) -> Result<()> {
        let topic = self.topic(codec);
        for partition in 0..PARTITIONS {
            let counts = wire::codecs(self.bootstrap, &topic, partition)?;
            let count = |codec| counts.get(codec).copied().unwrap_or(0);
            let (with, plain) = (count(codec), count("none"));
            let total: usize = counts.values().sum();
            let right = if codec == "none" {
                plain == total
            } else {
                with + plain == total && with > plain
            };
            ensure!(right, "batches of {topic}-{partition} by codec: {counts:?}");
        }
        Ok(())
    }
}

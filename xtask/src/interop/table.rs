//! The table client × capability.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use comfy_table::{Table, presets};

use super::clients::Client;
use super::report::Report;

/// What every client is asked to show of the content, in the order of the table.
const CAPABILITIES: [&str; 16] = [
    "create topic",
    "codec none",
    "codec gzip",
    "codec snappy",
    "codec lz4",
    "codec zstd",
    "null and empty keys",
    "null and empty values",
    "null key with null value",
    "headers",
    "repeated headers",
    "null header values",
    "timestamps",
    "read in order",
    "seek by offset",
    "seek by timestamp",
];

/// What every client is asked to show while the broker stops and is killed.
pub(super) const IDEMPOTENCE: &str = "idempotence";

/// What one client has shown.
#[derive(Debug, Default)]
pub(super) struct Column {
    version: String,
    done: BTreeSet<String>,
    cannot: BTreeMap<String, String>,
    /// The clients that read everything that this one wrote.
    pub read_by: BTreeSet<&'static str>,
}

impl Column {
    pub(super) fn add(&mut self, report: Report) {
        self.version = report.version;
        self.done.extend(report.done);
        self.cannot.extend(report.cannot);
    }

    /// For a client that is not asked.
    pub(super) fn cannot(&mut self, capability: &str, reason: &str) {
        self.cannot.insert(capability.to_owned(), reason.to_owned());
    }

    fn cell(&self, capability: &str) -> &'static str {
        if self.done.contains(capability) {
            "yes"
        } else {
            "cannot"
        }
    }
}

/// Prints the table of the content; a capability about which a client said nothing is an error.
pub(super) fn print(columns: &[(Client, Column)]) -> Result<()> {
    let read_by = columns
        .iter()
        .map(|(_, column)| column.read_by.len().to_string());
    let last = ["clients that read it back".to_owned()]
        .into_iter()
        .chain(read_by);
    print_rows(columns, &CAPABILITIES, Some(last.collect()))
}

/// Prints which clients went on with one idempotent producer; one that said nothing of it is an error.
pub(super) fn print_idempotence(columns: &[(Client, Column)]) -> Result<()> {
    print_rows(columns, &[IDEMPOTENCE], None)
}

fn print_rows(
    columns: &[(Client, Column)],
    capabilities: &[&str],
    last: Option<Vec<String>>,
) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let mut header = vec![String::new()];
    header.extend(columns.iter().map(|(client, column)| {
        format!("{} {}", client.name, column.version)
            .trim_end()
            .to_owned()
    }));
    table.set_header(header);
    for capability in capabilities {
        let cells = columns.iter().map(|(_, column)| column.cell(capability));
        table.add_row([*capability].into_iter().chain(cells));
    }
    if let Some(row) = last {
        table.add_row(row);
    }
    println!("{table}");
    for (client, column) in columns {
        let asked =
            |(capability, _): &(&String, &String)| capabilities.contains(&capability.as_str());
        for (capability, reason) in column.cannot.iter().filter(asked) {
            println!("{} cannot {capability}: {reason}", client.name);
        }
    }
    columns
        .iter()
        .try_for_each(|(client, column)| complete(client, column, capabilities))
}

fn complete(client: &Client, column: &Column, capabilities: &[&str]) -> Result<()> {
    for capability in capabilities {
        let (done, cannot) = (
            column.done.contains(*capability),
            column.cannot.contains_key(*capability),
        );
        ensure!(
            done != cannot,
            "{}: {capability}: done {done}, cannot {cannot}",
            client.name
        );
    }
    Ok(())
}

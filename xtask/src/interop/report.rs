//! Calls of the programs, and what they report.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::run;

/// The line of JSON that every program prints.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Report {
    pub version: String,
    pub done: Vec<String>,
    pub cannot: BTreeMap<String, String>,
}

/// Runs a program and reads its report.
pub(super) fn call(command: &mut Command, limit: Duration) -> Result<Report> {
    parse(&run(command, limit)?).with_context(|| format!("{command:?}"))
}

/// Reads the report out of a program's output.
pub(super) fn parse(output: &str) -> Result<Report> {
    let line = output
        .lines()
        .rfind(|line| line.starts_with('{'))
        .context("no report printed")?;
    serde_json::from_str(line).with_context(|| format!("report {line}"))
}

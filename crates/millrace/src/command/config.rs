//! `millrace config`, and the flags that it shares with `serve`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::config::{Inputs, Setting, Settings, load, reference};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Where settings come from besides the environment.
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// File of `key = value` lines
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory, stronger than log.dirs
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Set one key; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    /// The settings in force, or all that is wrong with them.
    pub(crate) fn load(&self) -> Result<Settings, Failure> {
        let inputs = Inputs {
            file: self.config.clone(),
            data_dir: self.data_dir.clone(),
            set: self.set.clone(),
            environment: std::env::vars_os().collect(),
        };
        load(&inputs).map_err(|faults| {
            let lines: Vec<_> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
            Failure::usage(format_args!(
                "the configuration is not valid{}",
                lines.concat()
            ))
        })
    }
}

/// Print every setting with its value, source, unit and range
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(flatten)]
    inputs: ConfigArgs,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the reference page of the documentation instead
    #[arg(long)]
    markdown: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    value: Option<&'a str>,
    source: String,
    default: Option<&'a str>,
    r#type: &'a str,
    unit: String,
    allowed: String,
    scope: String,
    dynamic: bool,
    help: &'a str,
}

/// Runs `millrace config`.
pub(crate) fn run(args: &Config) -> Outcome {
    if args.markdown {
        return Ok(output::line(reference().trim_end())?);
    }
    let settings = args.inputs.load()?;
    for warning in &settings.warnings {
        eprintln!("warning: {warning}");
    }
    let rows = settings.iter().map(row);
    if args.json {
        return Ok(output::json(&rows.collect::<Vec<_>>())?);
    }
    let header = ["KEY", "VALUE", "SOURCE", "UNIT", "ALLOWED", "HELP"];
    let cells = rows.map(|r| {
        let value = r.value.unwrap_or("(unset)").to_owned();
        [
            r.key.to_owned(),
            value,
            r.source,
            r.unit,
            r.allowed,
            r.help.to_owned(),
        ]
    });
    Ok(output::table(&header, cells)?)
}

fn row(setting: &Setting) -> Row<'_> {
    let set = |text| Some(text).filter(|t: &&str| !t.is_empty());
    let key = setting.key;
    Row {
        key: key.name,
        value: set(&setting.text),
        source: setting.source.to_string(),
        default: set(key.default),
        r#type: key.kind.name(),
        unit: key.unit.to_string(),
        allowed: key.kind.range(),
        scope: key.scope.to_string(),
        dynamic: key.dynamic,
        help: key.help,
    }
}

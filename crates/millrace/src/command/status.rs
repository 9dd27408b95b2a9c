//! `millrace status`: what a broker says of itself, through its admin listener.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use admin::{Damage, Status};
use anyhow::{Context, bail};
use clap::Args;

use crate::failure::Outcome;
use crate::output;

/// A status is a few KiB; more is no answer of ours.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(5);

/// Show what a broker says of itself
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The broker's admin listener
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9600")]
    admin: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `millrace status`.
pub(crate) fn run(args: &StatusArgs) -> Outcome {
    let body = get(&args.admin, "/api/v1/status")
        .with_context(|| format!("cannot get the status from --admin {}", args.admin))?;
    let status: Status = serde_json::from_str(&body).context("the answer is no status")?;
    if args.json {
        return Ok(output::json(&status)?);
    }
    let rows = rows(&status)
        .into_iter()
        .map(|(name, value)| [name.to_owned(), value]);
    Ok(output::table(&["NODE", &status.node_id.to_string()], rows)?)
}

fn rows(status: &Status) -> Vec<(&'static str, String)> {
    let log = &status.log;
    let state = match (&status.not_ready_reason, &log.poisoned_reason) {
        (_, Some(reason)) => format!("read only until restart: {reason}"),
        (Some(reason), None) => format!("not ready: {reason}"),
        (None, None) => "ready".to_owned(),
    };
    let mut rows = vec![
        ("state", state),
        ("version", status.version.clone()),
        ("up", output::duration(status.uptime_ms)),
        ("cluster", status.cluster_id.clone()),
        ("data directory", status.data_dir.clone()),
    ];
    let listeners = status.listeners.iter();
    rows.extend(listeners.map(|l| ("listener", format!("{} {}", l.name, l.addresses.join(",")))));
    rows.extend(damages(status));
    rows.extend([
        ("topics", status.topics_count.to_string()),
        ("partitions", status.partitions_count.to_string()),
        ("connections", status.connections_count.to_string()),
        (
            "log frames",
            format!("{} written, {} synced", log.written_frame, log.synced_frame),
        ),
        ("unsealed", output::bytes(log.unsealed_bytes)),
        (
            "log files",
            format!("{} live, {} spare", log.files_count, log.spares_count),
        ),
        (
            "segments",
            format!(
                "{}, {}",
                log.segments_count,
                output::bytes(log.segment_bytes)
            ),
        ),
        (
            "longest step",
            format!(
                "{} µs of the owner, {} µs of a processor at most",
                log.owner_step_max_us, log.owner_step_busy_max_us
            ),
        ),
        ("resident memory", output::bytes(status.resident_bytes)),
        ("tail", output::bytes(status.tail_bytes)),
        ("requests", output::bytes(status.request_bytes)),
    ]);
    rows
}

/// What is damaged; nothing while all is well.
fn damages(status: &Status) -> Vec<(&'static str, String)> {
    let count = status.damaged_partitions_count;
    if count == 0 {
        return Vec::new();
    }
    let mut rows = vec![(
        "damaged partitions",
        format!("{count}, they take no records"),
    )];
    rows.extend(status.damages.iter().map(|damage| {
        let offsets = format!("[{}, {})", damage.first_offset, damage.end_offset);
        let Damage {
            topic,
            partition,
            reason,
            ..
        } = damage;
        (
            "lost",
            format!("{topic} {partition}, offsets {offsets}: {reason}"),
        )
    }));
    rows
}

/// One GET over HTTP/1.0, which has no chunks; the body of a 200.
fn get(server: &str, path: &str) -> anyhow::Result<String> {
    let mut stream = connect(server)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {server}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    let code = head.split(' ').nth(1).unwrap_or_default();
    if code != "200" {
        bail!("HTTP status {code}: {}", body.trim());
    }
    Ok(body.to_owned())
}

/// The first of the server's addresses that answers.
fn connect(server: &str) -> anyhow::Result<TcpStream> {
    let mut last = None;
    for address in server.to_socket_addrs().context("not a host:port")? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(|| anyhow::anyhow!("the name has no address"), Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_shown_with_its_offsets_and_not_at_all_while_there_is_none() {
        let mut status = Status::default();
        assert_eq!(damages(&status), []);
        status.damaged_partitions_count = 1;
        status.damages.push(Damage {
            topic: "orders".into(),
            partition: 3,
            first_offset: 10,
            end_offset: 20,
            reason: "a file is missing".into(),
        });
        let expected = [
            ("damaged partitions", "1, they take no records".to_owned()),
            (
                "lost",
                "orders 3, offsets [10, 20): a file is missing".to_owned(),
            ),
        ];
        assert_eq!(damages(&status), expected);
        assert!(rows(&status).iter().any(|row| *row == expected[1]));
    }
}

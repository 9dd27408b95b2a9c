//! Idempotent producers go on while the broker is stopped, killed and started again: nothing confirmed is lost,
//! nothing comes twice, and the order holds.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Options;
use super::background::{self, Background};
use super::clients::{self, Client};
use super::report::{Report, call, parse};
use super::table::{self, Column, IDEMPOTENCE};
use crate::broker::{Broker, Kind, Setup};
use crate::command::{tail_of, until, wait};
use crate::install::Clients;

const FLUSH_LIMIT: Duration = Duration::from_secs(310);
const VERIFY_LIMIT: Duration = Duration::from_secs(600);
const PROGRESS_LIMIT: Duration = Duration::from_secs(120);
/// Confirmed between two bounces, by each client.
const PROGRESS_RECORDS: usize = 4000;

/// What an orderly stop of Millrace stays below, whatever its clients do.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// The part of the asked rate that must be reached, or the load was none.
const RATE_SHARE: f64 = 5.0 / 6.0;

#[derive(Debug, Clone, Copy)]
enum Bounce {
    Stop,
    Kill,
}

pub(super) fn run(options: &Options, installed: &Clients, setup: &Setup) -> Result<()> {
    let mut columns: Vec<_> = clients::all(installed)
        .into_iter()
        .filter(|client| options.chooses(client))
        .map(|client| (client, Column::default()))
        .collect();
    let able: Vec<_> = columns
        .iter()
        .map(|(client, _)| client.clone())
        .filter(|client| client.cannot_stream.is_empty())
        .collect();
    ensure!(!able.is_empty(), "none of these clients can stream");
    let load = Load {
        options,
        installed,
        setup,
        able,
    };
    let mut reports = load.bounce(Bounce::Stop, options.restarts)?;
    reports.extend(load.bounce(Bounce::Kill, options.kills)?);
    for (client, column) in &mut columns {
        if !client.cannot_stream.is_empty() {
            column.cannot(IDEMPOTENCE, client.cannot_stream);
        }
        let own = reports.extract_if(.., |(name, _)| *name == client.name);
        own.for_each(|(_, report)| column.add(report));
    }
    table::print_idempotence(&columns)
}

/// What streams while the broker is bounced.
struct Load<'a> {
    options: &'a Options,
    installed: &'a Clients,
    setup: &'a Setup,
    able: Vec<Client>,
}

impl Load<'_> {
    /// What each client reports of its stream, once all of it is verified.
    fn bounce(&self, bounce: Bounce, times: u32) -> Result<Vec<(&'static str, Report)>> {
        let setup = self.setup;
        let mut broker = Broker::start(busy(setup.clone()))?;
        let is_watched = setup.kind == Kind::Millrace && matches!(bounce, Bounce::Kill);
        if is_watched {
            background::write_topic(setup, &broker, 0)?;
        }
        let mut streams = self.start(&broker)?;
        progress(&mut streams)?;
        let (started, before) = (Instant::now(), total(&streams)?);
        let (mut stops, mut at_kills) = (Vec::new(), Vec::new());
        for number in 1..=times {
            match bounce {
                Bounce::Stop => stops.push(broker.stop()?),
                Bounce::Kill => broker.kill()?,
            }
            if is_watched {
                at_kills.push(Background::of(&broker.data())?);
            }
            broker.restart()?;
            progress(&mut streams)?;
            if is_watched && number < times {
                background::provoke(setup, &broker, number)?;
            }
        }
        let reports = streams.iter_mut().map(Stream::finish);
        let reports = reports.collect::<Result<Vec<_>>>()?;
        let (elapsed, after) = (started.elapsed(), total(&streams)?);
        for stream in &streams {
            stream.verify(self.installed, &broker)?;
        }
        let rate = (after - before) as f64 / elapsed.as_secs_f64();
        println!(
            "{bounce:?} {times} times under {}: {after} confirmed, {rate:.0} per second",
            self.names()
        );
        report_stops(&stops, setup.kind)?;
        if is_watched {
            background::report(&at_kills)?;
        }
        let wanted = self.options.rate as f64 * RATE_SHARE;
        ensure!(
            rate >= wanted,
            "{rate:.0} records per second are fewer than {wanted:.0}"
        );
        Ok(reports)
    }

    fn start(&self, broker: &Broker) -> Result<Vec<Stream>> {
        let rate = self.options.rate / self.able.len() as u64;
        self.able
            .iter()
            .map(|client| Stream::start(client, rate, self.setup.kind, broker))
            .collect()
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.able.iter().map(|client| client.name).collect();
        names.join(", ")
    }
}

/// Says how long the longest stop took; one of Millrace that took too long is an error.
fn report_stops(stops: &[Duration], kind: Kind) -> Result<()> {
    let Some(longest) = stops.iter().max() else {
        return Ok(());
    };
    println!("longest stop under load: {:.3} s", longest.as_secs_f64());
    ensure!(
        kind != Kind::Millrace || *longest < STOP_LIMIT,
        "a stop took {longest:?}, which must be less than {STOP_LIMIT:?}"
    );
    Ok(())
}

/// Small log files, so that sealing goes on all the time.
fn busy(setup: Setup) -> Setup {
    match setup.kind {
        Kind::Millrace => setup.set("log.file.bytes", "4194304"),
        Kind::Kafka => setup,
    }
}

/// One program that streams.
struct Stream {
    name: &'static str,
    topic: String,
    acks: PathBuf,
    log: PathBuf,
    child: Child,
    confirmed: usize,
}

impl Stream {
    fn start(client: &Client, rate: u64, kind: Kind, broker: &Broker) -> Result<Self> {
        let topic = format!("stream-{}", client.name);
        let acks = broker.dir().join(format!("{topic}.acks"));
        let log = broker.dir().join(format!("{topic}.log"));
        std::fs::write(&acks, "")?;
        // Apache Kafka recognises only a producer's last batch after a restart; Millrace knows the last five.
        let in_flight = if kind == Kind::Kafka { "1" } else { "5" };
        let mut command = client.command();
        command.args([
            "--mode",
            "stream",
            "--bootstrap",
            &broker.bootstrap(),
            "--topic",
            &topic,
        ]);
        command.args([
            "--start-ms",
            "0",
            "--rate",
            &rate.to_string(),
            "--in-flight",
            in_flight,
        ]);
        command.arg("--acks").arg(&acks);
        let output = crate::command::log_file(&log)?;
        command
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = command
            .spawn()
            .with_context(|| format!("start {command:?}"))?;
        Ok(Self {
            name: client.name,
            topic,
            acks,
            log,
            child,
            confirmed: 0,
        })
    }

    fn count(&self) -> Result<usize> {
        lines(&self.acks)
    }

    /// Waits until enough was confirmed since the last time.
    fn progress(&mut self) -> Result<()> {
        let goal = self.confirmed + PROGRESS_RECORDS;
        let reached = until(PROGRESS_LIMIT, || {
            ensure!(self.child.try_wait()?.is_none(), "it ended by itself");
            Ok(Some(lines(&self.acks)?).filter(|count| *count >= goal))
        });
        self.confirmed = reached.with_context(|| self.trouble())?;
        Ok(())
    }

    /// Ends the stream; every record sent must be confirmed.
    fn finish(&mut self) -> Result<(&'static str, Report)> {
        drop(self.child.stdin.take());
        let status = wait(&mut self.child, FLUSH_LIMIT).with_context(|| self.trouble())?;
        ensure!(status.success(), "{}: {status}", self.trouble());
        let said = std::fs::read(&self.log).context("what a stream said")?;
        let report = parse(&String::from_utf8_lossy(&said)).with_context(|| self.trouble())?;
        Ok((self.name, report))
    }

    fn verify(&self, installed: &Clients, broker: &Broker) -> Result<()> {
        let mut command = clients::java(installed).command();
        command.args(["--mode", "verify", "--bootstrap", &broker.bootstrap()]);
        command
            .args(["--topic", &self.topic, "--acks"])
            .arg(&self.acks);
        call(&mut command, VERIFY_LIMIT).with_context(|| format!("what {} streamed", self.name))?;
        Ok(())
    }

    fn trouble(&self) -> String {
        format!("{} streams\n{}", self.name, tail_of(&self.log))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn progress(streams: &mut [Stream]) -> Result<()> {
    streams.iter_mut().try_for_each(Stream::progress)
}

fn total(streams: &[Stream]) -> Result<usize> {
    streams.iter().map(Stream::count).sum()
}

fn lines(path: &Path) -> Result<usize> {
    let text = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    Ok(text.iter().filter(|byte| **byte == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stop_decides_and_for_millrace_only() {
        let fast = [Duration::from_millis(1999), Duration::ZERO];
        let slow = [Duration::ZERO, STOP_LIMIT, Duration::ZERO];
        assert!(report_stops(&[], Kind::Millrace).is_ok());
        assert!(report_stops(&fast, Kind::Millrace).is_ok());
        assert!(report_stops(&slow, Kind::Millrace).is_err());
        assert!(report_stops(&slow, Kind::Kafka).is_ok());
    }
}

//! One measured run: a fresh broker, a warm-up, the load, and what it cost.

use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;

use super::Options;
use super::load::{Done, Target};
use super::machine::Disk;
use super::measures::{Load, Measure, Synced};
use crate::broker::{Broker, Kind, Setup};
use crate::install::Clients;
use crate::process::children_cpu;
use crate::wire;

const TOPIC: &str = "measured";
/// The first load of a measure; what is too short to count is the warm-up of the next, which is longer.
const FIRST_RECORDS: u64 = 100_000;
/// The same, in seconds, of a load at a fixed rate.
const FIRST_SECONDS: u64 = 2;
const LOADS_MAX: u32 = 6;
/// The next load is at most so many times longer, because a cold start says little about the speed.
const GROWTH_MAX: f64 = 30.0;
/// A load counts when it lasts this part of the time asked for, or is this part of the largest.
const ENOUGH: f64 = 0.7;
/// A load that reads gets this many records per second of the measured time to read.
const FILL_RATE: f64 = 100_000.0;
/// Ten log files of 256 MiB are enough for every effect of a full log to show.
const BYTES_MAX: u64 = 10 * (256 << 20);
const GB: f64 = 1e9;

/// What one run showed.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Sample {
    pub load: Done,
    pub records_per_second: f64,
    pub broker_cpu_s: f64,
    /// Per 10^9 bytes of record values.
    pub broker_cpu_s_per_gb: f64,
    pub resident_bytes: u64,
    pub resident_peak_bytes: u64,
    pub client_cpu_s: f64,
    /// The client's part of the processor time that the broker left.
    pub client_share: f64,
    pub written_bytes: u64,
    pub flushes_per_second: f64,
    /// The part of the time in which the disk was flushing, where the kernel tells.
    pub flushing_share: f64,
    /// Of Millrace.
    pub owner_steps: Option<OwnerSteps>,
}

/// The longest steps of a node's owner since its start.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct OwnerSteps {
    /// By the clock: others may have had the processor meanwhile.
    pub max_s: f64,
    /// In processor time, of the steps with much to do.
    pub busy_max_s: f64,
}

/// Starts a broker, loads it, and stops it.
pub(super) fn take(
    kind: Kind,
    measure: &Measure,
    options: &Options,
    clients: &Clients,
) -> Result<Sample> {
    let mut broker = Broker::start(Setup::new(kind, clients).with_status()?)?;
    let bootstrap = broker.bootstrap();
    wire::create_topic(
        &bootstrap,
        TOPIC,
        measure.partitions,
        &topic_settings(kind, measure.sync),
    )?;
    let target = Target {
        clients,
        bootstrap: &bootstrap,
        topic: TOPIC,
    };
    let (load, before, after) = measured(&target, measure, options.seconds, &broker)
        .with_context(|| format!("load on {}", kind.name()))?;
    let owner_steps = match kind {
        Kind::Millrace => Some(owner_steps(&broker)?),
        Kind::Kafka => None,
    };
    broker.stop()?;
    Ok(sample(measure, load, &before, &after, owner_steps))
}

fn owner_steps(broker: &Broker) -> Result<OwnerSteps> {
    let status = broker.status()?;
    let seconds = |name: &str| -> Result<f64> {
        let us = status["log"][name].as_f64();
        Ok(us.with_context(|| format!("no {name} in {status}"))? / 1e6)
    };
    Ok(OwnerSteps {
        max_s: seconds("owner_step_max_us")?,
        busy_max_s: seconds("owner_step_busy_max_us")?,
    })
}

/// The settings that a topic needs to be synced before the confirm. Ours is by default.
pub(super) fn topic_settings(kind: Kind, sync: Synced) -> Vec<(&'static str, &'static str)> {
    match (kind, sync) {
        (Kind::Kafka, Synced::Both) => vec![("flush.messages", "1")],
        (Kind::Kafka, Synced::Defaults) | (Kind::Millrace, _) => vec![],
    }
}

/// Loads the broker, longer and longer, until a load lasts long enough; that one counts.
fn measured(
    target: &Target,
    measure: &Measure,
    seconds: f64,
    broker: &Broker,
) -> Result<(Done, Reading, Reading)> {
    let filled = rounded(FILL_RATE * seconds);
    let all = BYTES_MAX / measure.record_bytes;
    let most = if measure.load.reads() {
        filled.min(all)
    } else {
        all
    };
    let mut records = match measure.load {
        Load::StockProduceAt(rate) => FIRST_SECONDS * rate,
        _ => FIRST_RECORDS,
    }
    .min(most);
    if measure.load.reads() {
        target.fill(measure, most)?;
        records = most;
    }
    let mut loads = 1;
    loop {
        let before = Reading::take(broker)?;
        let load = target.run(measure, records)?;
        let after = Reading::take(broker)?;
        let is_enough = load.seconds >= ENOUGH * seconds || records as f64 >= ENOUGH * most as f64;
        if is_enough || loads == LOADS_MAX {
            return Ok((load, before, after));
        }
        let growth = (seconds / load.seconds).min(GROWTH_MAX);
        records = rounded(records as f64 * growth).min(most);
        loads += 1;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from float saturates"
)]
fn rounded(number: f64) -> u64 {
    number as u64
}

/// The counters at one moment.
struct Reading {
    at: Instant,
    usage: crate::process::Usage,
    client_cpu_s: f64,
    disk: Disk,
}

impl Reading {
    fn take(broker: &Broker) -> Result<Self> {
        Ok(Self {
            at: Instant::now(),
            usage: broker.usage()?,
            client_cpu_s: children_cpu()?.as_secs_f64(),
            disk: Disk::read(&broker.data())?,
        })
    }
}

fn sample(
    measure: &Measure,
    load: Done,
    before: &Reading,
    after: &Reading,
    owner_steps: Option<OwnerSteps>,
) -> Sample {
    let wall_s = (after.at - before.at).as_secs_f64();
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let broker_cpu_s = after.usage.cpu_s - before.usage.cpu_s;
    let client_cpu_s = after.client_cpu_s - before.client_cpu_s;
    let disk = after.disk.since(before.disk);
    let bytes = (load.records * measure.record_bytes) as f64;
    Sample {
        records_per_second: load.rate(),
        broker_cpu_s,
        broker_cpu_s_per_gb: broker_cpu_s / (bytes / GB),
        resident_bytes: after.usage.resident_bytes,
        resident_peak_bytes: after.usage.resident_peak_bytes,
        client_cpu_s,
        client_share: client_cpu_s / (cores * wall_s - broker_cpu_s),
        written_bytes: disk.written_bytes,
        flushes_per_second: disk.flushes as f64 / wall_s,
        flushing_share: disk.flush_ms as f64 / 1e3 / wall_s,
        owner_steps,
        load,
    }
}

//! The only place that knows storage engine, services and protocols together.
//!
//! Three steps, called by the shell in this order: [`prepare`] takes the data directory or says
//! why it cannot be used (exit code 3), [`Prepared::start`] recovers and serves, and
//! [`Node::stop`] ends in order.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use admin::{Damage, LogStatus, Status, StatusSource};
use anyhow::Context;
use broker::owner::OwnerConfig;
use broker::shell::Running;
use broker::topic_config::BrokerDefaults;
use broker::{Broker, BrokerParts, NodeInfo, ReadPool};
use disk::{Disk, RealDisk};
use log::{CommitLog, DataDir};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::limits::{SPARES_RESERVED, STATUS_DAMAGES_MAX, UNSEALED_BATCHES_MAX};
use types::{Clock, SystemRandom};

use super::abandon;
use super::clock::NodeClock;
use super::kafka_settings;
use crate::config::{NodeConfig, Settings};
use crate::failure::{Failure, Outcome};

/// Threads that wait for cold reads.
const READER_THREADS: usize = 4;
/// Memory for indexes of segments that are read.
const EXTENTS_BYTES: usize = 8 << 20;
/// Log after which a checkpoint is written.
const CHECKPOINT_BYTES: u64 = 1 << 30;
/// How often the node looks whether its log was stopped by a failure.
const FAILURE_CHECK: Duration = Duration::from_millis(200);

/// A data directory that is ours, not recovered yet.
#[derive(Debug)]
pub(crate) struct Prepared {
    dir: DataDir,
}

/// A node that serves clients.
#[derive(Debug)]
pub(crate) struct Node {
    broker: Broker,
    /// What a topic takes in one batch if it does not say otherwise.
    batch_bytes: u64,
    running: Running,
    shutdown: CancellationToken,
    kafka: JoinHandle<()>,
    connections: kafka::OpenCount,
}

/// Takes the data directory. [`Failure::DataDir`] when it is in use or of a newer format.
pub(crate) fn prepare(config: &NodeConfig) -> Result<Prepared, Failure> {
    let dir = take_directory(Arc::new(RealDisk::new()), &config.log.dir)?;
    Ok(Prepared { dir })
}

/// Opens and locks a data directory. [`Failure::DataDir`] says in words when another process has
/// it: the system's own are about the lock file.
pub(crate) fn take_directory(disk: Arc<dyn Disk>, root: &Path) -> Result<DataDir, Failure> {
    let opened = DataDir::open(disk, root, &mut SystemRandom::new());
    opened.map_err(|error| {
        Failure::DataDir(match error {
            log::Error::Disk(error) if error.is_locked() => anyhow::anyhow!(
                "the data directory {} is in use by another node or tool",
                root.display()
            ),
            error => anyhow::Error::new(error)
                .context(format!("cannot use the data directory {}", root.display())),
        })
    })
}

impl Prepared {
    /// Recovers the log and serves Kafka clients on `kafka` (bound, nothing accepted yet). None
    /// once `stop` says so: recovery is left where it is then, which a crash does as well.
    pub(crate) async fn start(
        self,
        config: &NodeConfig,
        settings: &Settings,
        kafka: Vec<TcpListener>,
        stop: &CancellationToken,
    ) -> Result<Option<Node>, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(NodeClock::new());
        let defaults = topic_defaults(config)?;
        let info = node_info(config, &self.dir, defaults.clone());
        let node = node_config(config, &self.dir, defaults);
        let recovery_clock = Arc::clone(&clock);
        let recover = move || {
            let random = Box::new(SystemRandom::new());
            broker::open_dir(&node, self.dir, recovery_clock, random)
        };
        let Some(machines) = abandon::unless_stopped("recovery", stop, recover).await? else {
            return Ok(None);
        };
        let machines = machines
            .context("cannot open the log")
            .map_err(Failure::DataDir)?;
        let broker = Broker::new(BrokerParts {
            shared: Arc::clone(&machines.shared),
            inbox: Arc::clone(&machines.inbox),
            reader: Arc::clone(&machines.reader),
            log: Arc::clone(&machines.log),
            clock,
            admission_bytes: config.request_memory_bytes,
            info,
            pool: ReadPool::start(READER_THREADS).context("cannot start the reader threads")?,
        });
        let running = Running::start(machines).context("cannot start the node's threads")?;
        let shutdown = CancellationToken::new();
        let server = kafka::Server::new(broker.clone(), kafka_settings::config(config, settings));
        let connections = server.open_count();
        let kafka = tokio::spawn(server.run(kafka, shutdown.clone()));
        Ok(Some(Node {
            connections,
            broker,
            batch_bytes: u64::from(config.topics.max_message_bytes.unsigned_abs()),
            running,
            shutdown,
            kafka,
        }))
    }
}

impl Node {
    /// What the node says of itself; the shell fills version, uptime, listeners and memory.
    pub(crate) fn status(&self) -> Arc<dyn StatusSource> {
        Arc::new(BrokerStatus {
            broker: self.broker.clone(),
            batch_bytes: self.batch_bytes,
            connections: self.connections.clone(),
        })
    }

    /// Completes when the node cannot go on by itself. A log that was stopped by a failure goes on
    /// serving reads, so this is for the end of a thread only.
    pub(crate) async fn failed(&self) -> Failure {
        loop {
            if self.running.has_ended() {
                return Failure::Failed(anyhow::anyhow!("a thread of the node ended"));
            }
            #[expect(clippy::disallowed_methods, reason = "the shell watches its threads")]
            tokio::time::sleep(FAILURE_CHECK).await;
        }
    }

    /// Ends in order: no new connections, what is under way, a clean stop of the log.
    pub(crate) async fn stop(self) -> Outcome {
        self.shutdown.cancel();
        if self.kafka.await.is_err() {
            tracing::error!("the Kafka listeners ended with a panic");
        }
        let running = self.running;
        let stopped = tokio::task::block_in_place(|| running.stop());
        Ok(stopped.context("the log had stopped before")?)
    }
}

fn node_info(config: &NodeConfig, dir: &DataDir, defaults: BrokerDefaults) -> NodeInfo {
    NodeInfo {
        node_id: config.node_id,
        cluster_id: config
            .cluster_id
            .clone()
            .unwrap_or_else(|| base64_url(dir.id)),
        defaults,
        partitions_default: config.partitions_default,
        auto_create: config.auto_create_topics,
        delete_enabled: config.delete_topics,
    }
}

fn node_config(config: &NodeConfig, dir: &DataDir, defaults: BrokerDefaults) -> broker::NodeConfig {
    let entry_bytes_max = config.log.file_bytes / 4;
    broker::NodeConfig {
        root: dir.root.clone(),
        log_file_bytes: config.log.file_bytes,
        tail_bytes: config.log.tail_bytes as u64,
        extents_bytes: EXTENTS_BYTES,
        owner: OwnerConfig {
            defaults,
            retention_check: config.retention_check_interval,
            producer_expiration_ms: config.producer_id_expiration_ms,
            entry_bytes_max: usize::try_from(entry_bytes_max).unwrap_or(usize::MAX),
            unsealed_bytes_max: config.log.unsealed_bytes,
            unsealed_batches_max: UNSEALED_BATCHES_MAX,
            checkpoint_bytes: CHECKPOINT_BYTES,
            node_id: config.node_id,
            partitions_default: config.partitions_default,
        },
    }
}

/// The topics' defaults, under the broker's keys that set them.
fn topic_defaults(config: &NodeConfig) -> Result<BrokerDefaults, Failure> {
    let topics = &config.topics;
    let durability = if topics.sync { "sync" } else { "async" };
    let values: [(&str, &str, String); 11] = [
        ("durability", "log.durability", durability.to_owned()),
        (
            "flush.ms",
            "log.flush.interval.ms",
            topics.flush_ms.to_string(),
        ),
        (
            "max.message.bytes",
            "message.max.bytes",
            topics.max_message_bytes.to_string(),
        ),
        (
            "compression.type",
            "compression.type",
            topics.compression_type.clone(),
        ),
        (
            "message.timestamp.type",
            "log.message.timestamp.type",
            topics.message_timestamp_type.clone(),
        ),
        (
            "message.timestamp.before.max.ms",
            "log.message.timestamp.before.max.ms",
            topics.message_timestamp_before_max_ms.to_string(),
        ),
        (
            "message.timestamp.after.max.ms",
            "log.message.timestamp.after.max.ms",
            topics.message_timestamp_after_max_ms.to_string(),
        ),
        (
            "retention.ms",
            "log.retention.ms",
            topics.retention_ms.to_string(),
        ),
        (
            "retention.bytes",
            "log.retention.bytes",
            topics.retention_bytes.to_string(),
        ),
        (
            "segment.bytes",
            "log.segment.bytes",
            topics.segment_bytes.to_string(),
        ),
        ("segment.ms", "log.roll.ms", topics.segment_ms.to_string()),
    ];
    let mut defaults = BrokerDefaults::default();
    for (name, key, value) in values {
        defaults
            .set(name, key, &value)
            .with_context(|| format!("{key} = {value}"))
            .map_err(Failure::Usage)?;
    }
    Ok(defaults)
}

/// An id as Kafka prints one: 22 characters.
fn base64_url(id: [u8; 16]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let number = u128::from_be_bytes(id);
    let digit = |i: u32| {
        let shifted = if i == 21 {
            number << 4
        } else {
            number >> (122 - 6 * i)
        };
        char::from(DIGITS[usize::try_from(shifted & 63).unwrap_or(0)])
    };
    (0..22).map(digit).collect()
}

struct BrokerStatus {
    broker: Broker,
    batch_bytes: u64,
    connections: kafka::OpenCount,
}

impl StatusSource for BrokerStatus {
    fn status(&self) -> Status {
        let info = self.broker.info();
        let topics = self.broker.shared().topics();
        let (written, synced) = self.broker.log().progress();
        let stats = self.broker.shared().storage_stats();
        let damaged = self.broker.shared().damaged_partitions();
        Status {
            damaged_partitions_count: damaged.len() as u64,
            damages: damages(&damaged),
            node_id: info.node_id,
            cluster_id: info.cluster_id.clone(),
            log: LogStatus {
                written_frame: written.0,
                synced_frame: synced.0,
                unsealed_bytes: stats.unsealed_bytes,
                files_count: stats.files_count,
                spares_count: stats.spares_count,
                segments_count: stats.segments_count,
                segment_bytes: stats.segment_bytes,
                owner_step_max_us: stats.owner_step_max_us,
                owner_step_busy_max_us: stats.owner_step_busy_max_us,
                poisoned_reason: self.broker.log().poisoned().map(|r| r.to_string()),
            },
            topics_count: topics.len() as u64,
            partitions_count: topics.iter().map(|t| t.partitions.len() as u64).sum(),
            connections_count: self.connections.get() as u64,
            tail_bytes: stats.tail_bytes,
            request_bytes: self.broker.admitted_bytes(),
            ..Status::default()
        }
    }

    fn ready(&self) -> Result<(), String> {
        readiness(self.broker.log(), self.batch_bytes)
    }
}

/// Whether a batch of `batch_bytes` can be produced. A full device alone is no reason against it:
/// producers go on until what was allocated ahead for them is used up.
fn readiness(log: &CommitLog, batch_bytes: u64) -> Result<(), String> {
    if let Some(reason) = log.poisoned() {
        return Err(format!("the log is stopped: {reason}"));
    }
    if log.is_full() && log.room_bytes(SPARES_RESERVED) < batch_bytes {
        return Err("the disk is full: records are refused until there is space".into());
    }
    Ok(())
}

/// What is lost, as the status shows it.
fn damages(damaged: &[broker::DamagedPartition]) -> Vec<Damage> {
    let holes = damaged
        .iter()
        .flat_map(|of| of.holes.iter().map(move |hole| (of, hole)));
    let damage = |(of, hole): (&broker::DamagedPartition, &log::segment::Hole)| Damage {
        topic: of.topic.to_string(),
        partition: of.partition,
        first_offset: hole.first_offset.0,
        end_offset: hole.end_offset.0,
        reason: hole.corruption.to_string(),
    };
    holes.take(STATUS_DAMAGES_MAX).map(damage).collect()
}

#[cfg(test)]
mod tests {
    use disk::{Fault, FaultKind, Op, SimDisk};
    use types::{ManualClock, SeededRandom};

    use super::*;
    use crate::config::{Inputs, load};

    #[test]
    fn a_full_disk_is_ready_as_long_as_there_is_room_for_a_batch() {
        let set = vec!["log.file.bytes=1048576".into()];
        let inputs = Inputs {
            set,
            ..Inputs::default()
        };
        let config = NodeConfig::new(&load(&inputs).expect("valid"));
        let disk = SimDisk::new(1);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let dir = DataDir::open(shared, Path::new("/data"), &mut SeededRandom::new(1));
        let dir = dir.expect("a directory");
        let defaults = topic_defaults(&config).expect("defaults");
        let node = node_config(&config, &dir, defaults);
        let clock = Arc::new(ManualClock::new(0));
        let random = Box::new(SeededRandom::new(2));
        let mut machines = broker::open_dir(&node, dir, clock, random).expect("a node");
        let log = Arc::clone(&machines.log);
        assert_eq!(readiness(&log, u64::MAX), Ok(()));

        disk.inject(Fault::new(Op::Allocate, FaultKind::NoSpace).forever());
        machines.background.step();
        assert!(log.is_full());
        let room = log.room_bytes(SPARES_RESERVED);
        assert!(room > 0);
        assert_eq!(readiness(&log, room), Ok(()));
        let reason = readiness(&log, room + 1).expect_err("full");
        assert!(reason.starts_with("the disk is full"), "{reason}");

        log.poison("a sync failed");
        let reason = readiness(&log, 0).expect_err("stopped");
        assert!(reason.contains("a sync failed"), "{reason}");
    }

    #[test]
    fn ids_print_as_kafka_prints_them() {
        assert_eq!(base64_url([0; 16]), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(base64_url([0xff; 16]), "_____________________w");
    }
}

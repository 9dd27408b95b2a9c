//! The configuration as typed, plain data.

use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::filter::Targets;

use super::listen::{Advertise, Listen};
use super::load::Settings;
use super::value::Value;

/// Everything that a node is opened with.
#[derive(Clone, Debug)]
pub(crate) struct NodeConfig {
    pub(crate) node_id: i32,
    /// None: made at the first start and kept in the data directory.
    pub(crate) cluster_id: Option<String>,
    pub(crate) kafka_listen: Listen,
    pub(crate) kafka_advertise: Option<Advertise>,
    pub(crate) admin_listen: Listen,
    pub(crate) log_levels: Targets,
    /// A value of `log.format`.
    pub(crate) log_format: String,
    pub(crate) connections_max: usize,
    pub(crate) connection_idle_max: Duration,
    pub(crate) request_bytes_max: usize,
    /// Budget for the requests of all connections.
    pub(crate) request_memory_bytes: usize,
    pub(crate) fetch_bytes_max: usize,
    pub(crate) producer_id_expiration_ms: i64,
    pub(crate) retention_check_interval: Duration,
    pub(crate) auto_create_topics: bool,
    pub(crate) delete_topics: bool,
    pub(crate) partitions_default: i32,
    pub(crate) log: LogConfig,
    pub(crate) topics: TopicDefaults,
}

/// What the storage engine is opened with.
#[derive(Clone, Debug)]
pub(crate) struct LogConfig {
    /// The data directory.
    pub(crate) dir: PathBuf,
    pub(crate) file_bytes: u64,
    pub(crate) unsealed_bytes: u64,
    pub(crate) tail_bytes: usize,
}

/// What topics have that do not say otherwise. Names and units are those of the topic keys.
#[derive(Clone, Debug)]
pub(crate) struct TopicDefaults {
    /// `durability` is `sync`.
    pub(crate) sync: bool,
    pub(crate) flush_ms: i64,
    pub(crate) max_message_bytes: i32,
    pub(crate) compression_type: String,
    pub(crate) message_timestamp_type: String,
    pub(crate) message_timestamp_before_max_ms: i64,
    pub(crate) message_timestamp_after_max_ms: i64,
    /// -1 for never.
    pub(crate) retention_ms: i64,
    /// -1 for no limit.
    pub(crate) retention_bytes: i64,
    pub(crate) segment_bytes: i32,
    pub(crate) segment_ms: i64,
}

impl NodeConfig {
    /// Takes the typed values out of checked settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        let s = Reader(settings);
        Self {
            node_id: s.i32("node.id"),
            cluster_id: s.optional_text("cluster.id"),
            kafka_listen: s.listen("kafka.listen"),
            kafka_advertise: s.advertise("kafka.advertise"),
            admin_listen: s.listen("admin.listen"),
            log_levels: s.levels("log.level"),
            log_format: s.text("log.format"),
            connections_max: s.usize("max.connections"),
            connection_idle_max: s.duration("connections.max.idle.ms"),
            request_bytes_max: s.usize("socket.request.max.bytes"),
            request_memory_bytes: s.usize("queued.max.request.bytes"),
            fetch_bytes_max: s.usize("fetch.max.bytes"),
            producer_id_expiration_ms: s.int("producer.id.expiration.ms"),
            retention_check_interval: s.duration("log.retention.check.interval.ms"),
            auto_create_topics: s.bool("auto.create.topics.enable"),
            delete_topics: s.bool("delete.topic.enable"),
            partitions_default: s.i32("num.partitions"),
            log: LogConfig {
                dir: s.path("log.dirs"),
                file_bytes: s.u64("log.file.bytes"),
                unsealed_bytes: s.u64("log.unsealed.bytes"),
                tail_bytes: s.usize("log.tail.bytes"),
            },
            topics: s.topics(),
        }
    }
}

/// Typed access by name. Types and bounds were checked when the settings were loaded, so what
/// does not fit here is a name of the wrong type: a mistake of ours that the test below shows.
struct Reader<'a>(&'a Settings);

impl Reader<'_> {
    fn topics(&self) -> TopicDefaults {
        TopicDefaults {
            sync: self.text("log.durability") == "sync",
            flush_ms: self.int("log.flush.interval.ms"),
            max_message_bytes: self.i32("message.max.bytes"),
            compression_type: self.text("compression.type"),
            message_timestamp_type: self.text("log.message.timestamp.type"),
            message_timestamp_before_max_ms: self.int("log.message.timestamp.before.max.ms"),
            message_timestamp_after_max_ms: self.int("log.message.timestamp.after.max.ms"),
            retention_ms: self.strongest_ms(&[
                ("log.retention.ms", 1),
                ("log.retention.minutes", 60_000),
                ("log.retention.hours", 3_600_000),
            ]),
            retention_bytes: self.int("log.retention.bytes"),
            segment_bytes: self.i32("log.segment.bytes"),
            segment_ms: self.strongest_ms(&[("log.roll.ms", 1), ("log.roll.hours", 3_600_000)]),
        }
    }

    /// One of some synonyms, the finest unit first, in milliseconds; negative means never. What the
    /// strongest source says counts: a flag in hours would have no effect beside a file that says
    /// milliseconds otherwise.
    fn strongest_ms(&self, synonyms: &[(&str, i64)]) -> i64 {
        let all = synonyms.iter().filter_map(|&(name, unit_ms)| {
            let value = self.optional_int(name)?;
            Some((self.0.get(name).source.strength(), value, unit_ms))
        });
        // Of equals the last is taken, which is the finest in the reversed order.
        match all.rev().max_by_key(|(strength, ..)| *strength) {
            Some((_, value, unit_ms)) if value >= 0 => value.saturating_mul(unit_ms),
            _ => -1,
        }
    }

    fn value(&self, name: &str) -> &Value {
        &self.0.get(name).value
    }

    fn optional_int(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Value::Int(number) => Some(*number),
            Value::Unset => None,
            other => wrong_type(name, other),
        }
    }

    fn int(&self, name: &str) -> i64 {
        self.optional_int(name)
            .unwrap_or_else(|| wrong_type(name, &Value::Unset))
    }

    fn i32(&self, name: &str) -> i32 {
        i32::try_from(self.int(name)).unwrap_or(i32::MAX)
    }

    fn u64(&self, name: &str) -> u64 {
        u64::try_from(self.int(name)).unwrap_or(0)
    }

    fn usize(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(usize::MAX)
    }

    fn duration(&self, name: &str) -> Duration {
        Duration::from_millis(self.u64(name))
    }

    fn bool(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Bool(value) => *value,
            other => wrong_type(name, other),
        }
    }

    fn optional_text(&self, name: &str) -> Option<String> {
        match self.value(name) {
            Value::Text(text) => Some(text.clone()),
            Value::Unset => None,
            other => wrong_type(name, other),
        }
    }

    fn text(&self, name: &str) -> String {
        self.optional_text(name)
            .unwrap_or_else(|| wrong_type(name, &Value::Unset))
    }

    fn path(&self, name: &str) -> PathBuf {
        match self.value(name) {
            Value::Path(path) => path.clone(),
            other => wrong_type(name, other),
        }
    }

    fn listen(&self, name: &str) -> Listen {
        match self.value(name) {
            Value::Listen(listen) => listen.clone(),
            other => wrong_type(name, other),
        }
    }

    fn levels(&self, name: &str) -> Targets {
        match self.value(name) {
            Value::Levels(levels) => levels.clone(),
            other => wrong_type(name, other),
        }
    }

    fn advertise(&self, name: &str) -> Option<Advertise> {
        match self.value(name) {
            Value::Advertise(address) => Some(address.clone()),
            Value::Unset => None,
            other => wrong_type(name, other),
        }
    }
}

#[expect(
    clippy::panic,
    reason = "a key read as a type that its table row does not have"
)]
fn wrong_type(name: &str, value: &Value) -> ! {
    panic!("{name} has another type than it is read as: {value:?}")
}

#[cfg(test)]
mod tests {
    use super::super::load::{Inputs, load};
    use super::*;

    fn config(set: &[&str]) -> NodeConfig {
        let set = set.iter().map(|s| (*s).to_owned()).collect();
        NodeConfig::new(
            &load(&Inputs {
                set,
                ..Inputs::default()
            })
            .expect("valid"),
        )
    }

    #[test]
    fn the_defaults_are_kafkas_where_kafka_has_them() {
        let config = config(&[]);
        assert_eq!(config.topics.retention_ms, 604_800_000);
        assert_eq!(config.topics.segment_ms, 604_800_000);
        assert_eq!(config.topics.segment_bytes, 1 << 30);
        assert_eq!(config.topics.max_message_bytes, 1_048_588);
        assert!(config.topics.sync);
        assert_eq!(config.partitions_default, 1);
        assert_eq!(config.log.dir, PathBuf::from("./millrace-data"));
        assert_eq!(config.cluster_id, None);
    }

    #[test]
    fn the_finer_unit_wins_and_minus_one_means_never() {
        let retention = |set: &[&str]| config(set).topics.retention_ms;
        assert_eq!(retention(&["log.retention.hours=2"]), 7_200_000);
        assert_eq!(
            retention(&["log.retention.hours=2", "log.retention.minutes=3"]),
            180_000
        );
        assert_eq!(
            retention(&["log.retention.minutes=3", "log.retention.ms=4"]),
            4
        );
        assert_eq!(retention(&["log.retention.hours=-1"]), -1);
        assert_eq!(config(&["log.roll.ms=5"]).topics.segment_ms, 5);
    }
    #[test]
    fn the_stronger_source_wins_over_the_finer_unit() {
        let topics = |environment: &[(&str, &str)], set: &[&str]| {
            let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
            let inputs = Inputs {
                environment: environment.iter().map(pair).collect(),
                set: set.iter().map(|s| (*s).to_owned()).collect(),
                ..Inputs::default()
            };
            NodeConfig::new(&load(&inputs).expect("valid")).topics
        };
        let in_ms = [
            ("MILLRACE_LOG__RETENTION__MS", "5"),
            ("MILLRACE_LOG__ROLL__MS", "5"),
        ];
        let weaker = topics(&in_ms, &[]);
        assert_eq!((weaker.retention_ms, weaker.segment_ms), (5, 5));
        let stronger = topics(&in_ms, &["log.retention.hours=1", "log.roll.hours=2"]);
        assert_eq!(stronger.retention_ms, 3_600_000);
        assert_eq!(stronger.segment_ms, 7_200_000);
        let finer = topics(
            &in_ms,
            &["log.retention.hours=1", "log.retention.minutes=1"],
        );
        assert_eq!(finer.retention_ms, 60_000);
    }
}

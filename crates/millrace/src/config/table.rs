//! The table of keys. A key stands here from the day on which it has an effect.

use types::limits;

use super::key::{Key, Kind, Scope, Unit};

const MIB: i64 = 1 << 20;
const I32_MAX: i64 = i32::MAX as i64;
/// What Kafka takes for "no limit".
const I64_MAX: i64 = i64::MAX;
const ENTRY_BYTES_MAX: i64 = limits::ENTRY_BYTES_MAX.cast_signed();
const LOG_FILE_BYTES_MIN: i64 = limits::LOG_FILE_BYTES_MIN.cast_signed();
const LOG_FILE_BYTES_MAX: i64 = limits::LOG_FILE_BYTES_MAX.cast_signed();

const fn node(name: &'static str, kind: Kind, unit: Unit, default: &'static str) -> Key {
    Key {
        name,
        kind,
        unit,
        default,
        scope: Scope::Node,
        dynamic: false,
        help: "",
    }
}

impl Key {
    const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    const fn topic(mut self, key: &'static str) -> Self {
        self.scope = Scope::TopicDefault(key);
        self
    }
}

const fn int(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

/// Every key, in the order in which people read them.
pub(crate) static KEYS: &[Key] = &[
    // Listeners.
    node("kafka.listen", Kind::Listen, Unit::None, "localhost:9092")
        .help("Where Kafka clients connect; localhost is both loopbacks, port 0 a free port."),
    node("kafka.advertise", Kind::Advertise, Unit::None, "")
        .help("Address that Kafka clients are told; unset: the one at which they reached us."),
    node("admin.listen", Kind::Listen, Unit::None, "localhost:9600")
        .help("Where health, readiness and status are served over HTTP."),
    node(
        "max.connections",
        int(1, I32_MAX),
        Unit::Count,
        "2147483647",
    )
    .help("Client connections that may be open at once, at most 3/4 of the open files allowed."),
    node(
        "connections.max.idle.ms",
        int(1_000, I64_MAX),
        Unit::Milliseconds,
        "600000",
    )
    .help("A connection on which nothing moves for this long is closed."),
    node(
        "socket.request.max.bytes",
        int(1_024, I32_MAX),
        Unit::Bytes,
        "104857600",
    )
    .help("Largest request that a client may send."),
    node(
        "queued.max.request.bytes",
        int(MIB, I64_MAX),
        Unit::Bytes,
        "134217728",
    )
    .help("Memory for Produce requests under way; beyond it producers wait."),
    node(
        "fetch.max.bytes",
        int(1_024, I32_MAX),
        Unit::Bytes,
        "57671680",
    )
    .help("Most record bytes in one answer to a fetch; one batch is always returned whole."),
    // The node.
    node("node.id", int(0, I32_MAX), Unit::None, "1").help("Number of this node in its cluster."),
    node("cluster.id", Kind::Text { max_bytes: 249 }, Unit::None, "")
        .help("Id that clients see; unset: one is made at the first start and kept."),
    node("log.level", Kind::Levels, Unit::None, "info").help("What is logged to standard error."),
    node(
        "log.format",
        Kind::Choice(&["auto", "text", "json"]),
        Unit::None,
        "auto",
    )
    .help("Form of log lines; auto: text on a terminal, JSON otherwise."),
    // Storage.
    node("log.dirs", Kind::Path, Unit::None, "./millrace-data")
        .help("Data directory, which holds everything that the node keeps."),
    node(
        "log.file.bytes",
        int(LOG_FILE_BYTES_MIN, LOG_FILE_BYTES_MAX),
        Unit::Bytes,
        "268435456",
    )
    .help("Size of a file of the log, at most 1/64 of the disk."),
    node(
        "log.unsealed.bytes",
        int(2 * LOG_FILE_BYTES_MIN, I64_MAX),
        Unit::Bytes,
        "2147483648",
    )
    .help("Log that may wait to be sealed, at most 1/8 of the disk; producers slow near it."),
    node("log.tail.bytes", int(MIB, I64_MAX), Unit::Bytes, "16777216")
        .help("Memory for the newest records, from which readers at the end are served."),
    node(
        "log.retention.check.interval.ms",
        int(1, I64_MAX),
        Unit::Milliseconds,
        "300000",
    )
    .help("How often expired data is looked for."),
    node(
        "producer.id.expiration.ms",
        int(1, I32_MAX),
        Unit::Milliseconds,
        "86400000",
    )
    .help("An idempotent producer that sends nothing for this long is forgotten."),
    // Topics.
    node("auto.create.topics.enable", Kind::Bool, Unit::None, "true")
        .help("Whether a topic is made when a client first asks for it."),
    node("delete.topic.enable", Kind::Bool, Unit::None, "true")
        .help("Whether topics can be deleted."),
    node(
        "num.partitions",
        int(1, limits::TOPIC_PARTITIONS_MAX as i64),
        Unit::Count,
        "1",
    )
    .help("Partitions of a topic that is made without a number."),
    node(
        "log.durability",
        Kind::Choice(&["sync", "async"]),
        Unit::None,
        "sync",
    )
    .topic("durability")
    .help("When producers are answered: sync, once the data is on disk; async, before."),
    node(
        "log.flush.interval.ms",
        int(1, I64_MAX),
        Unit::Milliseconds,
        "50",
    )
    .topic("flush.ms")
    .help("Longest time that records of an async topic stay unsynced, 50 at most."),
    node(
        "message.max.bytes",
        int(0, ENTRY_BYTES_MAX),
        Unit::Bytes,
        "1048588",
    )
    .topic("max.message.bytes")
    .help("Largest record batch, as compressed; none may have more than log.file.bytes / 4."),
    node(
        "compression.type",
        Kind::Choice(&["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"]),
        Unit::None,
        "producer",
    )
    .topic("compression.type")
    .help("Codec in which batches are stored; producer: as they came."),
    node(
        "log.message.timestamp.type",
        Kind::Choice(&["CreateTime", "LogAppendTime"]),
        Unit::None,
        "CreateTime",
    )
    .topic("message.timestamp.type")
    .help("Whose time a record carries: its producer's or the broker's."),
    node(
        "log.message.timestamp.before.max.ms",
        int(0, I64_MAX),
        Unit::Milliseconds,
        "9223372036854775807",
    )
    .topic("message.timestamp.before.max.ms")
    .help("Records older than this against the broker's clock are refused."),
    node(
        "log.message.timestamp.after.max.ms",
        int(0, I64_MAX),
        Unit::Milliseconds,
        "3600000",
    )
    .topic("message.timestamp.after.max.ms")
    .help("Records further in the future than this are refused."),
    node("log.retention.ms", int(-1, I64_MAX), Unit::Milliseconds, "")
        .topic("retention.ms")
        .help("Age at which records expire, -1 never; unset: log.retention.minutes says."),
    node("log.retention.minutes", int(-1, I32_MAX), Unit::Minutes, "")
        .topic("retention.ms")
        .help("As log.retention.ms, in minutes; unset: log.retention.hours says."),
    node("log.retention.hours", int(-1, I32_MAX), Unit::Hours, "168")
        .topic("retention.ms")
        .help("As log.retention.ms, in hours."),
    node("log.retention.bytes", int(-1, I64_MAX), Unit::Bytes, "-1")
        .topic("retention.bytes")
        .help("Size of a partition beyond which its oldest records expire; -1 for no limit."),
    node(
        "log.segment.bytes",
        int(MIB, I32_MAX),
        Unit::Bytes,
        "1073741824",
    )
    .topic("segment.bytes")
    .help("Has no effect: partitions share the files of the log."),
    node("log.roll.ms", int(1, I64_MAX), Unit::Milliseconds, "")
        .topic("segment.ms")
        .help("How late records may expire, at least an hour, at most an eighth of retention.ms."),
    node("log.roll.hours", int(1, I32_MAX), Unit::Hours, "168")
        .topic("segment.ms")
        .help("As log.roll.ms, in hours."),
];

/// The key of that name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{environment, foreign, value::Value};

    #[test]
    fn every_key_has_one_entry_with_help_and_a_valid_default() {
        let mut names = BTreeSet::new();
        for key in KEYS {
            assert!(names.insert(key.name), "{} stands twice", key.name);
            assert!(
                key.help.ends_with('.'),
                "{} lacks a sentence of help",
                key.name
            );
            assert!(
                key.help.len() <= 90,
                "the help of {} is longer than a line",
                key.name
            );
            let parsed = Value::parse(key, key.default);
            assert!(parsed.is_ok(), "default of {}: {parsed:?}", key.name);
        }
    }

    /// docs/decisions/0004-segment-settings.md.
    #[test]
    fn keys_without_an_effect_say_so() {
        let key = find("log.segment.bytes").expect("a key");
        let says = |help: &str| help.starts_with("Has no effect");
        assert!(says(key.help), "{}", key.help);
        let topic = broker::topic_config::find("segment.bytes").expect("a setting");
        assert!(says(topic.help), "{}", topic.help);
    }

    #[test]
    fn no_two_keys_share_a_variable() {
        let variables: BTreeSet<_> = KEYS
            .iter()
            .map(|key| environment::variable(key.name))
            .collect();
        assert_eq!(variables.len(), KEYS.len());
    }

    #[test]
    fn no_key_is_also_listed_as_foreign() {
        for key in KEYS {
            assert!(foreign::find(key.name).is_none(), "{} is both", key.name);
        }
    }

    #[test]
    fn numbers_carry_a_unit_where_their_name_says_one() {
        for key in KEYS {
            let expected = match key.name.rsplit('.').next() {
                Some("ms") => Unit::Milliseconds,
                Some("bytes") => Unit::Bytes,
                Some("hours") => Unit::Hours,
                Some("minutes") => Unit::Minutes,
                _ => continue,
            };
            assert_eq!(key.unit, expected, "{}", key.name);
        }
    }
}

//! The settings of one topic, ready for use.

use std::collections::BTreeMap;

use record::{Codec, Levels, TimestampType};

use super::{BrokerDefaults, find};

/// When a producer that wants an answer gets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Once its records are on disk.
    #[default]
    Sync,
    /// Once the operating system has them.
    Async,
}

/// The settings of one topic: its own over the broker's over the table's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSettings {
    /// `retention.ms`; `None` for ever.
    pub retention_ms: Option<i64>,
    /// `retention.bytes`, for each partition; `None` without limit.
    pub retention_bytes: Option<i64>,
    /// `segment.ms`.
    pub segment_ms: i64,
    /// `segment.bytes`.
    pub segment_bytes: u64,
    /// `max.message.bytes`.
    pub max_message_bytes: usize,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub after_max_ms: i64,
    /// `compression.type`; `None` keeps what the producer chose.
    pub codec: Option<Codec>,
    /// How hard the codecs try when a batch is packed anew.
    pub levels: Levels,
    /// `durability`.
    pub durability: Durability,
    /// `flush.ms`: bounds an async topic.
    pub flush_ms: i64,
    /// `flush.messages`: bounds an async topic; 1 on a sync one.
    pub flush_messages: i64,
    /// Whether `cleanup.policy` has `delete`: records expire, and `DeleteRecords` may.
    pub deletes: bool,
}

impl TopicSettings {
    /// The settings of a topic with these of its own. They were checked when they were decided;
    /// what another version wrote and this one cannot read counts as not set.
    #[must_use]
    pub fn resolve(overrides: &BTreeMap<String, String>, defaults: &BrokerDefaults) -> Self {
        let chain = Chain {
            overrides,
            defaults,
        };
        let durability = chain.durability();
        Self {
            retention_ms: chain.unless_negative("retention.ms"),
            retention_bytes: chain.unless_negative("retention.bytes"),
            segment_ms: chain.number("segment.ms"),
            segment_bytes: chain.unsigned("segment.bytes"),
            max_message_bytes: chain.unsigned("max.message.bytes"),
            timestamp_type: chain.timestamp_type(),
            before_max_ms: chain.number("message.timestamp.before.max.ms"),
            after_max_ms: chain.number("message.timestamp.after.max.ms"),
            codec: Codec::from_name(chain.value("compression.type")),
            levels: Levels {
                gzip: chain.int_or("compression.gzip.level", -1),
                zstd: chain.int_or("compression.zstd.level", 3),
            },
            durability,
            flush_ms: chain.number("flush.ms"),
            flush_messages: match durability {
                Durability::Sync => 1,
                Durability::Async => chain.number("flush.messages"),
            },
            deletes: true,
        }
    }
}

impl Default for TopicSettings {
    fn default() -> Self {
        Self::resolve(&BTreeMap::new(), &BrokerDefaults::default())
    }
}

/// Where a value comes from, first match first.
struct Chain<'a> {
    overrides: &'a BTreeMap<String, String>,
    defaults: &'a BrokerDefaults,
}

impl<'a> Chain<'a> {
    /// The value in force. Only names of the table are asked for; a test asks for all of them.
    fn value(&self, name: &str) -> &'a str {
        let Some(setting) = find(name) else { return "" };
        let own = self.overrides.get(name).map(String::as_str);
        let own = own.filter(|value| setting.kind.normalize(value).is_some());
        let broker = || self.defaults.get(name).map(|(_, value)| value);
        own.or_else(broker).unwrap_or(setting.default)
    }

    fn number(&self, name: &str) -> i64 {
        self.value(name).parse().unwrap_or_default()
    }

    fn unless_negative(&self, name: &str) -> Option<i64> {
        Some(self.number(name)).filter(|number| *number >= 0)
    }

    fn unsigned<T: TryFrom<i64> + Default>(&self, name: &str) -> T {
        T::try_from(self.number(name)).unwrap_or_default()
    }

    fn int_or(&self, name: &str, fallback: i32) -> i32 {
        i32::try_from(self.number(name)).unwrap_or(fallback)
    }

    fn timestamp_type(&self) -> TimestampType {
        match self.value("message.timestamp.type") {
            "LogAppendTime" => TimestampType::LogAppendTime,
            _ => TimestampType::CreateTime,
        }
    }

    fn durability(&self) -> Durability {
        match self.value("durability") {
            "async" => Durability::Async,
            _ => Durability::Sync,
        }
    }
}

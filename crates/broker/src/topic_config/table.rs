//! The table of settings. A setting has one entry, here.

use types::limits;

use super::{Accepted, ConfigError, Effect, Kind, Setting};

const I32_MAX: i64 = i32::MAX as i64;
const I64_MAX: i64 = i64::MAX;
/// Kafka 4.x refuses smaller segments, too.
const SEGMENT_BYTES_MIN: i64 = 1 << 20;
const ENTRY_BYTES_MAX: i64 = limits::ENTRY_BYTES_MAX.cast_signed();

const NO_COMPACTION: &str = "this version does not compact topics";
const ONE_NODE: &str = "this version runs on one node";
const NO_TIERS: &str = "this version has no remote tier";
const FORMAT_2_ONLY: &str = "records are stored in format 2 only";

const fn setting(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    Setting {
        name,
        kind,
        default,
        broker_key: "",
        effect: Effect::Honoured,
        help: "",
    }
}

impl Setting {
    const fn broker(mut self, key: &'static str) -> Self {
        self.broker_key = key;
        self
    }

    const fn fixed(mut self, allowed: &'static [&'static str], reason: &'static str) -> Self {
        self.effect = Effect::Fixed { allowed, reason };
        self
    }

    const fn ignored(mut self, reason: &'static str) -> Self {
        self.effect = Effect::Ignored { reason };
        self
    }

    const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }
}

const fn int(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

const fn long(min: i64) -> Kind {
    Kind::Long { min, max: I64_MAX }
}

/// Every setting of topics, by name.
pub static SETTINGS: &[Setting] = &[
    setting(
        "cleanup.policy",
        Kind::List(&["delete", "compact"]),
        "delete",
    )
    .broker("log.cleanup.policy")
    .fixed(&["delete"], NO_COMPACTION)
    .help("What happens to old records: delete."),
    setting(
        "compression.gzip.level",
        Kind::IntOr {
            other: -1,
            min: 1,
            max: 9,
        },
        "-1",
    )
    .broker("compression.gzip.level")
    .help("How hard gzip tries where batches are packed anew; -1 is 6."),
    setting("compression.lz4.level", int(1, 17), "9")
        .broker("compression.lz4.level")
        .fixed(&["9"], "LZ4 has one level here")
        .help("LZ4 has one level here."),
    setting(
        "compression.type",
        Kind::Choice(&["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"]),
        "producer",
    )
    .broker("compression.type")
    .help("Codec in which batches are stored; producer: as they came."),
    setting("compression.zstd.level", int(-131_072, 22), "3")
        .broker("compression.zstd.level")
        .help("How hard zstd tries where batches are packed anew."),
    setting("delete.retention.ms", long(0), "86400000")
        .broker("log.cleaner.delete.retention.ms")
        .fixed(&["86400000"], NO_COMPACTION)
        .help("Has no effect without compaction."),
    setting("durability", Kind::Choice(&["sync", "async"]), "sync")
        .broker("log.durability")
        .help("When producers are answered: sync, once the data is on disk; async, before."),
    setting("file.delete.delay.ms", long(0), "60000")
        .broker("log.segment.delete.delay.ms")
        .fixed(&["60000"], "a file is freed with its last reader")
        .help("Has no effect: a file is freed with its last reader."),
    setting("flush.messages", long(1), "9223372036854775807")
        .broker("log.flush.interval.messages")
        .help("Records of an async topic that ask for a sync together; a sync topic always has 1."),
    setting("flush.ms", long(0), "50")
        .broker("log.flush.interval.ms")
        .help(
            "Longest time that records of an async topic stay unsynced; more than 50 counts as 50.",
        ),
    setting(
        "follower.replication.throttled.replicas",
        Kind::List(&[]),
        "",
    )
    .fixed(&[""], ONE_NODE)
    .help("Has no effect on one node."),
    setting("index.interval.bytes", int(0, I32_MAX), "4096")
        .broker("log.index.interval.bytes")
        .fixed(&["4096"], "indexes are sized by the data")
        .help("Has no effect: indexes are sized by the data."),
    setting("leader.replication.throttled.replicas", Kind::List(&[]), "")
        .fixed(&[""], ONE_NODE)
        .help("Has no effect on one node."),
    setting("local.retention.bytes", long(-2), "-2")
        .broker("log.local.retention.bytes")
        .fixed(&["-2"], NO_TIERS)
        .help("Has no effect without a remote tier."),
    setting("local.retention.ms", long(-2), "-2")
        .broker("log.local.retention.ms")
        .fixed(&["-2"], NO_TIERS)
        .help("Has no effect without a remote tier."),
    setting("max.compaction.lag.ms", long(1), "9223372036854775807")
        .broker("log.cleaner.max.compaction.lag.ms")
        .fixed(&["9223372036854775807"], NO_COMPACTION)
        .help("Has no effect without compaction."),
    setting("max.message.bytes", int(0, ENTRY_BYTES_MAX), "1048588")
        .broker("message.max.bytes")
        .help("Largest record batch, as compressed; none may have more than log.file.bytes / 4."),
    // Kafka 3 knew these three and its tools still send them; Kafka 4 dropped them.
    setting("message.downconversion.enable", Kind::Bool, "true")
        .broker("log.message.downconversion.enable")
        .ignored(FORMAT_2_ONLY)
        .help("Has no effect: records are stored in format 2 only."),
    setting(
        "message.format.version",
        Kind::Text { max_bytes: 32 },
        "3.0-IV1",
    )
    .broker("log.message.format.version")
    .ignored(FORMAT_2_ONLY)
    .help("Has no effect: records are stored in format 2 only."),
    setting("message.timestamp.after.max.ms", long(0), "3600000")
        .broker("log.message.timestamp.after.max.ms")
        .help("Records further in the future than this are refused."),
    setting(
        "message.timestamp.before.max.ms",
        long(0),
        "9223372036854775807",
    )
    .broker("log.message.timestamp.before.max.ms")
    .help("Records older than this against the broker's clock are refused."),
    setting(
        "message.timestamp.difference.max.ms",
        long(0),
        "9223372036854775807",
    )
    .broker("log.message.timestamp.difference.max.ms")
    .ignored("see message.timestamp.before.max.ms and message.timestamp.after.max.ms")
    .help("Has no effect: message.timestamp.before.max.ms and after.max.ms took its place."),
    setting(
        "message.timestamp.type",
        Kind::Choice(&["CreateTime", "LogAppendTime"]),
        "CreateTime",
    )
    .broker("log.message.timestamp.type")
    .help("Whose time a record carries: its producer's or the broker's."),
    setting(
        "min.cleanable.dirty.ratio",
        Kind::Double { min: 0.0, max: 1.0 },
        "0.5",
    )
    .broker("log.cleaner.min.cleanable.ratio")
    .fixed(&["0.5"], NO_COMPACTION)
    .help("Has no effect without compaction."),
    setting("min.compaction.lag.ms", long(0), "0")
        .broker("log.cleaner.min.compaction.lag.ms")
        .fixed(&["0"], NO_COMPACTION)
        .help("Has no effect without compaction."),
    setting("min.insync.replicas", int(1, I32_MAX), "1")
        .broker("min.insync.replicas")
        .fixed(&["1"], ONE_NODE)
        .help("Replicas that must hold a record before acks=all is answered: 1 on one node."),
    // Both values are true of us: space is always allocated ahead, and nobody can tell.
    setting("preallocate", Kind::Bool, "false")
        .broker("log.preallocate")
        .fixed(
            &["false", "true"],
            "files of the log are always allocated ahead",
        )
        .help("Has no effect: files of the log are always allocated ahead."),
    setting("remote.log.copy.disable", Kind::Bool, "false")
        .fixed(&["false"], NO_TIERS)
        .help("Has no effect without a remote tier."),
    setting("remote.log.delete.on.disable", Kind::Bool, "false")
        .fixed(&["false"], NO_TIERS)
        .help("Has no effect without a remote tier."),
    setting("remote.storage.enable", Kind::Bool, "false")
        .fixed(&["false"], NO_TIERS)
        .help("Whether old records move to a remote tier; there is none."),
    setting("retention.bytes", long(-1), "-1")
        .broker("log.retention.bytes")
        .help("Size of a partition beyond which its oldest records expire; -1 for no limit."),
    setting("retention.ms", long(-1), "604800000")
        .broker("log.retention.ms")
        .help("Age at which records expire, by the broker's clock; -1 never."),
    setting(
        "segment.bytes",
        int(SEGMENT_BYTES_MIN, I32_MAX),
        "1073741824",
    )
    .broker("log.segment.bytes")
    .help("Has no effect: partitions share the files of the log."),
    setting("segment.index.bytes", int(4, I32_MAX), "10485760")
        .broker("log.index.size.max.bytes")
        .fixed(&["10485760"], "indexes are sized by the data")
        .help("Has no effect: indexes are sized by the data."),
    setting("segment.jitter.ms", long(0), "0")
        .broker("log.roll.jitter.ms")
        .fixed(&["0"], "files of the log are shared by all partitions")
        .help("Has no effect: files of the log are shared by all partitions."),
    setting("segment.ms", long(1), "604800000")
        .broker("log.roll.ms")
        .help("How late records may expire, at least an hour, at most an eighth of retention.ms."),
    setting("unclean.leader.election.enable", Kind::Bool, "false")
        .broker("unclean.leader.election.enable")
        .fixed(&["false"], ONE_NODE)
        .help("Has no effect on one node."),
];

/// The setting of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    let position = SETTINGS
        .binary_search_by(|setting| setting.name.cmp(name))
        .ok()?;
    SETTINGS.get(position)
}

/// Checks a setting and its value.
///
/// # Errors
///
/// There is no such setting, there is no value, or the value is none of the setting's.
pub fn accept(name: &str, value: Option<&str>) -> Result<Accepted, ConfigError> {
    let setting = find(name).ok_or_else(|| ConfigError::unknown(name))?;
    let value = value.ok_or(ConfigError::Null { name: setting.name })?;
    setting.accept(value)
}

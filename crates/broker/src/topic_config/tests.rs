use std::collections::{BTreeMap, BTreeSet};

use record::{Codec, Levels, TimestampType};

use super::*;

fn overrides(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn entry<'a>(entries: &'a [ConfigEntry], name: &str) -> &'a ConfigEntry {
    entries.iter().find(|entry| entry.name == name).expect(name)
}

#[test]
fn every_setting_has_one_entry_in_name_order_with_help_and_a_default_that_it_accepts() {
    let names: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    let sorted: Vec<_> = names
        .iter()
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    assert_eq!(names, sorted);
    for setting in SETTINGS {
        let accepted = setting.accept(setting.default).expect(setting.name);
        assert_eq!(accepted.value, setting.default, "{}", setting.name);
        assert_eq!(find(setting.name), Some(setting));
        assert!(
            setting.help.ends_with('.') && setting.help.len() <= 90,
            "{}",
            setting.name
        );
        if let Effect::Fixed { allowed, .. } = setting.effect {
            assert!(allowed.contains(&setting.default), "{}", setting.name);
        }
    }
}

#[test]
fn without_words_of_its_own_a_topic_has_kafkas_defaults() {
    let settings = TopicSettings::default();
    assert_eq!(
        settings,
        TopicSettings {
            retention_ms: Some(604_800_000),
            retention_bytes: None,
            segment_ms: 604_800_000,
            segment_bytes: 1 << 30,
            max_message_bytes: 1_048_588,
            timestamp_type: TimestampType::CreateTime,
            before_max_ms: i64::MAX,
            after_max_ms: 3_600_000,
            codec: None,
            levels: Levels::default(),
            durability: Durability::Sync,
            flush_ms: 50,
            flush_messages: 1,
            deletes: true,
        }
    );
}

#[test]
fn the_topic_wins_over_the_broker_and_the_broker_over_the_table() {
    let mut defaults = BrokerDefaults::default();
    defaults
        .set("retention.ms", "log.retention.ms", "1000")
        .unwrap();
    defaults
        .set("compression.type", "compression.type", "zstd")
        .unwrap();
    defaults
        .set("durability", "log.durability", "async")
        .unwrap();
    let own = overrides(&[
        ("retention.ms", "-1"),
        ("retention.bytes", "5"),
        ("segment.bytes", "2097152"),
        ("message.timestamp.type", "LogAppendTime"),
        ("compression.gzip.level", "9"),
        ("flush.messages", "7"),
        ("flush.ms", "20"),
    ]);
    let settings = TopicSettings::resolve(&own, &defaults);
    assert_eq!(settings.retention_ms, None);
    assert_eq!(settings.retention_bytes, Some(5));
    assert_eq!(settings.segment_bytes, 2 << 20);
    assert_eq!(settings.timestamp_type, TimestampType::LogAppendTime);
    assert_eq!(settings.codec, Some(Codec::Zstd));
    assert_eq!(settings.levels, Levels { gzip: 9, zstd: 3 });
    assert_eq!(settings.durability, Durability::Async);
    assert_eq!((settings.flush_ms, settings.flush_messages), (20, 7));
    let plain = TopicSettings::resolve(&BTreeMap::new(), &defaults);
    assert_eq!(plain.retention_ms, Some(1_000));
}

#[test]
fn uncompressed_and_producer_are_told_apart() {
    let codec = |value| {
        let own = overrides(&[("compression.type", value)]);
        TopicSettings::resolve(&own, &BrokerDefaults::default()).codec
    };
    assert_eq!(codec("producer"), None);
    assert_eq!(codec("uncompressed"), Some(Codec::None));
    assert_eq!(codec("gzip"), Some(Codec::Gzip));
    assert_eq!(codec("snappy"), Some(Codec::Snappy));
    assert_eq!(codec("lz4"), Some(Codec::Lz4));
}

#[test]
fn a_stored_value_that_cannot_be_read_counts_as_not_set() {
    let own = overrides(&[("retention.ms", "a week"), ("from.the.future", "1")]);
    let mut defaults = BrokerDefaults::default();
    defaults
        .set("retention.ms", "log.retention.ms", "1000")
        .unwrap();
    assert_eq!(
        TopicSettings::resolve(&own, &defaults).retention_ms,
        Some(1_000)
    );
    let entries = describe(&own, &defaults);
    assert_eq!(entry(&entries, "retention.ms").value, "1000");
    assert_eq!(
        entry(&entries, "retention.ms").source,
        ConfigSource::StaticBroker
    );
}

#[test]
fn values_are_stored_in_one_form() {
    let stored = |name, value| accept(name, Some(value)).map(|accepted| accepted.value);
    assert_eq!(stored("retention.ms", " 007 ").as_deref(), Ok("7"));
    assert_eq!(stored("preallocate", "TRUE").as_deref(), Ok("true"));
    assert_eq!(
        stored("cleanup.policy", " delete , delete").as_deref(),
        Ok("delete")
    );
    assert_eq!(
        stored("min.cleanable.dirty.ratio", "0.50").as_deref(),
        Ok("0.5")
    );
}

#[test]
fn a_refusal_names_setting_value_and_range() {
    let text = |name, value| accept(name, Some(value)).unwrap_err().to_string();
    assert_eq!(
        text("retention.ms", "-2"),
        "retention.ms is \"-2\", must be a whole number from -1 to 9223372036854775807"
    );
    assert_eq!(
        text("segment.bytes", "1048575"),
        "segment.bytes is \"1048575\", must be a whole number from 1048576 to 2147483647"
    );
    assert_eq!(
        text("compression.gzip.level", "0"),
        "compression.gzip.level is \"0\", must be -1 or a whole number from 1 to 9"
    );
    assert_eq!(
        text("compression.type", "brotli"),
        "compression.type is \"brotli\", must be one of producer, uncompressed, gzip, snappy, \
         lz4, zstd"
    );
    assert_eq!(
        text("cleanup.policy", "compact,delete"),
        "cleanup.policy is \"compact,delete\", only \"delete\" works here: this version does not \
         compact topics"
    );
    assert_eq!(
        text("retention.mss", "1"),
        "there is no topic setting retention.mss, did you mean retention.ms"
    );
    let null = accept("retention.ms", None).unwrap_err();
    assert_eq!(
        null,
        ConfigError::Null {
            name: "retention.ms"
        }
    );
    let long = text("retention.ms", &"9".repeat(10_000));
    assert!(long.len() < 300, "{long}");
}

#[test]
fn what_has_no_meaning_here_is_refused_unless_it_says_what_is_done_anyway() {
    for (name, value) in [
        ("min.insync.replicas", "2"),
        ("remote.storage.enable", "true"),
        ("unclean.leader.election.enable", "true"),
        ("delete.retention.ms", "1"),
        ("compression.lz4.level", "3"),
        ("cleanup.policy", ""),
        ("leader.replication.throttled.replicas", "0:1"),
    ] {
        let error = accept(name, Some(value)).unwrap_err();
        assert!(
            matches!(error, ConfigError::Unsupported { .. }),
            "{name}: {error}"
        );
    }
    for (name, value) in [
        ("min.insync.replicas", "1"),
        ("preallocate", "true"),
        ("flush.messages", "1"),
        ("leader.replication.throttled.replicas", ""),
    ] {
        assert_eq!(accept(name, Some(value)).unwrap().warning, None, "{name}");
    }
}

#[test]
fn what_old_tools_send_is_kept_with_a_warning_and_listed_only_then() {
    let accepted = accept("message.format.version", Some("2.8")).unwrap();
    assert_eq!(accepted.value, "2.8");
    assert_eq!(
        accepted.warning.map(|warning| warning.name),
        Some("message.format.version")
    );
    let defaults = BrokerDefaults::default();
    let is_listed = |own: &[(&str, &str)]| {
        describe(&overrides(own), &defaults)
            .iter()
            .any(|e| e.name == "message.format.version")
    };
    assert!(!is_listed(&[]));
    assert!(is_listed(&[("message.format.version", "2.8")]));
}

#[test]
fn a_sync_topic_reports_one_flush_message_and_an_async_one_its_own_number() {
    let defaults = BrokerDefaults::default();
    let reported = |own: &[(&str, &str)]| {
        let entries = describe(&overrides(own), &defaults);
        entry(&entries, "flush.messages").value.clone()
    };
    assert_eq!(reported(&[]), "1");
    assert_eq!(reported(&[("flush.messages", "500")]), "1");
    assert_eq!(reported(&[("durability", "async")]), "9223372036854775807");
    assert_eq!(
        reported(&[("durability", "async"), ("flush.messages", "500")]),
        "500"
    );
}

#[test]
fn synonyms_list_what_counts_more_first() {
    let mut defaults = BrokerDefaults::default();
    defaults
        .set("retention.ms", "log.retention.ms", "1000")
        .unwrap();
    let entries = describe(&overrides(&[("retention.ms", "5")]), &defaults);
    let found = entry(&entries, "retention.ms");
    assert_eq!(
        (found.value.as_str(), found.source),
        ("5", ConfigSource::Topic)
    );
    assert_eq!(
        (found.config_type, found.read_only, found.sensitive),
        (ConfigType::Long, false, false)
    );
    let synonyms: Vec<_> = found
        .synonyms
        .iter()
        .map(|s| (s.name.as_str(), s.value.as_str(), s.source))
        .collect();
    assert_eq!(
        synonyms,
        [
            ("retention.ms", "5", ConfigSource::Topic),
            ("log.retention.ms", "1000", ConfigSource::StaticBroker),
            ("log.retention.ms", "604800000", ConfigSource::Default),
        ]
    );
    let fixed = entry(&entries, "cleanup.policy");
    assert!(fixed.read_only);
    assert_eq!(
        (fixed.value.as_str(), fixed.source),
        ("delete", ConfigSource::Default)
    );
}

#[test]
fn every_setting_of_kafka_4_is_described() {
    let entries = describe(&BTreeMap::new(), &BrokerDefaults::default());
    let names: BTreeSet<_> = entries.iter().map(|entry| entry.name).collect();
    for name in [
        "cleanup.policy",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "follower.replication.throttled.replicas",
        "index.interval.bytes",
        "leader.replication.throttled.replicas",
        "local.retention.bytes",
        "local.retention.ms",
        "max.compaction.lag.ms",
        "max.message.bytes",
        "message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms",
        "message.timestamp.type",
        "min.cleanable.dirty.ratio",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "preallocate",
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "remote.storage.enable",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.jitter.ms",
        "segment.ms",
        "unclean.leader.election.enable",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

/// Those that say of themselves that nothing follows, and those of which one value is true.
#[test]
fn settings_without_an_effect_say_so() {
    let only_one_is_true = [
        "cleanup.policy",
        "compression.lz4.level",
        "min.insync.replicas",
        "remote.storage.enable",
    ];
    let kept_and_unread = ["segment.bytes"];
    for setting in SETTINGS {
        let has_effect =
            setting.effect == Effect::Honoured && !kept_and_unread.contains(&setting.name);
        let says_none = setting.help.starts_with("Has no effect");
        let is_plain = has_effect || only_one_is_true.contains(&setting.name);
        assert_eq!(says_none, !is_plain, "{}: {}", setting.name, setting.help);
    }
}

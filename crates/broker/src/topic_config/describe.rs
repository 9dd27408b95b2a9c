//! What `DescribeConfigs` and the like tell about a topic.

use std::collections::BTreeMap;

use super::{BrokerDefaults, ConfigType, Effect, SETTINGS, Setting};

/// Where a value comes from; the number is what `DescribeConfigs` sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigSource {
    /// The topic says so.
    Topic = 1,
    /// The node's configuration says so.
    StaticBroker = 4,
    /// Nobody says anything else.
    Default = 5,
}

impl ConfigSource {
    /// The number that `DescribeConfigs` sends.
    #[must_use]
    pub const fn number(self) -> i8 {
        self as i8
    }
}

/// A setting of a topic, as it is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Its name.
    pub name: &'static str,
    /// The value in force.
    pub value: String,
    /// Where the value comes from.
    pub source: ConfigSource,
    /// Everything that gives a value, what counts more first.
    pub synonyms: Vec<ConfigSynonym>,
    /// What values it takes.
    pub config_type: ConfigType,
    /// Whether no other value would be accepted.
    pub read_only: bool,
    /// Whether the value must not be shown; no setting of topics is secret.
    pub sensitive: bool,
    /// One line for people.
    pub documentation: &'static str,
}

/// Something that gives a setting a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSynonym {
    /// The topic's setting or the broker's.
    pub name: String,
    /// The value that it gives.
    pub value: String,
    /// Where it stands.
    pub source: ConfigSource,
}

/// All settings of a topic with these of its own, by name.
#[must_use]
pub fn describe(
    overrides: &BTreeMap<String, String>,
    defaults: &BrokerDefaults,
) -> Vec<ConfigEntry> {
    let is_shown = |s: &&Setting| s.is_listed() || overrides.contains_key(s.name);
    let mut entries: Vec<_> = SETTINGS
        .iter()
        .filter(is_shown)
        .map(|s| entry(s, overrides, defaults))
        .collect();
    report_sync(&mut entries);
    entries
}

fn entry(
    setting: &'static Setting,
    overrides: &BTreeMap<String, String>,
    defaults: &BrokerDefaults,
) -> ConfigEntry {
    let mut synonyms = Vec::new();
    let own = overrides
        .get(setting.name)
        .filter(|v| setting.kind.normalize(v).is_some());
    if let Some(value) = own {
        synonyms.push(synonym(setting.name, value, ConfigSource::Topic));
    }
    if let Some((key, value)) = defaults.get(setting.name) {
        synonyms.push(synonym(key, value, ConfigSource::StaticBroker));
    }
    if !setting.broker_key.is_empty() {
        synonyms.push(synonym(
            setting.broker_key,
            setting.default,
            ConfigSource::Default,
        ));
    }
    let (value, source) = synonyms.first().map_or_else(
        || (setting.default.to_owned(), ConfigSource::Default),
        |first| (first.value.clone(), first.source),
    );
    ConfigEntry {
        name: setting.name,
        value,
        source,
        synonyms,
        config_type: setting.kind.config_type(),
        read_only: matches!(setting.effect, Effect::Fixed { .. }),
        sensitive: false,
        documentation: setting.help,
    }
}

fn synonym(name: &str, value: &str, source: ConfigSource) -> ConfigSynonym {
    ConfigSynonym {
        name: name.to_owned(),
        value: value.to_owned(),
        source,
    }
}

/// A sync topic syncs every record before it answers, whatever `flush.messages` was set to, and
/// says so under the name by which tools look for it.
fn report_sync(entries: &mut [ConfigEntry]) {
    let is_sync = entries
        .iter()
        .any(|e| e.name == "durability" && e.value == "sync");
    if let Some(entry) = entries
        .iter_mut()
        .find(|e| is_sync && e.name == "flush.messages")
    {
        "1".clone_into(&mut entry.value);
    }
}

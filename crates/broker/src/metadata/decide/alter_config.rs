//! Changing the settings of a topic.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;
use types::ErrorKind;

use super::create_topic::check_configs;
use super::{Decision, TopicRef};
use crate::error::{EntryTooLarge, Stopped};
use crate::metadata::{MetadataEntry, MetadataView, TopicState};
use crate::topic_config::{
    self, BrokerDefaults, ConfigError, ConfigWarning, Kind, list_words, shortened,
};

/// Settings to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterConfigRequest {
    /// Of which topic.
    pub topic: TopicRef,
    /// What changes.
    pub change: ConfigChange,
}

/// What changes of a topic's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigChange {
    /// What is named changes, the rest stays (`IncrementalAlterConfigs`).
    Incremental(Vec<ConfigOp>),
    /// What is named is set, the rest is the broker's again (`AlterConfigs`); of several values
    /// for one the last counts.
    Replace(Vec<(String, Option<String>)>),
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOp {
    /// The setting.
    pub name: String,
    /// What to do.
    pub op: AlterOp,
    /// With what; not looked at by [`AlterOp::Delete`].
    pub value: Option<String>,
}

/// What to do with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterOp {
    /// Give it this value.
    Set,
    /// Let the broker say.
    Delete,
    /// Add words to a list.
    Append,
    /// Take words from a list.
    Subtract,
}

impl AlterOp {
    /// The operation with this number in `IncrementalAlterConfigs`.
    #[must_use]
    pub const fn from_number(number: i8) -> Option<Self> {
        match number {
            0 => Some(Self::Set),
            1 => Some(Self::Delete),
            2 => Some(Self::Append),
            3 => Some(Self::Subtract),
            _ => None,
        }
    }
}

/// Settings were not changed. Each variant names the Kafka error code that says the same.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AlterConfigError {
    /// `UNKNOWN_TOPIC_OR_PARTITION` (3).
    #[error("there is no topic {0}")]
    Unknown(TopicRef),
    /// `INVALID_REQUEST` (42).
    #[error("setting {0} stands twice")]
    Twice(String),
    /// `INVALID_REQUEST` (42).
    #[error("setting {0} needs a value")]
    Null(String),
    /// `INVALID_CONFIG` (40).
    #[error("{0} is not a list: nothing can be appended to it or subtracted from it")]
    NotAList(&'static str),
    /// `INVALID_CONFIG` (40).
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `POLICY_VIOLATION` (44).
    #[error(transparent)]
    TooLarge(#[from] EntryTooLarge),
    /// `KAFKA_STORAGE_ERROR` (56).
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl AlterConfigError {
    /// What the caller must do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown(_) => ErrorKind::NotFound,
            Self::Stopped(_) => ErrorKind::Fatal,
            Self::Twice(_)
            | Self::Null(_)
            | Self::NotAList(_)
            | Self::Config(_)
            | Self::TooLarge(_) => ErrorKind::Invalid,
        }
    }
}

/// Decides whether settings change. A change that changes nothing is an entry as well: its reply
/// comes after what made it so.
///
/// # Errors
///
/// They do not, and why.
pub fn decide_alter_config(
    view: MetadataView<'_>,
    request: &AlterConfigRequest,
    defaults: &BrokerDefaults,
) -> Result<Decision, AlterConfigError> {
    let AlterConfigRequest { topic, change } = request;
    let found = view
        .find(topic)
        .ok_or_else(|| AlterConfigError::Unknown(topic.clone()))?;
    let (set, warnings) = match change {
        ConfigChange::Incremental(ops) => incremental(&found, ops, defaults)?,
        ConfigChange::Replace(configs) => replace(&found, configs)?,
    };
    let entry = MetadataEntry::SetTopicConfigs { id: found.id, set };
    Ok(Decision { entry, warnings })
}

type Changes = (BTreeMap<String, Option<String>>, Vec<ConfigWarning>);

fn replace(
    topic: &TopicState,
    configs: &[(String, Option<String>)],
) -> Result<Changes, AlterConfigError> {
    if let Some((name, _)) = configs.iter().find(|(_, value)| value.is_none()) {
        return Err(AlterConfigError::Null(shortened(name)));
    }
    let (checked, warnings) = check_configs(configs)?;
    let mut set: BTreeMap<_, _> = topic
        .configs
        .keys()
        .map(|name| (name.clone(), None))
        .collect();
    set.extend(checked.into_iter().map(|(name, value)| (name, Some(value))));
    Ok((set, warnings))
}

fn incremental(
    topic: &TopicState,
    ops: &[ConfigOp],
    defaults: &BrokerDefaults,
) -> Result<Changes, AlterConfigError> {
    let mut names = BTreeSet::new();
    let mut set = BTreeMap::new();
    let mut warnings = Vec::new();
    for op in ops {
        if !names.insert(op.name.as_str()) {
            return Err(AlterConfigError::Twice(shortened(&op.name)));
        }
        let (name, value, warning) = changed(topic, op, defaults)?;
        // What nobody set need not be taken away, whether or not anybody here knows it.
        if value.is_some() || topic.configs.contains_key(&name) {
            set.insert(name, value);
        }
        warnings.extend(warning);
    }
    Ok((set, warnings))
}

type Changed = (String, Option<String>, Option<ConfigWarning>);

fn changed(
    topic: &TopicState,
    op: &ConfigOp,
    defaults: &BrokerDefaults,
) -> Result<Changed, AlterConfigError> {
    if op.op == AlterOp::Delete {
        return Ok((op.name.clone(), None, None));
    }
    let Some(value) = op.value.as_deref() else {
        return Err(AlterConfigError::Null(shortened(&op.name)));
    };
    let accepted = match op.op {
        AlterOp::Append | AlterOp::Subtract => {
            let list = listed(topic, op, value, defaults)?;
            topic_config::accept(&op.name, Some(&list))?
        }
        AlterOp::Set | AlterOp::Delete => topic_config::accept(&op.name, Some(value))?,
    };
    Ok((op.name.clone(), Some(accepted.value), accepted.warning))
}

/// The list in force with words added or taken away.
fn listed(
    topic: &TopicState,
    op: &ConfigOp,
    value: &str,
    defaults: &BrokerDefaults,
) -> Result<String, AlterConfigError> {
    let setting = topic_config::find(&op.name).ok_or_else(|| ConfigError::unknown(&op.name))?;
    if !matches!(setting.kind, Kind::List(_)) {
        return Err(AlterConfigError::NotAList(setting.name));
    }
    setting.check_length(value)?;
    let own = topic.configs.get(&op.name).map(String::as_str);
    let broker = || defaults.get(&op.name).map(|(_, value)| value);
    let current = own.or_else(broker).unwrap_or(setting.default);
    let mut words: Vec<&str> = list_words(current).collect();
    match op.op {
        AlterOp::Subtract => {
            let gone: BTreeSet<_> = list_words(value).collect();
            words.retain(|word| !gone.contains(word));
        }
        AlterOp::Append | AlterOp::Set | AlterOp::Delete => words.extend(list_words(value)),
    }
    Ok(words.join(","))
}

//! What the Kafka front end gets of the configuration.

use kafka::{Advertised, BrokerSetting, KafkaConfig, SettingSource, SettingType};

use crate::config::{Kind, NodeConfig, Setting, Settings, Source};

/// The front end's settings, and all settings for `DescribeConfigs` of the broker.
pub(super) fn config(config: &NodeConfig, settings: &Settings) -> KafkaConfig {
    let advertised = config.kafka_advertise.as_ref();
    KafkaConfig {
        connections_max: config.connections_max,
        idle_max: config.connection_idle_max,
        request_bytes_max: config.request_bytes_max,
        fetch_bytes_max: config.fetch_bytes_max,
        advertised: advertised.map(|a| Advertised {
            host: a.host.clone(),
            port: a.port,
        }),
        broker_settings: settings.iter().map(setting).chain(facts(config)).collect(),
    }
}

/// What no setting says, because it cannot be otherwise here; tools ask for it.
fn facts(config: &NodeConfig) -> impl Iterator<Item = BrokerSetting> {
    let node_id = config.node_id.to_string();
    let facts = [
        ("broker.id", node_id, "The node's id, as `node.id`."),
        (
            "default.replication.factor",
            "1".to_owned(),
            "Replicas of a topic that is made without saying how many.",
        ),
        (
            "min.insync.replicas",
            "1".to_owned(),
            "Replicas that must have a record before it is confirmed.",
        ),
    ];
    facts.into_iter().map(|(name, value, help)| BrokerSetting {
        name: name.to_owned(),
        value: Some(value.clone()),
        default: Some(value),
        source: SettingSource::Default,
        setting_type: SettingType::Int,
        sensitive: false,
        documentation: help.to_owned(),
    })
}

fn setting(setting: &Setting) -> BrokerSetting {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    BrokerSetting {
        name: setting.key.name.to_owned(),
        value: some(&setting.text),
        default: some(setting.key.default),
        source: match setting.source {
            Source::Default => SettingSource::Default,
            Source::File { .. } | Source::Environment(_) | Source::Flag(_) => SettingSource::Static,
        },
        setting_type: match setting.key.kind {
            Kind::Bool => SettingType::Boolean,
            Kind::Int { max, .. } if max <= i64::from(i32::MAX) => SettingType::Int,
            Kind::Int { .. } => SettingType::Long,
            Kind::Path | Kind::Listen => SettingType::List,
            Kind::Choice(_) | Kind::Text { .. } | Kind::Advertise | Kind::Levels => {
                SettingType::String
            }
        },
        sensitive: false,
        documentation: setting.key.help.to_owned(),
    }
}

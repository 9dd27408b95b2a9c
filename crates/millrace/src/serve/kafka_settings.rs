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
        broker_settings: settings.iter().map(setting).collect(),
    }
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
            Kind::Paths | Kind::Listen => SettingType::List,
            Kind::Choice(_) | Kind::Text { .. } | Kind::Advertise | Kind::Levels => {
                SettingType::String
            }
        },
        sensitive: false,
        documentation: setting.key.help.to_owned(),
    }
}

//! What the broker says for topics that say nothing.

use std::collections::BTreeMap;

use super::{ConfigError, accept};

/// The defaults of topics as the node's configuration sets them. Without entries they are those
/// of the table, which are Kafka's where Kafka has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokerDefaults {
    values: BTreeMap<&'static str, BrokerValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BrokerValue {
    broker_key: String,
    value: String,
}

impl BrokerDefaults {
    /// Takes a default that the configuration names: the topic's setting, the broker's key that
    /// gave it, and the value in the unit of the topic's setting.
    ///
    /// # Errors
    ///
    /// The topic's setting would refuse the value.
    pub fn set(&mut self, name: &str, broker_key: &str, value: &str) -> Result<(), ConfigError> {
        let accepted = accept(name, Some(value))?;
        let value = BrokerValue {
            broker_key: broker_key.to_owned(),
            value: accepted.value,
        };
        self.values.insert(accepted.name, value);
        Ok(())
    }

    /// The broker's key and value for a topic's setting, if the configuration names one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(&str, &str)> {
        let found = self.values.get(name)?;
        Some((&found.broker_key, &found.value))
    }
}

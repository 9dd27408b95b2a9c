//! The Kafka wire protocol: codec and handlers.

mod config;
mod server;
pub mod wire;

pub use config::{Advertised, BrokerSetting, KafkaConfig, SettingSource, SettingType};
pub use server::Server;

//! The Kafka wire protocol: codec and handlers.
//!
//! [`wire`] turns bytes into messages and back, [`Server`] accepts connections, reads frames and
//! writes answers in order, and the handlers, one file per API, translate between messages and
//! [`broker::Broker`]. Nothing is stored or cached here.

mod config;
mod error_code;
mod handlers;
mod server;
pub mod wire;

pub use config::{Advertised, BrokerSetting, KafkaConfig, SettingSource, SettingType};
pub use server::{OpenCount, Server};

//! The settings of a topic: one table, and what follows from it.
//!
//! The names are Kafka's where Kafka has one. A value is checked before it goes into the log, so
//! [`TopicSettings::resolve`] reads stored values without failing. A setting that has no meaning
//! here is refused with the reason, unless the value asks for what is done anyway
//! ([`Effect::Fixed`]) or old tools send it on their own ([`Effect::Ignored`]).

mod defaults;
mod describe;
mod error;
mod kind;
mod nearest;
mod setting;
mod settings;
mod table;

#[cfg(test)]
mod tests;

pub use defaults::BrokerDefaults;
pub use describe::{ConfigEntry, ConfigSource, ConfigSynonym, describe};
pub(crate) use error::shortened;
pub use error::{ConfigError, ConfigWarning};
pub(crate) use kind::list_words;
pub use kind::{ConfigType, Kind};
pub use setting::{Accepted, Effect, Setting};
pub use settings::{Durability, TopicSettings};
pub use table::{SETTINGS, accept, find};

//! The Kafka wire protocol: codec and handlers.

pub mod wire;

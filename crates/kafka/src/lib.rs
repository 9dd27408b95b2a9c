//! The Kafka wire protocol: codec and handlers.

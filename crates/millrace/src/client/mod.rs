//! A small client of the Kafka protocol.

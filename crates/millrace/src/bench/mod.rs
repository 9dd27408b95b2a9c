//! Load generation against any Kafka broker.

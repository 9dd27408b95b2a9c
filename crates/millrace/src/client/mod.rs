//! A small client of the Kafka protocol that works against any broker.
//!
//! - [`Connection`]: one socket, versions negotiated, requests pipelined and answered in order;
//! - [`Client`]: a cluster: metadata, a connection per broker, requests sent to the leader;
//! - `admin`, `offsets`, `fetch`, `produce`: what the commands need, over a [`Client`].
//!
//! It has no retries of its own beyond waiting for a leader: commands are run by people, who can
//! run them again, and `bench` must not hide what it measures.

mod admin;
mod cluster;
mod connection;
mod error;
mod fetch;
mod murmur2;
mod offsets;
mod produce;
mod versions;

pub(crate) use admin::{ConfigChange, NewTopic};
pub(crate) use cluster::Client;
pub(crate) use connection::{CLIENT_ID, Connection, Reply};
pub(crate) use error::ClientError;
#[cfg(test)]
pub(crate) use fetch::tests as fetch_tests;
pub(crate) use fetch::{FetchLimits, batches, fetch, fetch_request, next_position};
pub(crate) use murmur2::partition_of_key;
pub(crate) use offsets::{EARLIEST, LATEST, by_leader};
pub(crate) use produce::{Producer, base_offset, send_batch};

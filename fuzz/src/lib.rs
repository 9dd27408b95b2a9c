//! The properties that the fuzz targets check, one module per layer. Tests replay the corpora
//! through the same modules: `crates/kafka/tests/wire_hostile.rs` those of the Kafka codec,
//! `crates/broker/tests/corpora` all others.

pub mod allocated;
pub mod checkpoint;
pub mod fields;
pub mod kafka_wire;
pub mod log_directory;
pub mod log_file_header;
pub mod log_frame;
pub mod metadata;
pub mod packed;
pub mod record_batch;
pub mod segment;
pub mod source;

//! The Kafka wire protocol, without I/O: bytes to messages and back, both directions.
//!
//! [`decode_any_request`] and [`encode_response`] are what a broker needs; [`encode_request`] and
//! [`decode_response`] are their counterparts for clients. The layout of each message stands in
//! `messages`, one file per API, each field written once; the table of APIs and versions stands in
//! `api.rs`.
//!
//! Invariants:
//! - **W1** decoding is total: any bytes give a message or an error, never a panic.
//! - **W2** no count is trusted: it is checked against the bytes left before anything is allocated
//!   for it, and all memory of one message is bounded ([`types::limits::KAFKA_DECODED_BYTES_MAX`]).
//! - **W3** record bytes are not copied: requests refer to the frame, responses to what they are
//!   given, unless a piece is so small that a copy is cheaper.
//! - **W4** null and empty stay apart.
#![deny(clippy::indexing_slicing)]

mod api;
mod chunks;
mod decode_error;
mod encode_error;
mod error_code;
mod format;
mod header;
mod malformed;
pub mod messages;
mod reader;
mod records;
mod request;
mod response;
#[cfg(test)]
mod sample;
mod structure;
#[cfg(test)]
mod tests;
mod wire_type;
mod writer;

pub use api::ApiKey;
pub use chunks::Chunks;
pub use decode_error::DecodeError;
pub use encode_error::EncodeError;
pub use error_code::ErrorCode;
pub use format::Format;
pub use header::RequestHeader;
pub use malformed::Malformed;
pub use reader::Reader;
pub use records::Records;
pub use request::{ApiRequest, Request, decode_any_request, encode_any_request, encode_request};
pub use response::{
    ApiResponse, Response, decode_any_response, decode_response, encode_any_response,
    encode_response,
};
use structure::wire_field;
pub use wire_type::{Nullable, Wire};
pub use writer::{Tags, Writer};

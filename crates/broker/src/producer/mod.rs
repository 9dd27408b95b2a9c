//! Idempotent producers (KIP-98): which batches of a partition are new, which were sent before,
//! which do not fit.
//!
//! Applied state changes by entries alone: [`ProducerStates::apply`] looks at nothing but state and
//! entry. Beside it stands what is decided and not applied, so that a batch sent again while the
//! first is under way is found, together with the place in the log that its answer must wait for.
//! docs/formats/partition-row.md tells the bytes.

mod batches;
mod error;
mod pending;
mod states;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use error::ProducerError;
pub use states::{ProducerStates, Verdict};

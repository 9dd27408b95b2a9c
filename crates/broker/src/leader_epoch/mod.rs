//! Which leader epoch wrote which offsets of a partition (KIP-101).
//!
//! docs/formats/partition-row.md tells the bytes.

mod history;

#[cfg(test)]
mod tests;

pub use history::EpochHistory;

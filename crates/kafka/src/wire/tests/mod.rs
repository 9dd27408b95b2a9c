//! Tests of the whole codec. Hostile bytes have theirs in `tests/`, beside the crate.

mod debug_tree;
mod frames;
mod oracle;
mod seeds;

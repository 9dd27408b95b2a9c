//! Tests of the whole codec.

mod debug_tree;
mod oracle;

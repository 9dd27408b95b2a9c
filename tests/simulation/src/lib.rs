//! Power cuts, faults and restarts of the shipped engine.
//!
//! Owner, writer, syncer, background and recovery are those of the product; only the disk
//! ([`disk::SimDisk`]), the clocks, chance and the executor differ: [`World`] steps everything on
//! one thread, in an order that the seed decides. [`Model`](model::Model) is the oracle: what replies
//! confirmed and readers saw must be there after every restart, and nothing that was deleted.

pub mod batch;
pub mod calm;
pub mod client;
mod failure;
pub mod files;
pub mod model;
pub mod probe;
pub mod producer;
pub mod requests;
pub mod seen;
pub mod setup;
pub mod summary;
pub mod world;

pub use failure::Failure;
pub use summary::Summary;
pub use world::World;

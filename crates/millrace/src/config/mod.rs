//! Configuration: one flat key space, described once in [`table`], filled from flags, environment,
//! file and defaults in that precedence.
//!
//! - **I1** a key has one entry in the table; parser, `millrace config` and the reference page
//!   come from it.
//! - **I2** loading collects every fault before it gives up, each with setting, value, allowed
//!   range and source.
//! - **I3** what comes out is plain data ([`NodeConfig`]); nothing else reads file or environment.

mod environment;
mod fault;
mod file;
mod foreign;
mod key;
mod listen;
mod load;
mod node;
mod reference;
mod source;
mod suggest;
mod table;
mod value;

pub(crate) use key::Kind;
pub(crate) use listen::{Endpoint, Host, Listen};
pub(crate) use load::{Inputs, Setting, Settings, load};
pub(crate) use node::NodeConfig;
pub(crate) use reference::reference;
pub(crate) use source::Source;

//! The HTTP API on the admin listener: health, readiness, status.
//!
//! It knows nothing of storage or protocols: whoever wires the node gives it a [`StatusSource`].
//!
//! - **I1** `GET /health/live` answers 200 as long as the process serves requests at all.
//! - **I2** `GET /health/ready` answers 200 only while clients are served and records can be produced,
//!   else 503 with the reason.
//! - **I3** every answer is made from state in memory; no request waits for the log or the disk.
//! - **I4** a connection carries one request and ends within [`Bounds::connection`], whatever its
//!   client does; no more than [`Bounds::connections_max`] are open on one listener.
#![warn(missing_docs)]

mod bounded;
mod router;
mod server;
mod status;

pub use bounded::Bounds;
pub use router::router;
pub use server::{serve, serve_within};
pub use status::{Damage, Listener, LogStatus, Status, StatusSource};

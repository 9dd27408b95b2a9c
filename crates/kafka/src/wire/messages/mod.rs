//! The messages, one file per API.

mod api_versions;
mod create_topics;
mod fetch;
mod init_producer_id;
mod leader;
mod list_offsets;
mod metadata;
mod produce;

pub use api_versions::*;
pub use create_topics::*;
pub use fetch::*;
pub use init_producer_id::*;
pub use leader::*;
pub use list_offsets::*;
pub use metadata::*;
pub use produce::*;

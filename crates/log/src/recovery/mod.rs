//! Recovery: from the newest good checkpoint and the log after it to a log that goes on.
//!
//! 1. [`FoundFiles`]: read the headers of the log files, those aside that were sealed before the
//!    replay begins.
//! 2. [`chain()`]: order the live ones from the oldest unsealed file on.
//! 3. [`survey()`]: find where the last file ends, and whether that is a torn tail or damage.
//! 4. [`replay()`]: hand the entries to the state above.
//! 5. [`rewrite()`]: put what is not proven synced into a new file, synced.

mod files;
mod replay;
mod rewrite;
mod scan;
mod survey;

pub use files::{BrokenFile, ChainedFile, FoundFiles, chain};
pub use replay::{Replay, ReplayFrom, replay};
pub use rewrite::{Continuation, rewrite};
pub use scan::{FrameAt, read_header, read_payload};
pub use survey::{Damage, Survey, lost_files, survey};

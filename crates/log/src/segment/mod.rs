//! Segments: log files that are sealed. docs/formats/segment-footer.md and swap-entry.md tell the
//! bytes.
//!
//! A [`Sealer`] writes a footer beside a log file: a directory of partitions, their extents as
//! offset and time index, a CRC per block. It has them from a [`FooterDraft`] that was kept while the file
//! was written, or else reads the file once. [`SegmentInfo`] is what the directory
//! of the node keeps of it, [`SwapEntry`] how the log tells of it, [`Segment`] the open handle.

mod block_crcs;
mod cache;
mod collect;
mod dead;
mod extent;
mod footer;
mod footer_draft;
mod footer_header;
mod footer_writer;
mod format;
mod handle;
mod hole;
mod info;
mod rebuild;
mod row;
mod scan;
mod sealer;
mod section;
mod swap;
mod verify;

pub use cache::ExtentCache;
pub use collect::{IsDead, Totals};
pub use dead::dead_ranges;
pub use extent::{Extent, find, find_by_time};
pub use footer::{Footer, parse_footer};
pub use footer_draft::FooterDraft;
pub use footer_header::FooterHeader;
pub use format::{EXTENT_BYTES, MAGIC, ROW_BYTES, SECTION_BYTES, VERSION};
pub use handle::Segment;
pub use hole::Hole;
pub use info::{Class, DataFile, FOLDER, FooterFile, SegmentInfo, footer_name};
pub use row::{Codecs, DirectoryRow, SecondPlace};
pub use sealer::{SealStep, Sealer};
pub use section::{Coverage, Field, Section, SectionKind};
pub use swap::SwapEntry;
pub use verify::{SegmentDamage, Verifier, VerifyReport, VerifyStep};

#[cfg(test)]
mod tests;

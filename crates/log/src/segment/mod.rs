//! Segments: log files that are sealed. docs/formats/segment-footer.md and swap-entry.md tell the
//! bytes.

mod extent;
mod format;
mod info;
mod row;
mod swap;

pub use extent::{Extent, find, find_by_time};
pub use format::{EXTENT_BYTES, MAGIC, ROW_BYTES, SECTION_BYTES, VERSION};
pub use info::{Class, DataFile, FOLDER, FooterFile, SegmentInfo, footer_name};
pub use row::{Codecs, DirectoryRow, SecondPlace};
pub use swap::SwapEntry;

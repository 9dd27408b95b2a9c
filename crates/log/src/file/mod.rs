//! Log files: headers, spares, and the steps that write and sync them.
//! docs/formats/log-file.md tells the bytes.

mod header;
mod log_file;
mod lost;
mod spare;
mod writer;

pub use header::{FileHeader, FileState, HEADER_BYTES, MAGIC, Predecessor, VERSION};
pub use log_file::LogFile;
pub(crate) use lost::LostFile;
pub(crate) use spare::name_number;
pub use spare::{Provisioner, Spare};
pub use writer::{Writer, WriterStep};

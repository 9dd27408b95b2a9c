//! The properties that the fuzz targets check, one module per decoder. Tests replay the corpora
//! through the same modules.

pub mod kafka_wire;

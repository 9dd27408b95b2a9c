//! The footer of a log file while the file is being written: what a sealer would gather by reading it.

use std::path::Path;

use smallvec::SmallVec;

use super::block_crcs::BlockCrcs;
use super::collect::Collector;
use super::scan::{Outcome, Visitor};
use crate::error::Error;
use crate::file::HEADER_BYTES;
use crate::frame::{Frame, FrameHeader, PlacedHeader};

/// What is known of the frames of a log file because they were just written. With it a file that
/// never passed through the page cache is sealed without being read.
#[derive(Debug)]
pub struct FooterDraft {
    pub(super) collector: Collector,
    blocks: BlockCrcs,
}

impl FooterDraft {
    /// The draft of a file without frames.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            collector: Collector::new(path, Box::new(|_| false)),
            blocks: BlockCrcs::new(HEADER_BYTES),
        }
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not follow the one before: there is no draft then.
    pub fn add(&mut self, frame: &Frame) -> Result<(), Error> {
        let collector = &mut self.collector;
        collector.frame(&FrameHeader {
            number: frame.number,
            synced: frame.number,
            position: frame.position,
            frame_bytes: frame.frame_bytes,
            entries: Vec::new(),
        })?;
        for entry in &frame.entries {
            let placed = PlacedHeader {
                header: entry.header,
                position: entry.position,
                payload_bytes: entry.payload_bytes,
                payload_crc: entry.payload_crc,
            };
            let from = usize::try_from(entry.position - frame.position).unwrap_or(usize::MAX);
            let to = from.saturating_add(record::HEADER_BYTES.min(entry.payload_bytes as usize));
            let head = frame.bytes.get(from..to).unwrap_or_default();
            collector.payload(&placed, Outcome::Good, head)?;
        }
        let mut ended: SmallVec<[u32; 32]> = SmallVec::new();
        self.blocks.add(&frame.bytes, |crc| ended.push(crc));
        ended.into_iter().try_for_each(|crc| collector.block(crc))
    }

    /// The end of the frames is reached: what a sealer gathers.
    pub(super) fn finish(self) -> Collector {
        let mut collector = self.collector;
        collector.block_crcs.extend(self.blocks.rest());
        collector
    }
}

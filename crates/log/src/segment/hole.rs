//! What of a partition a segment has lost.

use types::{Offset, PartitionId};

use super::extent::Extent;
use super::handle::Segment;
use super::row::DirectoryRow;
use crate::error::Corruption;

/// Offsets of one partition that a segment should hold and cannot give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The first of them.
    pub first_offset: Offset,
    /// The offset after the last.
    pub end_offset: Offset,
    /// Some batches in between can be read, and whoever reads is told which: those that are marked
    /// in the footer. Else nothing in between can be.
    pub is_marked: bool,
    /// What is damaged, and where.
    pub corruption: Corruption,
}

impl Segment {
    /// What is lost of a partition, as far as the length of the data file and the marks in the
    /// footer tell. Reads the footer only where something is lost.
    #[must_use]
    pub fn hole(&self, partition: PartitionId) -> Option<Hole> {
        let row = self.row(partition)?;
        match self.fault() {
            Some(fault) => self.unreadable(row, fault),
            None if row.damaged => Some(self.marked(row)),
            None => None,
        }
    }

    /// The extents that end behind what is left of the data file.
    fn unreadable(&self, row: &DirectoryRow, fault: &Corruption) -> Option<Hole> {
        let whole = Hole {
            first_offset: row.first_offset,
            end_offset: row.end_offset,
            is_marked: false,
            corruption: fault.clone(),
        };
        if fault.position == 0 {
            return Some(whole);
        }
        let Ok(extents) = self.stored_extents(row.partition) else {
            return Some(whole);
        };
        let is_lost = |extent: &&Extent| !extent.dead && extent.end_position() > fault.position;
        let first = extents.iter().find(is_lost)?;
        Some(Hole {
            first_offset: first.base_offset,
            ..whole
        })
    }

    fn marked(&self, row: &DirectoryRow) -> Hole {
        let extents = self.stored_extents(row.partition).unwrap_or_default();
        let mut marked = extents.iter().filter(|extent| extent.damaged);
        let first = marked.next();
        let last = marked.next_back().or(first);
        let position = first.map_or(0, |extent| extent.position);
        Hole {
            first_offset: first.map_or(row.first_offset, |extent| extent.base_offset),
            end_offset: last.map_or(row.end_offset, |extent| extent.end_offset),
            is_marked: true,
            corruption: Corruption {
                path: self.data_path(),
                position,
                what: "records",
                expected: "the bytes that were appended".to_owned(),
                found: "other bytes, when the file was sealed".to_owned(),
            },
        }
    }
}

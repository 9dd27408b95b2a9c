//! Writing a footer, step by step.

use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, File};
use types::limits::JOB_STEP_BYTES;

use super::collect::Run;
use super::footer_header::{FooterHeader, header_bytes};
use super::format::{BLOCK_CRC_BYTES, EXTENT_BYTES, ROW_BYTES};
use super::info::{FOLDER, SegmentInfo, footer_name, unfinished_name};
use super::section::{Coverage, Field, Section, SectionKind};
use crate::error::Error;

/// Sections of this version.
const SECTIONS: usize = 3;

/// Where the next piece comes from.
#[derive(Clone, Copy, Debug)]
enum Cursor {
    /// An extent of a run.
    Extents { run: usize, extent: usize },
    /// The directory row of a run.
    Directory { run: usize },
    /// A block CRC.
    BlockCrcs { block: usize },
    /// The header.
    Header,
    /// Nothing: it can be given its name.
    End,
}

/// Writes the footer of one segment under a temporary name and gives it its name in the end.
#[derive(Debug)]
pub(super) struct FooterWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    file: Option<Arc<dyn File>>,
    header: FooterHeader,
    runs: Vec<Run>,
    block_crcs: Vec<u32>,
    cursor: Cursor,
    position: u64,
}

impl FooterWriter {
    /// A footer of `runs`, which are sorted by partition. Totals and sections of the header are
    /// filled in here.
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        dir: &Path,
        mut header: FooterHeader,
        mut runs: Vec<Run>,
        block_crcs: Vec<u32>,
    ) -> Self {
        let start = header_bytes(header.data.name.len(), SECTIONS) as u64;
        let (mut ordinal, mut position) = (0, start);
        for run in &mut runs {
            run.row.first_ordinal = ordinal;
            run.row.extents_position = position;
            run.row.extents = u32::try_from(run.extents.len()).unwrap_or(u32::MAX);
            ordinal += run.row.records;
            position += run.row.extents_bytes();
            header.stored_bytes += run.row.stored_bytes;
        }
        header.records = ordinal;
        header.partitions = runs.len() as u64;
        let mut sections = Sections {
            next: start,
            table: Vec::with_capacity(SECTIONS),
        };
        let extents = runs.iter().map(|run| run.extents.len()).sum();
        sections.add(
            Field::OFFSET_AND_TIME,
            SectionKind::SORTED_ROWS,
            EXTENT_BYTES,
            extents,
        );
        sections.add(
            Field::PARTITION,
            SectionKind::SORTED_ROWS,
            ROW_BYTES,
            runs.len(),
        );
        sections.add(
            Field::DATA,
            SectionKind::BLOCK_CRCS,
            BLOCK_CRC_BYTES,
            block_crcs.len(),
        );
        header.footer_bytes = sections.next;
        header.sections = sections.table;
        Self {
            disk,
            dir: dir.to_path_buf(),
            file: None,
            header,
            runs,
            block_crcs,
            cursor: Cursor::Extents { run: 0, extent: 0 },
            position: start,
        }
    }

    /// Writes and syncs one step's bytes; gives the segment when the footer is whole, durable and
    /// has its name.
    pub(super) fn step(&mut self) -> Result<Option<SegmentInfo>, Error> {
        if let Cursor::End = self.cursor {
            return self.publish().map(Some);
        }
        let file = self.open()?;
        let at = self.position;
        let (bytes, at) = match self.next_piece() {
            Some(bytes) => (bytes, at),
            None => (self.header.encode(), 0),
        };
        file.write_at(&[IoSlice::new(&bytes)], at)?;
        file.sync_data()?;
        Ok(None)
    }

    /// What an interrupted seal left under the temporary name is of no use.
    fn open(&mut self) -> Result<Arc<dyn File>, Error> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        self.disk.create_dir(&self.dir.join(FOLDER))?;
        let path = self.dir.join(unfinished_name(self.header.id));
        match self.disk.remove(&path) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
        let file = self.disk.create(&path)?;
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// The next bytes of the sections; `None` when only the header is missing.
    fn next_piece(&mut self) -> Option<Vec<u8>> {
        let mut piece = Vec::new();
        while piece.len() + ROW_BYTES <= JOB_STEP_BYTES {
            let before = piece.len();
            let section = match self.cursor {
                Cursor::Extents { run, extent } => self.put_extent(run, extent, &mut piece),
                Cursor::Directory { run } => self.put_row(run, &mut piece),
                Cursor::BlockCrcs { block } => self.put_crc(block, &mut piece),
                Cursor::Header | Cursor::End => break,
            };
            let added = piece.get(before..).unwrap_or_default();
            if let Some(section) = self.header.sections.get_mut(section) {
                section.crc = record::crc32c_append(section.crc, added);
            }
        }
        if piece.is_empty() {
            self.cursor = Cursor::End;
            return None;
        }
        self.position += piece.len() as u64;
        Some(piece)
    }

    /// Appends an extent or goes on to the next run; gives the index of the section.
    fn put_extent(&mut self, run: usize, extent: usize, out: &mut Vec<u8>) -> usize {
        let Some(Run { row, extents }) = self.runs.get_mut(run) else {
            self.cursor = Cursor::Directory { run: 0 };
            return 0;
        };
        self.cursor = match extents.get(extent) {
            Some(next) => {
                let before = out.len();
                next.encode(out);
                let added = out.get(before..).unwrap_or_default();
                row.extents_crc = record::crc32c_append(row.extents_crc, added);
                Cursor::Extents {
                    run,
                    extent: extent + 1,
                }
            }
            None => Cursor::Extents {
                run: run + 1,
                extent: 0,
            },
        };
        0
    }

    fn put_row(&mut self, run: usize, out: &mut Vec<u8>) -> usize {
        self.cursor = match self.runs.get(run) {
            Some(next) => {
                next.row.encode_fixed(out);
                Cursor::Directory { run: run + 1 }
            }
            None => Cursor::BlockCrcs { block: 0 },
        };
        1
    }

    fn put_crc(&mut self, block: usize, out: &mut Vec<u8>) -> usize {
        self.cursor = match self.block_crcs.get(block) {
            Some(crc) => {
                out.extend_from_slice(&crc.to_le_bytes());
                Cursor::BlockCrcs { block: block + 1 }
            }
            None => Cursor::Header,
        };
        2
    }

    fn publish(&mut self) -> Result<SegmentInfo, Error> {
        let id = self.header.id;
        let (from, to) = (
            self.dir.join(unfinished_name(id)),
            self.dir.join(footer_name(id)),
        );
        self.disk.rename(&from, &to)?;
        self.disk.sync_dir(&self.dir.join(FOLDER))?;
        Ok(SegmentInfo {
            id,
            class: self.header.class,
            created_ms: self.header.created_ms,
            directory: self.header.directory,
            data: self.header.data.clone(),
            footer_bytes: self.header.footer_bytes,
            rows: std::mem::take(&mut self.runs)
                .into_iter()
                .map(|run| run.row)
                .collect(),
        })
    }
}

/// The table of sections under construction.
struct Sections {
    next: u64,
    table: Vec<Section>,
}

impl Sections {
    fn add(&mut self, field: Field, kind: SectionKind, row_bytes: usize, rows: usize) {
        let (rows, bytes) = (rows as u64, rows as u64 * row_bytes as u64);
        let row_bytes = u32::try_from(row_bytes).unwrap_or(u32::MAX);
        let coverage = Coverage::Complete;
        let position = self.next;
        let section = Section {
            field,
            kind,
            coverage,
            row_bytes,
            crc: 0,
            position,
            bytes,
            rows,
            generation: 0,
        };
        self.table.push(section);
        self.next += bytes;
    }
}

//! Sealing a log file in place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use types::SegmentId;
use types::limits::SEGMENT_NAME_BYTES_MAX;

use super::collect::{Collector, IsDead};
use super::footer_draft::FooterDraft;
use super::footer_header::FooterHeader;
use super::footer_writer::FooterWriter;
use super::info::{Class, DataFile, SegmentInfo, footer_name, unfinished_name};
use super::scan::FrameScan;
use crate::error::{Corruption, Error};
use crate::file::LogFile;

/// What a step of a sealer did.
#[derive(Debug)]
pub enum SealStep {
    /// A part of the work.
    More,
    /// The last part: the footer is whole and durable.
    Done(SegmentInfo),
}

/// Makes a segment of a log file that takes no more frames. The file itself is only read; the
/// footer is written to a file of its own, which has its name only when it is whole and synced.
///
/// A payload that does not match its CRC does not stop it: its extent is marked and left alone
/// (quarantine). Whoever is interrupted starts anew, with the same number or another one.
#[derive(Debug)]
pub struct Sealer {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    header: FooterHeader,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Read(Box<(FrameScan, Collector)>),
    Write(Box<FooterWriter>),
    Ended,
}

impl Sealer {
    /// A sealer of `file`, whose frames are all synced and end at `end`, as segment `id` of the
    /// data directory `dir` with the id `directory`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when `end` lies outside the file or the file outside the directory.
    pub fn new(
        disk: Arc<dyn Disk>,
        dir: &Path,
        id: SegmentId,
        file: Arc<LogFile>,
        end: u64,
        directory: [u8; 16],
        created_ms: i64,
    ) -> Result<Self, Error> {
        let header = FooterHeader {
            id,
            class: Class::InPlace,
            created_ms,
            directory,
            data: DataFile {
                name: relative_name(&file, dir)?,
                sequence: file.sequence,
                epoch: file.epoch,
                end,
            },
            footer_bytes: 0,
            partitions: 0,
            records: 0,
            stored_bytes: 0,
            totals: super::collect::Totals::default(),
            sections: Vec::new(),
        };
        if end > file.file_bytes {
            let expected = format!("at most {}", file.file_bytes);
            return Err(refused(
                &file,
                "end of the frames",
                expected,
                end.to_string(),
            ));
        }
        let scan = FrameScan::new(Arc::clone(&file.file), &file.path, file.epoch, end);
        let collector = Collector::new(&file.path, Box::new(|_| false));
        let phase = Phase::Read(Box::new((scan, collector)));
        Ok(Self {
            disk,
            dir: dir.to_path_buf(),
            header,
            phase,
        })
    }

    /// Takes what was gathered while the file was written: the file is not read then.
    #[must_use]
    pub fn with_draft(mut self, draft: FooterDraft) -> Self {
        self.phase = Phase::Write(Box::new(self.writer(draft.finish())));
        self
    }

    /// Payloads that `is_dead` calls dead are not checked, and their extents are marked dead.
    #[must_use]
    pub fn with_dead(mut self, is_dead: IsDead) -> Self {
        if let Phase::Read(read) = &mut self.phase {
            read.1.set_dead(is_dead);
        }
        self
    }

    /// Does one step: reads, or writes and syncs, at most one step's bytes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a bad frame header, and those of the device. The log file is as it
    /// was; give this sealer up then.
    pub fn step(&mut self) -> Result<SealStep, Error> {
        match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Read(mut read) => {
                let (scan, collector) = read.as_mut();
                self.phase = match scan.step(collector)? {
                    true => Phase::Read(read),
                    false => Phase::Write(Box::new(self.writer(read.1))),
                };
            }
            Phase::Write(mut writer) => match writer.step()? {
                Some(info) => return Ok(SealStep::Done(info)),
                None => self.phase = Phase::Write(writer),
            },
            Phase::Ended => {
                let reason = "the sealer ended before".to_owned();
                return Err(Error::Poisoned { reason });
            }
        }
        Ok(SealStep::More)
    }

    /// Removes what a sealer that failed has written. Best effort: the next start removes it as well.
    pub fn clean_up(&self) {
        let id = self.header.id;
        for name in [unfinished_name(id), footer_name(id)] {
            match self.disk.remove(&self.dir.join(name)) {
                Err(error) if !error.is_not_found() => {
                    tracing::warn!(%error, "an unfinished footer stays on the disk");
                }
                _ => {}
            }
        }
    }

    fn writer(&self, collector: Collector) -> FooterWriter {
        let header = FooterHeader {
            totals: collector.totals,
            ..self.header.clone()
        };
        let runs = collector.runs.into_values().collect();
        FooterWriter::new(
            Arc::clone(&self.disk),
            &self.dir,
            header,
            runs,
            collector.block_crcs,
        )
    }
}

/// The file's name as footers and the directory keep it.
fn relative_name(file: &LogFile, dir: &Path) -> Result<String, Error> {
    let name = file.path.strip_prefix(dir).ok().and_then(Path::to_str);
    match name {
        Some(name) if !name.is_empty() && name.len() <= SEGMENT_NAME_BYTES_MAX => {
            Ok(name.to_owned())
        }
        _ => {
            let expected = format!("a file in {}", dir.display());
            Err(refused(
                file,
                "name of the log file",
                expected,
                file.path.display().to_string(),
            ))
        }
    }
}

fn refused(file: &LogFile, what: &'static str, expected: String, found: String) -> Error {
    Corruption {
        path: file.path.clone(),
        position: 0,
        what,
        expected,
        found,
    }
    .into()
}

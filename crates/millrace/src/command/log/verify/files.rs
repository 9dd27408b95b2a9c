//! The log files that are not sealed.

use std::path::Path;

use anyhow::Result;
use log::checkpoint::CheckpointHeader;
use log::file::HEADER_BYTES;
use log::frame::{FrameHeader, PlacedHeader};
use log::recovery::{self, ChainedFile, FoundFiles, FrameAt, Survey};
use types::FrameNumber;
use types::limits::BLOCK_BYTES;

use super::Dead;
use super::report::Report;

/// Checks the log behind a checkpoint. Each file is looked at for itself, so that damage of one
/// leaves the others; how they follow each other is looked at in the end.
pub(super) fn verify(
    found: &FoundFiles,
    dir: &Path,
    header: &CheckpointHeader,
    dead: &Dead,
    report: &mut Report,
) -> Result<()> {
    let first = (header.replay.sequence, header.replay.epoch);
    let files = match recovery::chain(found, dir, first) {
        Ok(files) => files,
        Err(error) => {
            report.error(error)?;
            Vec::new()
        }
    };
    let mut check = Check { dead, report };
    let mut last = header.proven;
    let mut follows = None;
    for (index, chained) in files.iter().enumerate() {
        let mut chained = chained.clone();
        // A frame goes into a file once those of the one before it are synced (I3).
        let next = files.get(index + 1).map(|next| before(next.first_frame));
        let proven = header.proven.max(next.unwrap_or_default());
        chained.first_frame = follows.unwrap_or(chained.first_frame);
        let whole_to = check.file(&chained, proven)?;
        last = last.max(whole_to.unwrap_or_else(|| before(chained.first_frame)));
        follows = whole_to.map(FrameNumber::next);
    }
    check.lost(found, &files, last)
}

const fn before(frame: FrameNumber) -> FrameNumber {
    FrameNumber(frame.0.saturating_sub(1))
}

struct Check<'a> {
    dead: &'a Dead,
    report: &'a mut Report,
}

/// Which bytes of a file are looked at.
struct Extent {
    end: u64,
    /// Payloads of later frames may be torn.
    proven: FrameNumber,
}

impl Check<'_> {
    /// Checks one file. Its last frame where its headers are good to the end.
    fn file(&mut self, chained: &ChainedFile, proven: FrameNumber) -> Result<Option<FrameNumber>> {
        self.report.log_files_count += 1;
        match recovery::survey(std::slice::from_ref(chained), proven) {
            Ok(survey) => {
                let end = chained.end.unwrap_or(survey.end);
                let is_good = survey.damage.is_none();
                if let Some(damage) = survey.damage {
                    self.report.damage(damage.corruption);
                }
                // The end of the last file is before what is torn.
                let proven = FrameNumber(u64::MAX);
                self.frames(chained, &Extent { end, proven })?;
                Ok(is_good.then_some(survey.last))
            }
            Err(error) => {
                let told = self.report.damages_count();
                let end = chained.end.unwrap_or(chained.file.file_bytes);
                self.frames(chained, &Extent { end, proven })?;
                // Where the walk came by the place it has told it.
                if self.report.damages_count() == told {
                    self.report.error(error)?;
                }
                Ok(None)
            }
        }
    }

    /// Walks the frames, and behind what is none from block to block to the next one.
    fn frames(&mut self, chained: &ChainedFile, extent: &Extent) -> Result<()> {
        let mut position = HEADER_BYTES;
        let mut lost = false;
        while position < extent.end {
            match recovery::read_header(&chained.file, position) {
                Ok(FrameAt::Frame(frame)) => {
                    lost = false;
                    self.frame(chained, &frame, extent.proven)?;
                    position = frame.end();
                }
                Ok(FrameAt::End) => break,
                // The survey told it, or the log ends here.
                Ok(FrameAt::Fault(_)) => position += BLOCK_BYTES,
                Err(error) => {
                    if !std::mem::replace(&mut lost, true) {
                        self.report.error(error)?;
                    }
                    position += BLOCK_BYTES;
                }
            }
        }
        Ok(())
    }

    fn frame(
        &mut self,
        chained: &ChainedFile,
        frame: &FrameHeader,
        proven: FrameNumber,
    ) -> Result<()> {
        self.report.frames_count += 1;
        let live = frame.entries.iter().filter(|entry| !self.dead.holds(entry));
        for entry in live {
            self.report.entries_count += 1;
            match recovery::read_payload(&chained.file, entry) {
                Ok(None) if frame.number <= proven => {
                    let path = &chained.file.path;
                    self.report.damage(bad_payload(path, entry));
                }
                Ok(_) => {}
                Err(error) => self.report.error(error)?,
            }
        }
        Ok(())
    }

    /// Looks for what comes behind the last frame of the chain in files out of its reach.
    fn lost(&mut self, found: &FoundFiles, files: &[ChainedFile], last: FrameNumber) -> Result<()> {
        let mut survey = Survey {
            proven: last,
            proven_end: HEADER_BYTES,
            last,
            end: HEADER_BYTES,
            damage: None,
        };
        match recovery::lost_files(found, files, &mut survey) {
            Ok(_) => {}
            Err(error) => self.report.error(error)?,
        }
        if let Some(damage) = survey.damage {
            self.report.damage(damage.corruption);
        }
        Ok(())
    }
}

fn bad_payload(path: &Path, entry: &PlacedHeader) -> String {
    let header = &entry.header;
    format!(
        "{} is damaged at byte {}: {:?} entry of partition {}, offset {}",
        path.display(),
        entry.position,
        header.kind,
        header.partition,
        header.base_offset
    )
}

//! Where the log ends, and whether that is a torn tail or damage.

use std::path::PathBuf;

use types::limits::BLOCK_BYTES;
use types::{FileSequence, FrameNumber};

use super::files::{ChainedFile, FoundFiles};
use super::scan::{FrameAt, read_header, read_payload};
use crate::error::{Corruption, Error};
use crate::file::{HEADER_BYTES, LogFile};
use crate::frame::FrameFault;
use crate::mutant::{self, Mutant};

/// A frame that was confirmed and cannot be read: everything after it is out of reach.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Index of the file in the chain.
    pub file: usize,
    /// Where the bad frame starts.
    pub position: u64,
    /// Number that it should have.
    pub frame: FrameNumber,
    /// What is wrong.
    pub corruption: Corruption,
}

/// The extent of the log.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The last frame that is proven synced.
    pub proven: FrameNumber,
    /// Where the proven frames of the last file end.
    pub proven_end: u64,
    /// The last frame that is whole.
    pub last: FrameNumber,
    /// Where the whole frames of the last file end.
    pub end: u64,
    /// Damage that readers must be kept before.
    pub damage: Option<Damage>,
}

impl Survey {
    /// The least size of a file that takes the frames that are not proven.
    #[must_use]
    pub const fn rewrite_bytes(&self) -> u64 {
        HEADER_BYTES + self.end.saturating_sub(self.proven_end)
    }
}

/// Walks the headers of the chain, oldest file first. `proven` is what the checkpoint proves.
///
/// Headers tell which frames are proven: each names the last frame that was synced when it was
/// written, and a file's header stands for all frames of the files before it. A frame that is
/// missing below that mark is damage; above it, a torn tail. Frames above the mark count only
/// when their payloads are whole too.
///
/// # Errors
/// Those of the device. Damage is a result, not an error.
pub fn survey(files: &[ChainedFile], proven: FrameNumber) -> Result<Survey, Error> {
    let mut survey = Survey {
        proven,
        proven_end: HEADER_BYTES,
        last: files
            .first()
            .map_or(FrameNumber(0), |f| FrameNumber(f.first_frame.0 - 1)),
        end: HEADER_BYTES,
        damage: None,
    };
    let mut frames = Vec::new();
    for (index, chained) in files.iter().enumerate() {
        let before = FrameNumber(chained.first_frame.0.saturating_sub(1));
        survey.proven = survey.proven.max(before);
        let stop = walk(chained, survey.last.next(), &mut frames)?;
        survey.proven = frames
            .iter()
            .map(|f| f.synced)
            .fold(survey.proven, FrameNumber::max);
        survey.last = frames.last().map_or(survey.last, |f| f.number);
        survey.end = stop.position;
        if stop.fault.is_none() && chained.end == Some(stop.position) {
            continue;
        }
        let missing = survey.last.next();
        let later = proven_later(files, index, stop.position)?;
        survey.proven = survey.proven.max(later.min(missing));
        if survey.proven >= missing {
            survey.damage = Some(damage(chained, index, missing, &stop));
            return Ok(survey);
        }
        break;
    }
    cut_torn_payloads(files, &frames, &mut survey)?;
    Ok(survey)
}

/// What the survey keeps of a frame.
struct Seen {
    number: FrameNumber,
    synced: FrameNumber,
    position: u64,
    end: u64,
}

struct Stop {
    position: u64,
    fault: Option<FrameFault>,
}

/// Walks one file as long as each frame follows the one before. Leaves its frames in `frames`.
fn walk(chained: &ChainedFile, first: FrameNumber, frames: &mut Vec<Seen>) -> Result<Stop, Error> {
    frames.clear();
    let mut expected = first;
    let mut position = HEADER_BYTES;
    while chained.end.is_none_or(|end| position < end) {
        match read_header(&chained.file, position)? {
            FrameAt::Frame(frame) if frame.number == expected || mutant::is(Mutant::FormerLife) => {
                let (number, synced, end) = (frame.number, frame.synced, frame.end());
                frames.push(Seen {
                    number,
                    synced,
                    position,
                    end,
                });
                expected = number.next();
                position = end;
            }
            FrameAt::Frame(_) => {
                return Ok(Stop {
                    position,
                    fault: Some(FrameFault::Position),
                });
            }
            FrameAt::Fault(fault) => {
                return Ok(Stop {
                    position,
                    fault: Some(fault),
                });
            }
            FrameAt::End => break,
        }
    }
    Ok(Stop {
        position,
        fault: None,
    })
}

/// The last frame that anything after `position` of file `index` says was synced.
fn proven_later(files: &[ChainedFile], index: usize, position: u64) -> Result<FrameNumber, Error> {
    let mut proven = FrameNumber(0);
    for (i, chained) in files.iter().enumerate().skip(index) {
        let mut at = position + BLOCK_BYTES;
        if i > index {
            proven = proven.max(FrameNumber(chained.first_frame.0.saturating_sub(1)));
            at = HEADER_BYTES;
        }
        let end = chained.end.unwrap_or(chained.file.file_bytes);
        while at < end {
            match read_header(&chained.file, at)? {
                FrameAt::Frame(frame) => {
                    proven = proven.max(frame.synced);
                    at = frame.end();
                }
                FrameAt::Fault(_) => at += BLOCK_BYTES,
                FrameAt::End => break,
            }
        }
    }
    Ok(proven)
}

/// Ends the log before the first unproven frame of the last file whose payloads are not whole.
fn cut_torn_payloads(
    files: &[ChainedFile],
    frames: &[Seen],
    survey: &mut Survey,
) -> Result<(), Error> {
    for seen in frames {
        if seen.number <= survey.proven {
            survey.proven_end = seen.end;
        } else if !payloads_hold(files, seen)? {
            survey.last = FrameNumber(seen.number.0 - 1);
            survey.end = seen.position;
            break;
        }
    }
    Ok(())
}

fn payloads_hold(files: &[ChainedFile], seen: &Seen) -> Result<bool, Error> {
    let Some(chained) = files.last() else {
        return Ok(false);
    };
    let FrameAt::Frame(frame) = read_header(&chained.file, seen.position)? else {
        return Ok(false);
    };
    for entry in &frame.entries {
        if read_payload(&chained.file, entry)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn damage(chained: &ChainedFile, index: usize, frame: FrameNumber, stop: &Stop) -> Damage {
    let found = stop
        .fault
        .map_or_else(|| "the end".to_owned(), |fault| format!("{fault:?}"));
    Damage {
        file: index,
        position: stop.position,
        frame,
        corruption: Corruption {
            path: chained.file.path.clone(),
            position: stop.position,
            what: "frame header",
            expected: format!("frame {frame}, which was confirmed"),
            found,
        },
    }
}

/// Looks for what the log lost: a live file behind the last one of `files`, so that one between them
/// is missing; frames behind the end of the log in files whose headers are not good. Either is
/// damage. Gives the files of the latter kind without any frame: spares that were never finished.
///
/// # Errors
/// Those of the device.
pub fn lost_files(
    found: &FoundFiles,
    files: &[ChainedFile],
    survey: &mut Survey,
) -> Result<Vec<PathBuf>, Error> {
    let mut unfinished = Vec::new();
    if survey.damage.is_some() {
        return Ok(unfinished);
    }
    if let Some(last) = files.last()
        && let Some(later) = found.first_behind(last.file.sequence)
    {
        let lost = FileSequence(last.file.sequence.0 + 1);
        lose(survey, survey.last.next(), missing_file(lost, later));
        return Ok(unfinished);
    }
    for broken in &found.broken {
        let mut at = HEADER_BYTES;
        let mut is_empty = true;
        while let Some(header) = broken.frame_of_any_life(at)? {
            let Some(frame) = header else {
                at += BLOCK_BYTES;
                continue;
            };
            is_empty = false;
            if frame.number > survey.last {
                lose(survey, frame.number, broken.corruption.clone());
                return Ok(Vec::new());
            }
            at = frame.end();
        }
        if is_empty {
            unfinished.push(broken.path.clone());
        }
    }
    Ok(unfinished)
}

impl Survey {
    /// The survey of a log whose first file is missing: all that is after the checkpoint is out of
    /// reach.
    #[must_use]
    pub fn lost(proven: FrameNumber, corruption: Corruption) -> Self {
        let mut survey = Self {
            proven,
            proven_end: HEADER_BYTES,
            last: proven,
            end: HEADER_BYTES,
            damage: None,
        };
        lose(&mut survey, proven.next(), corruption);
        survey
    }
}

/// The log goes on in a file that cannot be read. What is before that file is proven: no frame
/// goes into a file before those of the one before it are synced (I3).
fn lose(survey: &mut Survey, frame: FrameNumber, corruption: Corruption) {
    survey.proven = survey.proven.max(survey.last);
    survey.proven_end = survey.end;
    survey.damage = Some(Damage {
        file: usize::MAX,
        position: 0,
        frame,
        corruption,
    });
}

fn missing_file(lost: FileSequence, later: &LogFile) -> Corruption {
    Corruption {
        path: later.path.parent().unwrap_or(&later.path).to_path_buf(),
        position: 0,
        what: "log file",
        expected: format!("a live file with sequence {lost}"),
        found: format!("a later one, {}", later.path.display()),
    }
}

//! Putting what is not proven synced into a new file.

use std::ops::Range;
use std::sync::Arc;

use types::{FrameNumber, Random};

use super::files::ChainedFile;
use super::replay::{Replay, bad_payload, replay_frame};
use super::scan::{FrameAt, read_header, read_payload};
use super::survey::Survey;
use crate::entry::{Entry, Payload};
use crate::error::Error;
use crate::file::{
    FileHeader, FileState, HEADER_BYTES, LogFile, Predecessor, Provisioner, Spare, Writer,
};
use crate::frame::{FrameBuilder, FrameHeader};
use crate::mutant::{self, Mutant};

/// The log after recovery: a new file that is live, synced, and takes the next frame.
#[derive(Debug)]
pub struct Continuation {
    /// Writes from here on.
    pub writer: Writer,
    /// The last frame of the log, synced.
    pub last: FrameNumber,
    /// The new file holds frames, which nothing proves yet.
    pub needs_proof: bool,
}

/// Makes `spare` the last file of the log: the unproven frames of the old last file are written
/// to it and synced, then its header is written and synced, which ends the old file after its
/// last proven frame, and only then are the frames replayed. A cut before the header leaves the old
/// file as it was; a cut after it finds everything proven.
///
/// # Errors
/// Those of the device and of `state`.
pub fn rewrite(
    files: &[ChainedFile],
    survey: &Survey,
    provisioner: &Arc<Provisioner>,
    mut random: Box<dyn Random>,
    spare: Spare,
    state: &mut dyn Replay,
) -> Result<Continuation, Error> {
    let old = files.last().map(|chained| &chained.file);
    if let (Some(old), true) = (old, mutant::is(Mutant::AppendBehindCut)) {
        replay_copied(old, survey.proven_end..survey.end, state)?;
        let (provisioner, old) = (Arc::clone(provisioner), Arc::clone(old));
        let writer = Writer::resume(provisioner, random, old, survey.end, survey.last.next());
        return Ok(Continuation {
            writer,
            last: survey.last,
            needs_proof: false,
        });
    }
    let predecessor = old.map(|f| Predecessor {
        sequence: f.sequence,
        epoch: f.epoch,
        end: survey.proven_end,
    });
    let header = FileHeader {
        state: FileState::Live,
        sequence: types::FileSequence(predecessor.map_or(1, |p| p.sequence.0 + 1)),
        epoch: types::FileEpoch(random.next_u64()),
        generation: provisioner.next_generation(),
        predecessor,
        first_frame: survey.proven.next(),
        file_bytes: spare.file_bytes,
        directory: provisioner.directory(),
    };
    let file = Arc::new(LogFile {
        sequence: header.sequence,
        epoch: header.epoch,
        path: spare.path,
        file_bytes: spare.file_bytes,
        file: spare.file,
    });
    let mut position = HEADER_BYTES;
    if let Some(last) = files.last() {
        if survey.proven < last.first_frame {
            // A frame that is proven proves its file's header. Of a file without one the sync of the
            // header may have failed, and what is read be gone at the next cut, the log after it
            // out of reach.
            last.header.store(last.file.file.as_ref())?;
        }
        position = copy_frames(&last.file, survey, &file)?;
    }
    header.store(file.file.as_ref())?;
    replay_copied(&file, HEADER_BYTES..position, state)?;
    let writer = Writer::resume(
        Arc::clone(provisioner),
        random,
        file,
        position,
        survey.last.next(),
    );
    Ok(Continuation {
        writer,
        last: survey.last,
        needs_proof: position > HEADER_BYTES,
    })
}

/// Copies the frames between the proven end and the end, and syncs them.
fn copy_frames(old: &LogFile, survey: &Survey, new: &LogFile) -> Result<u64, Error> {
    let mut from = survey.proven_end;
    let mut to = HEADER_BYTES;
    while from < survey.end {
        let FrameAt::Frame(frame) = read_header(old, from)? else {
            break;
        };
        let mut builder = load(old, &frame)?;
        let copy = builder.build(new.sequence, new.epoch, to, frame.number, survey.proven);
        new.file.write_direct_at(&copy.bytes, to)?;
        to += copy.frame_bytes;
        from = frame.end();
    }
    if to > HEADER_BYTES {
        new.file.sync_data()?;
    }
    Ok(to)
}

fn load(old: &LogFile, frame: &FrameHeader) -> Result<FrameBuilder, Error> {
    let mut builder = FrameBuilder::default();
    for entry in &frame.entries {
        // The survey found these payloads whole.
        let body =
            read_payload(old, entry)?.ok_or_else(|| bad_payload(old, frame.number, entry))?;
        builder.push(Entry {
            header: entry.header,
            payload: Payload::from_body(body),
        });
    }
    Ok(builder)
}

fn replay_copied(
    file: &Arc<LogFile>,
    range: Range<u64>,
    state: &mut dyn Replay,
) -> Result<(), Error> {
    let mut position = range.start;
    while position < range.end {
        let FrameAt::Frame(frame) = read_header(file, position)? else {
            break;
        };
        if let Some(corruption) = replay_frame(file, &frame, state)? {
            return Err(corruption.into());
        }
        position = frame.end();
    }
    Ok(())
}

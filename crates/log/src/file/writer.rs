//! The writer: puts frames into files.

use std::sync::Arc;

use types::limits::BLOCK_BYTES;
use types::{FileEpoch, FileSequence, FrameNumber, Random};

use super::header::{FileHeader, FileState, HEADER_BYTES, Predecessor};
use super::log_file::LogFile;
use super::spare::{Provisioner, Spare};
use crate::error::Error;
use crate::frame::{Frame, LooseFrame};

/// What one step of the writer did.
#[derive(Debug)]
pub enum WriterStep {
    /// A frame was handed to the operating system.
    Written(Frame),
    /// The frame does not fit: once everything written is synced, [`Writer::roll`] to a spare.
    NeedsFile,
}

/// Writes frames, one after the other, into the last file of the log.
///
/// It never syncs a frame: that is the syncer's part. It syncs headers when it rolls.
#[derive(Debug)]
pub struct Writer {
    provisioner: Arc<Provisioner>,
    random: Box<dyn Random>,
    file: Arc<LogFile>,
    position: u64,
    next_frame: FrameNumber,
    /// The frame under way; it survives a failed write (nothing decided is withdrawn).
    under_way: Option<LooseFrame>,
    /// The file takes nothing more: it is told to end, or the device was full when it was written.
    closed: bool,
}

impl Writer {
    /// A writer that makes `spare` the successor of `predecessor` and starts there.
    ///
    /// # Errors
    /// Those of the device; nothing may be written then.
    pub fn start(
        provisioner: Arc<Provisioner>,
        mut random: Box<dyn Random>,
        spare: Spare,
        predecessor: Option<Predecessor>,
        next_frame: FrameNumber,
    ) -> Result<Self, Error> {
        let file = go_live(
            &provisioner,
            random.as_mut(),
            spare,
            predecessor,
            next_frame,
        )?;
        Ok(Self {
            provisioner,
            random,
            file,
            position: HEADER_BYTES,
            next_frame,
            under_way: None,
            closed: false,
        })
    }

    /// A writer at the end of a file whose frames up to `position` were written by recovery.
    #[must_use]
    pub fn resume(
        provisioner: Arc<Provisioner>,
        random: Box<dyn Random>,
        file: Arc<LogFile>,
        position: u64,
        next_frame: FrameNumber,
    ) -> Self {
        Self {
            provisioner,
            random,
            file,
            position,
            next_frame,
            under_way: None,
            closed: false,
        }
    }

    /// The file that is being written.
    #[must_use]
    pub const fn file(&self) -> &Arc<LogFile> {
        &self.file
    }

    /// Where the next frame goes.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Bytes that the present file still takes.
    #[must_use]
    pub fn room(&self) -> u64 {
        if self.closed {
            0
        } else {
            self.file.file_bytes.saturating_sub(self.position)
        }
    }

    /// What the next frame may take: it fits into the present file, and into a new one where this
    /// turns out to be full.
    #[must_use]
    pub fn frame_room(&self) -> u64 {
        self.room().min(self.fresh_room())
    }

    /// What the frame behind the next one may take, if that is so large.
    #[must_use]
    pub fn room_behind(&self, frame_bytes: u64) -> u64 {
        let fresh = self.fresh_room();
        let room = self.room().checked_sub(frame_bytes);
        room.unwrap_or_else(|| fresh.saturating_sub(frame_bytes))
            .min(fresh)
    }

    fn fresh_room(&self) -> u64 {
        self.provisioner.file_bytes().saturating_sub(HEADER_BYTES)
    }

    /// Whether a frame waits for a file.
    #[must_use]
    pub const fn has_frame(&self) -> bool {
        self.under_way.is_some()
    }

    /// Takes the next frame to [`write`](Self::write). None may be under way.
    pub fn take(&mut self, frame: LooseFrame) {
        debug_assert!(self.under_way.is_none());
        self.under_way = Some(frame);
    }

    /// Ends the present file, whatever room it has. A frame must be under way: it goes to the next.
    pub fn close(&mut self) {
        debug_assert!(self.under_way.is_some());
        self.closed = true;
    }

    /// Writes the frame under way. `synced` is the last frame known to be synced.
    ///
    /// # Errors
    /// An error other than a full device poisons the log (I4): nothing may be written then.
    pub fn write(&mut self, synced: FrameNumber) -> Result<WriterStep, Error> {
        let (room, epoch) = (self.room(), self.file.epoch);
        let fits = |frame: &mut LooseFrame| frame.frame_bytes() <= room;
        let Some(mut frame) = self.under_way.take_if(fits) else {
            return Ok(WriterStep::NeedsFile);
        };
        debug_assert_eq!(self.position % BLOCK_BYTES, 0);
        let bytes = frame.address(epoch, self.position, self.next_frame, synced);
        if let Err(error) = self.file.file.write_direct_at(bytes, self.position) {
            if error.is_no_space() {
                tracing::warn!(error = %error, "the device is full, the frame goes to the next file");
                self.under_way = Some(frame);
                self.closed = true;
                return Ok(WriterStep::NeedsFile);
            }
            return Err(error.into());
        }
        let frame = frame.place(self.file.sequence);
        self.position += frame.frame_bytes;
        self.next_frame = self.next_frame.next();
        Ok(WriterStep::Written(frame))
    }

    /// Goes on in `spare`. Every frame written must be synced (I3). Gives the file that ended and
    /// where its frames end.
    ///
    /// # Errors
    /// Those of the device; they poison the log.
    pub fn roll(&mut self, spare: Spare) -> Result<(Arc<LogFile>, u64), Error> {
        let predecessor = Predecessor {
            sequence: self.file.sequence,
            epoch: self.file.epoch,
            end: self.position,
        };
        let random = self.random.as_mut();
        let next = go_live(
            &self.provisioner,
            random,
            spare,
            Some(predecessor),
            self.next_frame,
        )?;
        let ended = std::mem::replace(&mut self.file, next);
        let end = std::mem::replace(&mut self.position, HEADER_BYTES);
        self.closed = false;
        Ok((ended, end))
    }
}

/// Turns a spare into a live file: header written and synced.
fn go_live(
    provisioner: &Provisioner,
    random: &mut dyn Random,
    spare: Spare,
    predecessor: Option<Predecessor>,
    first_frame: FrameNumber,
) -> Result<Arc<LogFile>, Error> {
    let sequence = predecessor.map_or(1, |p| p.sequence.0 + 1);
    let header = FileHeader {
        state: FileState::Live,
        sequence: FileSequence(sequence),
        epoch: FileEpoch(random.next_u64()),
        generation: provisioner.next_generation(),
        predecessor,
        first_frame,
        file_bytes: spare.file_bytes,
        directory: provisioner.directory(),
    };
    header.store(spare.file.as_ref())?;
    Ok(Arc::new(LogFile {
        sequence: header.sequence,
        epoch: header.epoch,
        path: spare.path,
        file_bytes: spare.file_bytes,
        file: spare.file,
    }))
}

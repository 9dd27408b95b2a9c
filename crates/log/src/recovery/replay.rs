//! Handing the entries of the log to the state above.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use types::{FrameNumber, LogIndex, ShardId};

use super::files::ChainedFile;
use super::scan::{FrameAt, read_header, read_payload};
use super::survey::{Damage, Survey};
use crate::error::{Corruption, Error};
use crate::file::{HEADER_BYTES, LogFile};
use crate::frame::{FrameHeader, PlacedHeader};

/// What is being rebuilt from the log.
pub trait Replay {
    /// Whether the payload of this entry is wanted: not when a checkpoint row already covers it, or
    /// when it is known to be dead.
    fn wants_payload(&self, entry: &PlacedHeader) -> bool;

    /// An entry, in the order of its decision within its frame. `payload` is there when wanted.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the payload makes no sense.
    fn entry(
        &mut self,
        file: &Arc<LogFile>,
        entry: &PlacedHeader,
        payload: Option<Bytes>,
    ) -> Result<(), Error>;

    /// An entry whose payload was confirmed and does not match its CRC. False when what follows
    /// makes no sense without it: the log ends for readers before its frame.
    fn bad_payload(
        &mut self,
        file: &Arc<LogFile>,
        entry: &PlacedHeader,
        corruption: &Corruption,
    ) -> bool;
}

/// Per shard, the last index that the checkpoint's rows may already hold from its start on.
#[derive(Clone, Debug, Default)]
pub struct ReplayFrom {
    /// Entries up to here were applied when the checkpoint began.
    pub applied: BTreeMap<ShardId, LogIndex>,
}

/// Replays the proven frames of the chain, oldest first. What cannot be passed over becomes the
/// damage of the survey.
///
/// # Errors
/// Those of the device and of `state`.
pub fn replay(
    files: &[ChainedFile],
    survey: &mut Survey,
    state: &mut dyn Replay,
) -> Result<(), Error> {
    let last = files.len().saturating_sub(1);
    for (index, chained) in files.iter().enumerate() {
        let mut position = HEADER_BYTES;
        let end = match &survey.damage {
            Some(damage) if damage.file == index => damage.position,
            _ if index == last => survey.proven_end,
            _ => chained.end.unwrap_or(HEADER_BYTES),
        };
        while position < end {
            let FrameAt::Frame(frame) = read_header(&chained.file, position)? else {
                break;
            };
            if let Some(corruption) = replay_frame(&chained.file, &frame, state)? {
                survey.last = FrameNumber(frame.number.0.saturating_sub(1));
                let (position, frame) = (frame.position, frame.number);
                survey.damage = Some(Damage {
                    file: index,
                    position,
                    frame,
                    corruption,
                });
                return Ok(());
            }
            position = frame.end();
        }
        if survey
            .damage
            .as_ref()
            .is_some_and(|damage| damage.file == index)
        {
            break;
        }
    }
    Ok(())
}

/// Replays one frame; gives what cannot be passed over.
pub(super) fn replay_frame(
    file: &Arc<LogFile>,
    frame: &FrameHeader,
    state: &mut dyn Replay,
) -> Result<Option<Corruption>, Error> {
    for entry in frame.decided_order() {
        if !state.wants_payload(&entry) {
            state.entry(file, &entry, None)?;
            continue;
        }
        match read_payload(file, &entry)? {
            Some(payload) => state.entry(file, &entry, Some(payload))?,
            None => {
                let corruption = bad_payload(file, frame.number, &entry);
                if !state.bad_payload(file, &entry, &corruption) {
                    return Ok(Some(corruption));
                }
            }
        }
    }
    Ok(None)
}

pub(super) fn bad_payload(file: &LogFile, frame: FrameNumber, entry: &PlacedHeader) -> Corruption {
    Corruption {
        path: file.path.clone(),
        position: entry.position,
        what: "payload",
        expected: format!(
            "an entry of partition {} in frame {frame} with CRC {:08x}",
            entry.header.partition, entry.payload_crc
        ),
        found: "other bytes".to_owned(),
    }
}

//! What a checkpoint says of itself.

use types::limits::CHECKPOINT_SHARDS_MAX;
use types::{FileEpoch, FileSequence, FrameNumber, LogIndex, ShardId, Term};

use super::format::{CRC_FROM, FIXED_BYTES, MAGIC, SHARD_BYTES, VERSION};
use crate::decode::{Decoder, Malformed};

/// Where replay starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayPosition {
    /// The log file.
    pub sequence: FileSequence,
    /// The life of it that is meant.
    pub epoch: FileEpoch,
    /// Byte of the file where the first frame to replay starts, or will start.
    pub position: u64,
    /// Number of that frame.
    pub frame: FrameNumber,
}

/// How far a shard's entries were applied when the checkpoint was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardStart {
    /// The shard.
    pub shard: ShardId,
    /// The last entry that every row holds; a row may hold later ones, up to its own index.
    pub applied: LogIndex,
    /// The term of that entry.
    pub term: Term,
}

/// What a checkpoint says of itself, before its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointHeader {
    /// Its number; later ones are larger.
    pub number: u64,
    /// Id of the data directory.
    pub directory: [u8; 16],
    /// When it was begun, milliseconds since 1970.
    pub created_ms: i64,
    /// Where replay starts.
    pub replay: ReplayPosition,
    /// The last frame that was synced when it was begun.
    pub proven: FrameNumber,
    /// The shards, at most [`CHECKPOINT_SHARDS_MAX`].
    pub shards: Vec<ShardStart>,
}

impl CheckpointHeader {
    /// The header in bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        debug_assert!(self.shards.len() <= CHECKPOINT_SHARDS_MAX);
        let header_bytes = FIXED_BYTES + self.shards.len() * SHARD_BYTES;
        let mut fields = Vec::with_capacity(header_bytes);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.extend_from_slice(&0u16.to_le_bytes());
        fields.extend_from_slice(
            &u32::try_from(header_bytes)
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        fields.extend_from_slice(&self.number.to_le_bytes());
        fields.extend_from_slice(&self.created_ms.to_le_bytes());
        fields.extend_from_slice(&self.directory);
        for number in [
            self.replay.sequence.0,
            self.replay.epoch.0,
            self.replay.position,
            self.replay.frame.0,
            self.proven.0,
            self.shards.len() as u64,
        ] {
            fields.extend_from_slice(&number.to_le_bytes());
        }
        fields.resize(FIXED_BYTES - CRC_FROM, 0);
        for shard in &self.shards {
            fields.extend_from_slice(&shard.shard.0.to_le_bytes());
            fields.extend_from_slice(&[0; 6]);
            fields.extend_from_slice(&shard.applied.0.to_le_bytes());
            fields.extend_from_slice(&shard.term.0.to_le_bytes());
        }
        let mut bytes = Vec::with_capacity(header_bytes);
        bytes.extend_from_slice(&MAGIC.to_le_bytes());
        bytes.extend_from_slice(&record::crc32c(&fields).to_le_bytes());
        bytes.extend_from_slice(&fields);
        bytes
    }

    /// Reads the header that starts `bytes`; gives its length too.
    ///
    /// # Errors
    /// When there is no whole, good header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), Malformed> {
        let mut from = Decoder::new(bytes);
        if from.u32("checkpoint magic")? != MAGIC {
            return Err(Malformed {
                what: "checkpoint magic",
                position: 0,
            });
        }
        let crc = from.u32("checkpoint header CRC")?;
        let version = from.u16("checkpoint version")?;
        from.u16("checkpoint flags")?;
        let header_bytes = usize::try_from(from.u32("checkpoint header bytes")?).unwrap_or(0);
        let fault = Malformed {
            what: "checkpoint header CRC",
            position: 4,
        };
        let covered = bytes.get(CRC_FROM..header_bytes).ok_or(fault)?;
        if record::crc32c(covered) != crc {
            return Err(fault);
        }
        if version != VERSION {
            return Err(Malformed {
                what: "checkpoint version",
                position: 8,
            });
        }
        let mut header = Self {
            number: from.u64("checkpoint number")?,
            created_ms: from.i64("checkpoint time")?,
            directory: from.array("directory id")?,
            replay: ReplayPosition {
                sequence: FileSequence(from.u64("replay position")?),
                epoch: FileEpoch(from.u64("replay position")?),
                position: from.u64("replay position")?,
                frame: FrameNumber(from.u64("replay position")?),
            },
            proven: FrameNumber(from.u64("proven frame")?),
            shards: Vec::new(),
        };
        let shards = usize::try_from(from.u64("shards")?).unwrap_or(usize::MAX);
        if shards > CHECKPOINT_SHARDS_MAX || FIXED_BYTES + shards * SHARD_BYTES != header_bytes {
            return Err(from.malformed("shards"));
        }
        from.take(FIXED_BYTES.saturating_sub(from.position()), "reserved")?;
        for _ in 0..shards {
            let shard = ShardId(from.u16("shard")?);
            from.take(6, "shard")?;
            let applied = LogIndex(from.u64("shard")?);
            header.shards.push(ShardStart {
                shard,
                applied,
                term: Term(from.u64("shard")?),
            });
        }
        Ok((header, header_bytes))
    }
}

//! What the directory knows of a segment.

use std::path::{Path, PathBuf};

use types::limits::SEGMENT_NAME_BYTES_MAX;
use types::{FileEpoch, FileSequence, PartitionId, SegmentId};

use super::row::{DirectoryRow, ROW_BYTES_LEAST, RowContext};
use crate::decode::{Decoder, Malformed, put_varint, put_zigzag};
use crate::file::name_number;

/// Version of [`SegmentInfo::encode`].
const VERSION: u8 = 1;

/// How a segment came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// A log file as it was written; its footer is a file of its own.
    InPlace = 1,
    /// One partition, written out of log files.
    Clustered = 2,
    /// Many partitions, written out of log files.
    Mixed = 3,
}

impl Class {
    /// The class with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::InPlace,
            2 => Self::Clustered,
            3 => Self::Mixed,
            _ => return None,
        })
    }
}

/// The file that holds a segment's batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its name, relative to the data directory.
    pub name: String,
    /// The log file that it was; 0 for one that was written as a segment.
    pub sequence: FileSequence,
    /// The life of that file.
    pub epoch: FileEpoch,
    /// Byte after the last frame.
    pub end: u64,
}

impl DataFile {
    /// The number in its name, if it is that of a log file.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        name_number(self.name.strip_prefix("log/")?)
    }
}

/// What the directory knows of a segment: enough to open it and to plan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its number, never reused.
    pub id: SegmentId,
    /// How it came about.
    pub class: Class,
    /// When it was sealed, milliseconds since 1970.
    pub created_ms: i64,
    /// Id of the data directory that holds it.
    pub directory: [u8; 16],
    /// Where the batches are.
    pub data: DataFile,
    /// Size of the footer file.
    pub footer_bytes: u64,
    /// What it holds, by partition.
    pub rows: Vec<DirectoryRow>,
}

impl SegmentInfo {
    /// Name of the footer file, relative to the data directory.
    #[must_use]
    pub fn footer_name(&self) -> String {
        footer_name(self.id)
    }

    /// Path of the data file.
    #[must_use]
    pub fn data_path(&self, dir: &Path) -> PathBuf {
        dir.join(&self.data.name)
    }

    /// Path of the footer file.
    #[must_use]
    pub fn footer_path(&self, dir: &Path) -> PathBuf {
        dir.join(self.footer_name())
    }

    /// The row of a partition.
    #[must_use]
    pub fn row(&self, partition: PartitionId) -> Option<&DirectoryRow> {
        let index = self
            .rows
            .binary_search_by_key(&partition, |row| row.partition)
            .ok()?;
        self.rows.get(index)
    }

    /// The description in bytes (docs/formats/swap-entry.md).
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96 + self.data.name.len() + self.rows.len() * 48);
        self.encode_into(&mut out);
        out
    }

    pub(super) fn encode_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[VERSION, self.class as u8]);
        put_varint(out, self.id.0);
        put_zigzag(out, self.created_ms);
        out.extend_from_slice(&self.directory);
        put_varint(out, self.data.name.len() as u64);
        out.extend_from_slice(self.data.name.as_bytes());
        put_varint(out, self.data.sequence.0);
        out.extend_from_slice(&self.data.epoch.0.to_le_bytes());
        put_varint(out, self.data.end);
        put_varint(out, self.footer_bytes);
        put_varint(out, self.rows.len() as u64);
        let mut context = RowContext::default();
        for row in &self.rows {
            row.encode(out, &mut context);
        }
    }

    /// Reads a description.
    ///
    /// # Errors
    /// When the bytes are not one, whole and alone.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Decoder::new(bytes);
        let info = Self::decode_from(&mut from)?;
        from.finish("end of segment")?;
        Ok(info)
    }

    pub(super) fn decode_from(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let fault = from.malformed("segment version");
        if from.u8("segment version")? != VERSION {
            return Err(fault);
        }
        let fault = from.malformed("segment class");
        let class = Class::from_number(from.u8("segment class")?).ok_or(fault)?;
        let id = SegmentId(from.varint("segment id")?);
        let created_ms = from.zigzag("segment time")?;
        let directory = from.array("directory id")?;
        let name = from.count(1, "data file name")?;
        let name = check_name(from.take(name, "data file name")?)
            .ok_or(from.malformed("data file name"))?;
        let data = DataFile {
            name,
            sequence: FileSequence(from.varint("data file sequence")?),
            epoch: FileEpoch(from.u64("data file epoch")?),
            end: from.varint("data file end")?,
        };
        let footer_bytes = from.varint("footer bytes")?;
        let count = from.count(ROW_BYTES_LEAST, "segment rows")?;
        let mut rows: Vec<DirectoryRow> =
            Vec::with_capacity(count.min(from.left() / ROW_ALLOCATED));
        let mut context = RowContext::default();
        for _ in 0..count {
            let fault = from.malformed("order of segment rows");
            let row = DirectoryRow::decode(from, &mut context)?;
            if rows
                .last()
                .is_some_and(|before| before.partition >= row.partition)
            {
                return Err(fault);
            }
            rows.push(row);
        }
        Ok(Self {
            id,
            class,
            created_ms,
            directory,
            data,
            footer_bytes,
            rows,
        })
    }
}

/// Rows take more memory than bytes in their compact form; what is allocated ahead stays below
/// the bytes that there are, whatever the count claims.
const ROW_ALLOCATED: usize = size_of::<DirectoryRow>();

/// A name that stays inside the data directory.
pub(super) fn check_name(bytes: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(bytes).ok()?;
    let inside = !name
        .split('/')
        .any(|part| part.is_empty() || part == "." || part == "..");
    (name.len() <= SEGMENT_NAME_BYTES_MAX && inside && !name.contains('\0'))
        .then(|| name.to_owned())
}

/// Folder of the footers in the data directory.
pub const FOLDER: &str = "segments";
const FOOTER_SUFFIX: &str = ".footer";
const UNFINISHED_SUFFIX: &str = ".footer.new";

/// Name of a segment's footer, relative to the data directory.
#[must_use]
pub fn footer_name(id: SegmentId) -> String {
    format!("{FOLDER}/{id:020}{FOOTER_SUFFIX}")
}

/// Name of a footer that is being written, relative to the data directory.
pub(super) fn unfinished_name(id: SegmentId) -> String {
    format!("{FOLDER}/{id:020}{UNFINISHED_SUFFIX}")
}

/// What a file in the folder of the footers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FooterFile {
    /// The footer of this segment.
    Whole(SegmentId),
    /// What an interrupted seal of this segment left; nobody needs it.
    Unfinished(SegmentId),
}

impl FooterFile {
    /// Tells by the name; `None` for a file that is none of ours.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().map(SegmentId).ok();
        match name.strip_suffix(FOOTER_SUFFIX) {
            Some(digits) => number(digits).map(Self::Whole),
            None => number(name.strip_suffix(UNFINISHED_SUFFIX)?).map(Self::Unfinished),
        }
    }
}

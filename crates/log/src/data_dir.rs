//! The data directory: its layout, its lock, its format version.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use types::Random;

use crate::checkpoint;
use crate::error::{Corruption, Error};
use crate::file::name_number;

/// Format version that this code writes and reads.
pub const FORMAT_VERSION: u16 = 1;

const FORMAT_FILE: &str = "format";
const LOCK_FILE: &str = "lock";

/// An open data directory, locked against other processes while it lives.
#[derive(Debug)]
pub struct DataDir {
    /// The device.
    pub disk: Arc<dyn Disk>,
    /// The directory.
    pub root: PathBuf,
    /// Its id: a remounted disk is known by it.
    pub id: [u8; 16],
    /// It was made by this call and holds nothing yet.
    pub fresh: bool,
    _lock: Box<dyn disk::Lock>,
}

impl DataDir {
    /// Opens a directory, or makes one. A directory without the format file was never finished
    /// and is made anew.
    ///
    /// # Errors
    /// [`Error::NewerFormat`], a lock that another process holds, and those of the device.
    pub fn open(disk: Arc<dyn Disk>, root: &Path, random: &mut dyn Random) -> Result<Self, Error> {
        disk.create_dir(root)?;
        let lock = disk.lock(&root.join(LOCK_FILE))?;
        let id = read_format(disk.as_ref(), root)?;
        let mut dir = Self {
            disk,
            root: root.to_path_buf(),
            id: id.unwrap_or_default(),
            fresh: id.is_none(),
            _lock: lock,
        };
        if dir.fresh {
            dir.id = new_id(random);
            dir.clear()?;
        }
        Ok(dir)
    }

    /// Where log files are.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    /// Where footers and segments are.
    #[must_use]
    pub fn segments(&self) -> PathBuf {
        self.root.join("segments")
    }

    /// Where checkpoints are.
    #[must_use]
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// Writes the format file: from now on the directory is one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish(&self) -> Result<(), Error> {
        let id: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("millrace data directory\nformat {FORMAT_VERSION}\nid {id}\n");
        disk::replace(self.disk.as_ref(), &self.root, FORMAT_FILE, text.as_bytes())?;
        Ok(())
    }

    /// Makes sure that the directory stays one. What the format file reads as may be the name that
    /// a former start gave it in vain, gone at the next power cut, and everything with it.
    ///
    /// # Errors
    /// Those of the device; a full one is not one of them.
    pub fn confirm(&self) -> Result<(), Error> {
        match self.finish() {
            Err(Error::Disk(error)) if error.is_no_space() => {
                tracing::warn!(error = %error, "the format file stays as it is");
                Ok(self.disk.sync_dir(&self.root)?)
            }
            done => done,
        }
    }

    /// Makes the folders and removes what an unfinished start left in them. Nothing is removed
    /// when anything is there that such a start does not leave.
    fn clear(&self) -> Result<(), Error> {
        let folders = [self.log(), self.segments(), self.checkpoints()];
        let mut left = Vec::new();
        for dir in &folders {
            self.disk.create_dir(dir)?;
            for name in self.disk.list(dir)? {
                let path = dir.join(&name);
                if !is_of_a_first_start(&name) {
                    return Err(Error::NotADataDirectory { path });
                }
                left.push(path);
            }
        }
        for path in left {
            self.disk.remove(&path)?;
        }
        for dir in &folders {
            self.disk.sync_dir(dir)?;
        }
        Ok(self.disk.sync_dir(&self.root)?)
    }
}

/// Whether a start that did not get as far as the format file may have left a file of this name: log
/// files, and the first checkpoint under its own name or an unfinished one's.
fn is_of_a_first_start(name: &str) -> bool {
    name_number(name).is_some() || checkpoint::is_of_a_first_start(name)
}

/// A version 4 UUID.
fn new_id(random: &mut dyn Random) -> [u8; 16] {
    types::TopicId::from_random(random.next_u64(), random.next_u64()).0
}

/// The id in the format file; `None` where there is no such file.
fn read_format(disk: &dyn Disk, root: &Path) -> Result<Option<[u8; 16]>, Error> {
    let path = root.join(FORMAT_FILE);
    let file = match disk.open(&path) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut bytes = vec![0; 1024];
    let got = file.read_at(&mut bytes, 0)?;
    bytes.truncate(got);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    parse_format(&text, &path).map(Some)
}

fn parse_format(text: &str, path: &Path) -> Result<[u8; 16], Error> {
    let damaged = || {
        Error::Corrupt(Corruption {
            path: path.to_path_buf(),
            position: 0,
            what: "format file",
            expected: "three lines: title, format, id".to_owned(),
            found: text.chars().take(80).collect(),
        })
    };
    let mut lines = text.lines();
    if lines.next() != Some("millrace data directory") {
        return Err(damaged());
    }
    let version = lines
        .next()
        .and_then(|l| l.strip_prefix("format ")?.parse::<u16>().ok());
    let found = version.ok_or_else(damaged)?;
    if found > FORMAT_VERSION {
        let path = path.to_path_buf();
        return Err(Error::NewerFormat {
            path,
            found,
            supported: FORMAT_VERSION,
        });
    }
    let id = lines
        .next()
        .and_then(|l| l.strip_prefix("id "))
        .and_then(parse_id);
    id.ok_or_else(damaged)
}

fn parse_id(text: &str) -> Option<[u8; 16]> {
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    u128::from_str_radix(text, 16).ok().map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::SimDisk;
    use types::SeededRandom;

    fn open(disk: &SimDisk) -> Result<DataDir, Error> {
        DataDir::open(
            Arc::new(disk.clone()),
            Path::new("d"),
            &mut SeededRandom::new(1),
        )
    }

    #[test]
    fn what_an_unfinished_start_left_is_removed() {
        let disk = SimDisk::new(1);
        for name in [
            "log/00000000000000000001.log",
            "checkpoints/00000000000000000001.checkpoint",
        ] {
            disk.place(&Path::new("d").join(name), b"left");
        }
        let dir = open(&disk).unwrap();
        assert!(dir.fresh);
        assert_eq!(dir.disk.list(&dir.log()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_directory_that_is_somebody_elses_is_left_alone() {
        for name in [
            "log/syslog",
            "log/a.log",
            "segments/x",
            "checkpoints/00000000000000000002.checkpoint",
        ] {
            let disk = SimDisk::new(1);
            let path = Path::new("d").join(name);
            disk.place(&path, b"theirs");
            assert!(
                matches!(open(&disk), Err(Error::NotADataDirectory { .. })),
                "{name}"
            );
            assert_eq!(
                disk.contents(&path).as_deref(),
                Some(&b"theirs"[..]),
                "{name}"
            );
        }
    }
}

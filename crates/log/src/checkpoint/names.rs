//! Names of the files in the folder of the checkpoints.

use std::path::{Path, PathBuf};

use disk::Disk;

use crate::error::Error;

/// Folder of the checkpoints in the data directory.
pub const FOLDER: &str = "checkpoints";
/// The file that the next checkpoint is written into before it gets its name.
const NEXT: &str = "next.checkpoint.new";
const SUFFIX: &str = ".checkpoint";

pub(super) fn folder(dir: &Path) -> PathBuf {
    dir.join(FOLDER)
}

pub(super) fn next_path(dir: &Path) -> PathBuf {
    folder(dir).join(NEXT)
}

/// Path of a checkpoint in its data directory.
#[must_use]
pub fn checkpoint_path(dir: &Path, number: u64) -> PathBuf {
    folder(dir).join(format!("{number:020}{SUFFIX}"))
}

/// Whether the start that makes a data directory may leave a file of this name when it is cut.
pub(crate) fn is_of_a_first_start(name: &str) -> bool {
    name == NEXT || number_of(name) == Some(1)
}

fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    (digits.len() == 20).then(|| digits.parse().ok())?
}

/// Numbers of the checkpoints that have their name, the newest first.
pub(super) fn numbers(disk: &dyn Disk, dir: &Path) -> Result<Vec<u64>, Error> {
    let names = match disk.list(&folder(dir)) {
        Ok(names) => names,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    Ok(numbers)
}

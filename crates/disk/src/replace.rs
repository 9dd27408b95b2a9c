//! Replacing a small file in one step.

use std::io::IoSlice;
use std::path::Path;

use crate::{Disk, Error};

/// What is added to a name while its new contents are written.
pub const REPLACE_SUFFIX: &str = ".new";

/// Gives `dir/name` new contents: after a power cut at any point it holds the old ones or the new
/// ones, whole. Durable when this returns.
///
/// The new contents are written as `name` + [`REPLACE_SUFFIX`]; what a former try left under that
/// name is removed first, and a try that fails leaves it.
///
/// # Errors
/// Any error of the device. After one of the rename or of the directory's sync, old and new
/// contents are equally possible.
pub fn replace(disk: &dyn Disk, dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = dir.join(name);
    let new = dir.join(format!("{name}{REPLACE_SUFFIX}"));
    match disk.remove(&new) {
        Err(error) if !error.is_not_found() => return Err(error),
        _ => {}
    }
    let file = disk.create(&new)?;
    file.write_at(&[IoSlice::new(bytes)], 0)?;
    file.sync_data()?;
    disk.rename(&new, &path)?;
    disk.sync_dir(dir)
}

/// Reads a whole file.
///
/// # Errors
/// Any error of the device; [`Error::is_not_found`] when there is no such file, and `FileTooLarge`
/// of [`Op::Read`](crate::Op::Read) when it is longer than `max_bytes`.
pub fn read_whole(disk: &dyn Disk, path: &Path, max_bytes: usize) -> Result<Vec<u8>, Error> {
    let file = disk.open(path)?;
    let len = file.len()?;
    let fitting = usize::try_from(len).ok().filter(|len| *len <= max_bytes);
    let Some(len) = fitting else {
        let source = std::io::ErrorKind::FileTooLarge.into();
        return Err(Error::new(crate::Op::Read, path, len, source));
    };
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

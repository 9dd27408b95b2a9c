//! Names, directories and room of the real disk.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Advice, AtFlags, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::file::RealFile;
use super::lock::RealLock;
use crate::{Disk, Error, File, Lock, Op, Space};

/// Messages are nobody else's business: files are for their owner alone.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIR_MODE: Mode = Mode::from_raw_mode(0o700);

/// The disk of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl RealDisk {
    /// The disk. Paths are those of the operating system.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let fd = open(path, flags).map_err(|e| failed(Op::Create, path, e))?;
        // What is read ahead of the writer would be in its way. Advice only.
        rustix::fs::fadvise(&fd, 0, None, Advice::Random).ok();
        Ok(Arc::new(RealFile::new(fd, path)))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>, Error> {
        let fd = open(path, OFlags::RDWR | OFlags::CLOEXEC);
        Ok(Arc::new(RealFile::new(
            fd.map_err(|e| failed(Op::Open, path, e))?,
            path,
        )))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), Error> {
        retry_on_intr(|| rustix::fs::rename(from, to)).map_err(|e| failed(Op::Rename, from, e))
    }

    fn remove(&self, path: &Path) -> Result<(), Error> {
        retry_on_intr(|| rustix::fs::unlink(path)).map_err(|e| failed(Op::Remove, path, e))
    }

    fn create_dir(&self, path: &Path) -> Result<(), Error> {
        create_dirs(path).map_err(|e| failed(Op::CreateDir, path, e))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, Error> {
        list(dir).map_err(|e| failed(Op::List, dir, e))
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), Error> {
        sync_dir(dir).map_err(|e| failed(Op::SyncDir, dir, e))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>, Error> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let lock = open(path, flags).and_then(RealLock::take);
        Ok(Box::new(lock.map_err(|e| failed(Op::Lock, path, e))?))
    }

    fn space(&self, dir: &Path) -> Result<Space, Error> {
        let stat = retry_on_intr(|| rustix::fs::statvfs(dir));
        let stat = stat.map_err(|e| failed(Op::Space, dir, e))?;
        Ok(Space {
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        })
    }
}

fn failed(op: Op, path: &Path, errno: Errno) -> Error {
    Error::new(op, path, 0, io::Error::from(errno))
}

fn open(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::open(path, flags, FILE_MODE))
}

/// Makes `path` and the parents that are missing, each durable in its own parent.
fn create_dirs(path: &Path) -> Result<(), Errno> {
    match retry_on_intr(|| rustix::fs::mkdir(path, DIR_MODE)) {
        Ok(()) => sync_dir(parent(path)),
        Err(Errno::EXIST) => exists_as_dir(path),
        Err(Errno::NOENT) if parent(path) != path => {
            create_dirs(parent(path))?;
            create_dirs(path)
        }
        Err(error) => Err(error),
    }
}

/// The directory that a name stands in; a relative name of one part stands in `.`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// A directory that exists may be left by a process that ended before it synced the parent, so
/// that is done again; a parent that we may not open is not ours to have made it in.
fn exists_as_dir(path: &Path) -> Result<(), Errno> {
    let stat = retry_on_intr(|| rustix::fs::stat(path))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    match sync_dir(parent(path)) {
        Err(Errno::ACCESS | Errno::PERM) => Ok(()),
        other => other,
    }
}

fn open_dir(dir: &Path) -> Result<OwnedFd, Errno> {
    open(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

fn sync_dir(dir: &Path) -> Result<(), Errno> {
    let fd = open_dir(dir)?;
    retry_on_intr(|| rustix::fs::fsync(&fd))
}

/// Names that are not UTF-8 are none of ours and are left out.
fn list(dir: &Path) -> Result<Vec<String>, Errno> {
    let fd = open_dir(dir)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&fd)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && is_file(&fd, &entry)?
        {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Some file systems do not say the type in the directory; then the file itself is asked.
fn is_file(dir: &OwnedFd, entry: &DirEntry) -> Result<bool, Errno> {
    if entry.file_type() != FileType::Unknown {
        return Ok(entry.file_type() == FileType::RegularFile);
    }
    let name = OsStr::from_bytes(entry.file_name().to_bytes());
    match retry_on_intr(|| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile),
        // Removed since the directory was read.
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

//! An open file of the real disk.

use std::io::{self, IoSlice, IoSliceMut};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Advice, FallocateFlags, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags, retry_on_intr};

use types::limits::BLOCK_BYTES;

use crate::{Error, File, Op};

/// The most slices that the kernel takes in one call (`UIO_MAXIOV`).
const SLICES_MAX: usize = 1024;
/// Zeros are written in pieces of this size where the file system cannot reserve blocks.
const ZEROS: &[u8] = &[0; 64 << 10];

#[derive(Debug)]
pub(super) struct RealFile {
    fd: OwnedFd,
    path: PathBuf,
    /// The same file past the page cache, opened when it is first wanted; `None` where the file
    /// system cannot.
    direct: OnceLock<Option<OwnedFd>>,
}

impl RealFile {
    pub(super) fn new(fd: OwnedFd, path: &Path) -> Self {
        Self {
            fd,
            path: path.to_path_buf(),
            direct: OnceLock::new(),
        }
    }

    /// The descriptor past the page cache. Opened by number, because a file may have
    /// another name by now.
    fn direct(&self) -> Option<&OwnedFd> {
        let open = || {
            let own = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
            let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
            retry_on_intr(|| rustix::fs::open(own.as_str(), flags, Mode::empty())).ok()
        };
        self.direct.get_or_init(open).as_ref()
    }

    fn failed(&self, op: Op, position: u64, source: impl Into<io::Error>) -> Error {
        Error::new(op, &self.path, position, source.into())
    }

    fn size(&self) -> Result<u64, Errno> {
        let stat = retry_on_intr(|| rustix::fs::fstat(&self.fd))?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Reads what the page cache holds; `None` as soon as the device would be needed.
    fn read_cached(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, Errno> {
        let mut done = 0;
        while done < buf.len() {
            let mut slices = [IoSliceMut::new(&mut buf[done..])];
            let at = position.saturating_add(done as u64);
            let read = retry_on_intr(|| {
                rustix::io::preadv2(&self.fd, &mut slices, at, ReadWriteFlags::NOWAIT)
            });
            match read {
                // Some kernels (5.9, 5.10) say 0 where they mean "would wait".
                Ok(0) if at < self.size()? => return Ok(None),
                Ok(0) => break,
                Ok(count) => done += count,
                Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(done))
    }

    /// Writes the part of a range that lies beyond the end of the file as zeros.
    fn fill(&self, position: u64, len: u64) -> Result<(), io::Error> {
        let end = position.saturating_add(len);
        let mut at = self.size()?;
        while at < end {
            let piece = usize::try_from(end - at)
                .unwrap_or(usize::MAX)
                .min(ZEROS.len());
            write_all(&self.fd, &[IoSlice::new(&ZEROS[..piece])], at)?;
            at += piece as u64;
        }
        Ok(())
    }
}

impl File for RealFile {
    fn read_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        let mut done = 0;
        while done < buf.len() {
            let at = position.saturating_add(done as u64);
            let read = retry_on_intr(|| rustix::io::pread(&self.fd, &mut buf[done..], at));
            match read.map_err(|e| self.failed(Op::Read, at, e))? {
                0 => break,
                count => done += count,
            }
        }
        Ok(done)
    }

    fn read_direct_at(&self, buf: &mut [u8], position: u64) -> Result<usize, Error> {
        let done = match self.direct().filter(|_| is_aligned(buf, position)) {
            Some(direct) => read_past_cache(direct, buf, position),
            None => Ok(0),
        };
        let done = done.map_err(|e| self.failed(Op::Read, position, e))?;
        // What is left lies behind the end of the file, or the file system wants another alignment.
        match buf.get_mut(done..) {
            None | Some([]) => Ok(done),
            Some(rest) => Ok(done + self.read_at(rest, position + done as u64)?),
        }
    }

    fn read_cached_at(&self, buf: &mut [u8], position: u64) -> Result<Option<usize>, Error> {
        self.read_cached(buf, position)
            .map_err(|e| self.failed(Op::Read, position, e))
    }

    fn write_at(&self, bufs: &[IoSlice<'_>], position: u64) -> Result<(), Error> {
        write_all(&self.fd, bufs, position).map_err(|e| self.failed(Op::Write, position, e))
    }

    fn write_direct_at(&self, buf: &[u8], position: u64) -> Result<(), Error> {
        let done = match self.direct().filter(|_| is_aligned(buf, position)) {
            Some(direct) => write_past_cache(direct, buf, position),
            None => Ok(0),
        };
        let done = done.map_err(|e| self.failed(Op::Write, position, e))?;
        match buf.get(done..) {
            None | Some([]) => Ok(()),
            Some(rest) => self.write_at(&[IoSlice::new(rest)], position + done as u64),
        }
    }

    fn sync_data(&self) -> Result<(), Error> {
        let done = retry_on_intr(|| rustix::fs::fdatasync(&self.fd));
        done.map_err(|e| self.failed(Op::SyncData, 0, e))
    }

    fn allocate(&self, position: u64, len: u64) -> Result<(), Error> {
        if len == 0 {
            return Ok(());
        }
        let reserve = || rustix::fs::fallocate(&self.fd, FallocateFlags::empty(), position, len);
        let done = match retry_on_intr(reserve) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.fill(position, len),
            other => other.map_err(io::Error::from),
        };
        done.map_err(|e| self.failed(Op::Allocate, position, e))
    }

    fn set_len(&self, len: u64) -> Result<(), Error> {
        let done = retry_on_intr(|| rustix::fs::ftruncate(&self.fd, len));
        done.map_err(|e| self.failed(Op::SetLen, len, e))
    }

    fn punch(&self, position: u64, len: u64) -> Result<(), Error> {
        if len == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let done = retry_on_intr(|| rustix::fs::fallocate(&self.fd, flags, position, len));
        done.map_err(|e| self.failed(Op::Punch, position, e))
    }

    fn len(&self) -> Result<u64, Error> {
        self.size().map_err(|e| self.failed(Op::Len, 0, e))
    }

    fn prefetch(&self, position: u64, len: u64) {
        if let Some(len) = NonZeroU64::new(len) {
            // Advice only: a file system that refuses it loses nothing but speed.
            rustix::fs::fadvise(&self.fd, position, Some(len), Advice::WillNeed).ok();
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }
}

fn is_aligned(buf: &[u8], position: u64) -> bool {
    let blocks = |number: u64| number.is_multiple_of(BLOCK_BYTES);
    blocks(buf.as_ptr().addr() as u64) && blocks(buf.len() as u64) && blocks(position)
}

/// Reads whole blocks; gives how many bytes.
fn read_past_cache(direct: &OwnedFd, buf: &mut [u8], position: u64) -> Result<usize, Errno> {
    let mut done = 0;
    while let Some(rest @ [_, ..]) = buf.get_mut(done..)
        && is_aligned(rest, position + done as u64)
    {
        let at = position.saturating_add(done as u64);
        match retry_on_intr(|| rustix::io::pread(direct, &mut *rest, at)) {
            Ok(0) | Err(Errno::INVAL | Errno::OPNOTSUPP) => break,
            Ok(count) => done += count,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes whole blocks; gives how many bytes of `buf` are written. What is left after a short write,
/// or where the file system wants another alignment, goes through the page cache.
fn write_past_cache(direct: &OwnedFd, buf: &[u8], position: u64) -> Result<usize, Errno> {
    let mut done = 0;
    while let Some(rest @ [_, ..]) = buf.get(done..)
        && is_aligned(rest, position + done as u64)
    {
        let at = position.saturating_add(done as u64);
        match retry_on_intr(|| rustix::io::pwrite(direct, rest, at)) {
            Ok(0) | Err(Errno::INVAL | Errno::OPNOTSUPP) => break,
            Ok(count) => done += count,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn write_all(fd: &OwnedFd, bufs: &[IoSlice<'_>], position: u64) -> Result<(), io::Error> {
    let mut pwritev =
        |slices: &[IoSlice<'_>], at| Ok(retry_on_intr(|| rustix::io::pwritev(fd, slices, at))?);
    let mut at = position;
    for batch in bufs.chunks(SLICES_MAX) {
        at = write_batch(batch, at, &mut pwritev)?;
    }
    Ok(())
}

/// Writes at most [`SLICES_MAX`] slices by as many calls as it takes; gives the position after
/// them.
fn write_batch(
    batch: &[IoSlice<'_>],
    position: u64,
    pwritev: &mut impl FnMut(&[IoSlice<'_>], u64) -> Result<usize, io::Error>,
) -> Result<u64, io::Error> {
    let total: usize = batch.iter().map(|slice| slice.len()).sum();
    let mut done = pwritev(batch, position)?;
    if done < total {
        let mut copies = batch.to_vec();
        let mut rest = &mut copies[..];
        let mut count = done;
        while done < total {
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            IoSlice::advance_slices(&mut rest, count);
            count = pwritev(rest, position.saturating_add(done as u64))?;
            done += count;
        }
    }
    Ok(position.saturating_add(total as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_goes_on_where_the_kernel_stopped() {
        let bytes: Vec<u8> = (0..100).collect();
        let slices: Vec<IoSlice<'_>> = bytes.chunks(7).map(IoSlice::new).collect();
        for step in [1, 3, 7, 20, 99, 100] {
            let mut written: Vec<u8> = Vec::new();
            let end = write_batch(&slices, 1000, &mut |slices, at| {
                assert_eq!(at, 1000 + written.len() as u64);
                let before = written.len();
                let offered = slices.iter().flat_map(|slice| slice.iter());
                written.extend(offered.take(step).copied());
                Ok(written.len() - before)
            });
            assert_eq!(end.unwrap(), 1100);
            assert_eq!(written, bytes, "{step} bytes at a time");
        }
    }

    #[test]
    fn a_write_that_does_not_move_is_an_error() {
        let slices = [IoSlice::new(b"abc")];
        let mut counts = [2, 0].into_iter();
        let error = write_batch(&slices, 0, &mut |_, _| Ok(counts.next().unwrap())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn an_error_after_a_part_is_told() {
        let slices = [IoSlice::new(b"abc")];
        let mut counts = [Ok(2), Err(io::ErrorKind::StorageFull.into())].into_iter();
        let error = write_batch(&slices, 0, &mut |_, _| counts.next().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

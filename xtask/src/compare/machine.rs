//! The machine that the figures come from: processor, kernel, how long its disk takes to sync, and
//! what sending costs.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::{fdatasync, major, minor};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::paths;

const SYNC_BLOCK_BYTES: usize = 4096;
const SYNCS: u64 = 200;
/// As much as a broker keeps in memory for readers, sent over and over.
const SENT_MEMORY_BYTES: usize = 24 << 20;
const SENT_PIECE_BYTES: usize = 1 << 20;
const SENT_ROUNDS: usize = 100;

/// What stands above every table of figures.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_mib: u64,
    pub kernel: String,
    /// Write and fdatasync of a 4 KiB block that was written before.
    pub sync_median_ms: f64,
    pub sync_p99_ms: f64,
    /// Processor time that sending costs who sends, in pieces of 1 MiB over the loopback interface:
    /// a broker that answers readers from its memory needs more.
    pub send_cpu_s_per_gb: f64,
    pub commit: String,
}

impl Machine {
    pub(super) fn read() -> Result<Self> {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo")?;
        let meminfo = std::fs::read_to_string("/proc/meminfo")?;
        let memory = field(&meminfo, "MemTotal")
            .unwrap_or_default()
            .replace(" kB", "");
        let (sync_median_ms, sync_p99_ms) = syncs()?;
        Ok(Self {
            processor: field(&cpuinfo, "model name")
                .unwrap_or("unknown")
                .to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            memory_mib: memory.parse::<u64>().unwrap_or(0) / 1024,
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")?
                .trim()
                .to_owned(),
            sync_median_ms,
            sync_p99_ms,
            send_cpu_s_per_gb: send_cost()?,
            commit: commit(),
        })
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

fn commit() -> String {
    let mut git = crate::command::command(["git", "rev-parse", "--short", "HEAD"]);
    let limit = Duration::from_secs(10);
    let commit = crate::command::run(git.current_dir(paths::root()), limit);
    commit.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// Median and 99th percentile, in milliseconds.
fn syncs() -> Result<(f64, f64)> {
    let dir = paths::scratch("sync")?;
    let file = File::create(dir.path().join("block"))?;
    let block = [7; SYNC_BLOCK_BYTES];
    file.write_all_at(&block, 0)?;
    fdatasync(&file)?;
    let mut times = Vec::new();
    for _ in 0..SYNCS {
        let started = Instant::now();
        file.write_all_at(&block, 0)?;
        fdatasync(&file)?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(0.0);
    Ok((at(50), at(99)))
}

/// Processor seconds of the sender per GB.
fn send_cost() -> Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiver, _) = listener.accept()?;
    let memory = vec![7_u8; SENT_MEMORY_BYTES];
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut buffer = vec![0; SENT_PIECE_BYTES];
            while receiver.read(&mut buffer).is_ok_and(|read| read > 0) {}
        });
        let before = thread_cpu();
        for piece in std::iter::repeat_n(memory.chunks(SENT_PIECE_BYTES), SENT_ROUNDS).flatten() {
            sender.write_all(piece)?;
        }
        let spent = thread_cpu().saturating_sub(before);
        drop(sender);
        Ok(spent.as_secs_f64() * 1e9 / (SENT_MEMORY_BYTES * SENT_ROUNDS) as f64)
    })
}

fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let secs = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(secs, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Counters of the disk that holds a directory, since the machine started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Disk {
    pub written_bytes: u64,
    pub flushes: u64,
    pub flush_ms: u64,
}

const SECTOR_BYTES: u64 = 512;

impl Disk {
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let device = std::fs::metadata(dir)?.dev();
        let wanted = [major(device).to_string(), minor(device).to_string()];
        let text = std::fs::read_to_string("/proc/diskstats")?;
        let fields = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|fields| fields.iter().take(2).eq(&wanted))
            .with_context(|| format!("no counters for the disk of {}", dir.display()))?;
        // Counted from 0: sectors written at 9; flushes and their milliseconds at 18 and 19, where the kernel has them.
        let number = |at: usize| {
            fields
                .get(at)
                .and_then(|text| text.parse().ok())
                .unwrap_or(0)
        };
        Ok(Self {
            written_bytes: number(9) * SECTOR_BYTES,
            flushes: number(18),
            flush_ms: number(19),
        })
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
            flushes: self.flushes.saturating_sub(before.flushes),
            flush_ms: self.flush_ms.saturating_sub(before.flush_ms),
        }
    }
}

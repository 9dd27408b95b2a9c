//! What the kernel knows about a running program: processor time and memory.

use std::time::Duration;

use anyhow::{Context, Result};

/// The unit of times in `/proc`, fixed by the kernel's interface to programs.
const TICKS_PER_SECOND: f64 = 100.0;
const KIB: u64 = 1024;

/// A reading of one process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// User and system time since the process started.
    pub cpu_s: f64,
    pub resident_bytes: u64,
    pub resident_peak_bytes: u64,
}

/// Reads a process.
pub(crate) fn usage(pid: u32) -> Result<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("process {pid} is gone"))?;
    // The command's name, in parentheses, may hold anything; the fields after it are plain.
    let (_, fields) = stat
        .rsplit_once(')')
        .context("a stat line without a name")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |index: usize| -> Result<f64> {
        Ok(fields
            .get(index)
            .context("a short stat line")?
            .parse::<f64>()?)
    };
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    Ok(Usage {
        cpu_s: (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND,
        resident_bytes: kib(&status, "VmRSS:")?,
        resident_peak_bytes: kib(&status, "VmHWM:")?,
    })
}

/// Processor time of all children that have been waited for.
pub(crate) fn children_cpu() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat
        .rsplit_once(')')
        .context("a stat line without a name")?;
    let ticks: f64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(str::parse::<f64>)
        .sum::<Result<f64, _>>()?;
    Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
}

fn kib(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {name} in the status"))?
        .parse::<u64>()?
        * KIB)
}

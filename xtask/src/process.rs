//! What the kernel knows about a running program: processor time and memory.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The unit of times in `/proc`, fixed by the kernel's interface to programs.
const TICKS_PER_SECOND: f64 = 100.0;
const KIB: u64 = 1024;
/// Where a stat line has the times of the process or thread itself, counted behind its name.
const OWN_TIMES: usize = 11;
/// And those of its children that have ended.
const CHILDRENS_TIMES: usize = 13;
/// How often threads are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

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
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    Ok(Usage {
        cpu_s: cpu_s(&stat, OWN_TIMES)?,
        resident_bytes: kib(&status, "VmRSS:")?,
        resident_peak_bytes: kib(&status, "VmHWM:")?,
    })
}

/// Processor time of all children that have been waited for.
pub(crate) fn children_cpu() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    Ok(Duration::from_secs_f64(cpu_s(&stat, CHILDRENS_TIMES)?))
}

/// User and system time in a stat line, which begin at this field behind the name.
fn cpu_s(stat: &str, at: usize) -> Result<f64> {
    // The name, in parentheses, may hold anything; the fields after it are plain.
    let (_, fields) = stat
        .rsplit_once(')')
        .context("a stat line without a name")?;
    let times: Vec<_> = fields.split_whitespace().skip(at).take(2).collect();
    ensure!(times.len() == 2, "a short stat line");
    let ticks = times
        .into_iter()
        .map(str::parse::<f64>)
        .sum::<Result<f64, _>>()?;
    Ok(ticks / TICKS_PER_SECOND)
}

/// The threads of a process, as they were seen while it ran.
#[derive(Debug)]
pub(crate) struct Threads {
    begun: Instant,
    looked: Instant,
    /// Processor seconds of each thread, when it was last seen.
    cpu_s: BTreeMap<String, f64>,
}

impl Threads {
    pub(crate) fn new() -> Self {
        let begun = Instant::now();
        Self {
            begun,
            looked: begun,
            cpu_s: BTreeMap::new(),
        }
    }

    /// Looks at a process, not too often. Of one that is gone nothing is seen.
    pub(crate) fn look(&mut self, pid: u32) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let stat = std::fs::read_to_string(task.path().join("stat"));
            if let Some(cpu_s) = stat.ok().and_then(|stat| cpu_s(&stat, OWN_TIMES).ok()) {
                let thread = task.file_name().to_string_lossy().into_owned();
                self.cpu_s.insert(thread, cpu_s);
            }
        }
    }

    /// The part of a core that the busiest thread took from the start on.
    pub(crate) fn busiest_share(&self) -> Option<f64> {
        let seconds = (self.looked - self.begun).as_secs_f64();
        let busiest = self.cpu_s.values().copied().max_by(f64::total_cmp)?;
        Some(busiest / seconds)
    }
}

fn kib(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {name} in the status"))?
        .parse::<u64>()?
        * KIB)
}

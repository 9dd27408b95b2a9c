//! The status of a node, from before its start to after its stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admin::{Listener, Status, StatusSource};
use tokio::net::TcpListener;
use types::{Clock, SystemClock};

use super::bind::Bound;
use crate::config::NodeConfig;

/// What the shell knows itself; the rest comes from the node while it runs.
pub(crate) struct ShellStatus {
    clock: SystemClock,
    started: Duration,
    base: Status,
    phase: Mutex<Phase>,
}

#[derive(Clone)]
enum Phase {
    Starting,
    Running(Arc<dyn StatusSource>),
    Stopping(Arc<dyn StatusSource>),
}

impl ShellStatus {
    /// The status of a node that is starting.
    pub(crate) fn new(config: &NodeConfig, bound: &Bound) -> Self {
        let clock = SystemClock::new();
        let base = Status {
            version: env!("CARGO_PKG_VERSION").into(),
            node_id: config.node_id,
            cluster_id: config.cluster_id.clone().unwrap_or_default(),
            listeners: listeners(bound),
            data_dir: config.log.dir.display().to_string(),
            ..Status::default()
        };
        Self {
            started: clock.monotonic(),
            clock,
            base,
            phase: Mutex::new(Phase::Starting),
        }
    }

    /// All listeners that are on.
    pub(crate) fn listeners(&self) -> &[Listener] {
        &self.base.listeners
    }

    /// The node runs: it is asked from now on.
    pub(crate) fn attach(&self, node: Arc<dyn StatusSource>) {
        self.set(Phase::Running(node));
    }

    /// The stop has begun.
    pub(crate) fn stopping(&self) {
        if let Phase::Running(node) = self.phase() {
            self.set(Phase::Stopping(node));
        }
    }

    fn phase(&self) -> Phase {
        self.phase
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }
}

impl StatusSource for ShellStatus {
    fn status(&self) -> Status {
        let node = match self.phase() {
            Phase::Starting => self.base.clone(),
            Phase::Running(node) | Phase::Stopping(node) => node.status(),
        };
        let up = self.clock.monotonic().saturating_sub(self.started);
        let cluster_id = Some(node.cluster_id.clone()).filter(|id| !id.is_empty());
        Status {
            version: self.base.version.clone(),
            uptime_ms: u64::try_from(up.as_millis()).unwrap_or(u64::MAX),
            node_id: self.base.node_id,
            cluster_id: cluster_id.unwrap_or_else(|| self.base.cluster_id.clone()),
            listeners: self.base.listeners.clone(),
            data_dir: self.base.data_dir.clone(),
            resident_bytes: resident_bytes().unwrap_or(0),
            ..node
        }
    }

    fn ready(&self) -> Result<(), String> {
        match self.phase() {
            Phase::Starting => Err("starting: recovering the log".into()),
            Phase::Running(node) => node.ready(),
            Phase::Stopping(_) => Err("stopping".into()),
        }
    }
}

fn listeners(bound: &Bound) -> Vec<Listener> {
    let listener = |name: &str, sockets: &[TcpListener]| {
        let addresses = sockets.iter().filter_map(|s| s.local_addr().ok());
        Listener {
            name: name.into(),
            addresses: addresses.map(|a| a.to_string()).collect(),
        }
    };
    let all = [
        listener("kafka", &bound.kafka),
        listener("admin", &bound.admin),
    ];
    all.into_iter()
        .filter(|l| !l.addresses.is_empty())
        .collect()
}

/// `VmRSS`, as the kernel tells it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

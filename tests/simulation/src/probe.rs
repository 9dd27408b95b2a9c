//! Cutting the power at chosen operations without ending the run: a copy of the disk is taken as the
//! cut would leave it, and judged on its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, Op, Operation, Phase, RecordingDisk, SimDisk, When};
use parking_lot::Mutex;
use types::{Random, SeededRandom};

/// A place where the power goes: what the node is doing, to which part of which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// What the node is doing.
    pub path: &'static str,
    /// The operation.
    pub op: Op,
    /// What it is done to.
    pub place: &'static str,
    /// On which side of it.
    pub when: When,
}

/// A disk as a cut left it.
#[derive(Debug)]
pub struct Cut {
    /// Where.
    pub point: Point,
    /// The disk, switched on again.
    pub disk: SimDisk,
}

/// Takes copies at operations.
#[derive(Clone, Debug)]
pub struct Probe {
    disk: SimDisk,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    random: SeededRandom,
    /// Copies that each point gets.
    most: u64,
    label: &'static str,
    /// The disk is nearly full.
    full: bool,
    /// What was last written to each file: what a sync of it is about.
    written: BTreeMap<PathBuf, &'static str>,
    counts: BTreeMap<Point, u64>,
    cuts: Vec<Cut>,
}

impl Probe {
    /// A probe of `disk` that takes `most` copies at each point.
    #[must_use]
    pub fn new(disk: &SimDisk, seed: u64, most: u64) -> Self {
        let state = State {
            random: SeededRandom::new(seed),
            most,
            label: "",
            full: false,
            written: BTreeMap::new(),
            counts: BTreeMap::new(),
            cuts: Vec::new(),
        };
        Self {
            disk: disk.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The disk for the node to use.
    #[must_use]
    pub fn watch(&self) -> Arc<dyn Disk> {
        let probe = self.clone();
        let disk = Arc::new(self.disk.clone());
        Arc::new(RecordingDisk::new(disk, move |operation, phase| {
            probe.see(operation, phase)
        }))
    }

    /// What the node does from now on.
    pub fn set_label(&self, label: &'static str) {
        self.state.lock().label = label;
    }

    /// Whether the disk is nearly full from now on.
    pub fn set_full(&self, full: bool) {
        self.state.lock().full = full;
    }

    /// The copies taken since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<Cut> {
        std::mem::take(&mut self.state.lock().cuts)
    }

    /// How many copies were taken, by point.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Point, u64> {
        self.state.lock().counts.clone()
    }

    fn see(&self, operation: &Operation, phase: Phase) {
        let Some(place) = place(operation.op, &operation.path, operation.position) else {
            return;
        };
        let when = match phase {
            Phase::Start => When::Before,
            Phase::End(true) => When::After,
            Phase::End(false) => return,
        };
        let mut state = self.state.lock();
        let written = state.written.get(&*operation.path).copied();
        let place = if operation.op == Op::SyncData {
            written.unwrap_or(place)
        } else {
            place
        };
        if operation.op != Op::SyncData && when == When::Before {
            state.written.insert(operation.path.to_path_buf(), place);
        }
        let path = path_of(state.label, operation.op, place, state.full);
        let point = Point {
            path,
            op: operation.op,
            place,
            when,
        };
        let count = state.counts.get(&point).copied().unwrap_or(0);
        // The first ones of each, and some by chance, so that they lie all over a run.
        let wanted = count * 2 < state.most || state.random.chance(1, 8);
        if count < state.most && wanted && !self.disk.is_off() {
            let seed = state.random.next_u64();
            let disk = self.disk.crashed_copy(seed);
            state.counts.insert(point, count + 1);
            state.cuts.push(Cut { point, disk });
        }
    }
}

/// What an operation is done to; `None` when it changes nothing.
fn place(op: Op, path: &Path, position: u64) -> Option<&'static str> {
    if matches!(
        op,
        Op::Open | Op::Read | Op::Len | Op::List | Op::Space | Op::Lock
    ) {
        return None;
    }
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let extension = path
        .extension()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    Some(match (extension, name) {
        ("log", _) if op == Op::Write || op == Op::SyncData => match position {
            0 => "header 1",
            4096 => "header 2",
            _ => "frames",
        },
        ("log", _) => "log file",
        ("footer", _) => "footer",
        ("checkpoint", _) => "checkpoint",
        ("new", "next.checkpoint.new") => "next checkpoint",
        ("new", "format.new") => "format",
        ("new", _) => "footer",
        (_, "log") => "log directory",
        (_, "segments") => "segment directory",
        (_, "checkpoints") => "checkpoint directory",
        _ => "directory",
    })
}

/// The path that an operation belongs to.
fn path_of(label: &'static str, op: Op, place: &str, full: bool) -> &'static str {
    match label {
        "recovery" | "creation" => label,
        _ if full => "full disk",
        "writer" if op == Op::SyncData || place.starts_with("header") => "roll",
        "writer" | "syncer" => "append",
        other => other,
    }
}

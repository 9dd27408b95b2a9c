//! What a run did.

use std::collections::BTreeMap;

use crate::model::ExpiriesJudged;
use crate::probe::Point;

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Runs.
    pub seeds: u64,
    /// Things done, one after the other.
    pub ticks: u64,
    /// Power cuts that ended a life.
    pub cuts: u64,
    /// Power cuts at a chosen operation, of which a copy was judged.
    pub points: BTreeMap<Point, u64>,
    /// Starts of a node, finished ones.
    pub starts: u64,
    /// Stops in order.
    pub clean_stops: u64,
    /// Ends of the process with the power on.
    pub kills: u64,
    /// Times that the log was stopped by a failure.
    pub poisoned: u64,
    /// Times that the disk was full and became free again.
    pub full_phases: u64,
    /// Starts on a disk so full that the node could only be read.
    pub stuck: u64,
    /// Batches that were confirmed or seen.
    pub confirmed: u64,
    /// Batches that were sent.
    pub sent: u64,
    /// Reads, and those of them that were held over other steps.
    pub reads: u64,
    /// Reads that were planned and carried out later.
    pub held_reads: u64,
    /// Frames made while another was to be written.
    pub assembled_ahead: u64,
    /// Segments made.
    pub sealed: u64,
    /// Log starts that moved by themselves and could be judged.
    pub expiries: ExpiriesJudged,
    /// Hash of everything that was asked of the disk.
    pub trace: u64,
}

impl Summary {
    /// Adds another run.
    pub fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.ticks += other.ticks;
        self.cuts += other.cuts;
        for (point, count) in &other.points {
            *self.points.entry(*point).or_default() += count;
        }
        self.starts += other.starts;
        self.clean_stops += other.clean_stops;
        self.kills += other.kills;
        self.poisoned += other.poisoned;
        self.full_phases += other.full_phases;
        self.stuck += other.stuck;
        self.confirmed += other.confirmed;
        self.sent += other.sent;
        self.reads += other.reads;
        self.held_reads += other.held_reads;
        self.assembled_ahead += other.assembled_ahead;
        self.sealed += other.sealed;
        self.expiries.add(other.expiries);
        self.trace = self.trace.rotate_left(7) ^ other.trace;
    }
}

/// What is known of one path through the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCuts {
    /// Distinct places where the power went.
    pub points: u64,
    /// Cuts.
    pub cuts: u64,
}

impl Summary {
    /// The cuts at chosen operations by path.
    #[must_use]
    pub fn paths(&self) -> BTreeMap<&'static str, PathCuts> {
        let mut paths: BTreeMap<_, PathCuts> = BTreeMap::new();
        for (point, count) in &self.points {
            let path = paths.entry(point.path).or_default();
            path.points += 1;
            path.cuts += count;
        }
        paths
    }

    /// A table of paths, points and cuts, each point on a line under its path.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (path, PathCuts { points, cuts }) in self.paths() {
            table.push_str(&format!("{path}: {points} points, {cuts} cuts\n"));
            let of_path = self.points.iter().filter(|(point, _)| point.path == path);
            for (
                Point {
                    op, place, when, ..
                },
                count,
            ) in of_path
            {
                table.push_str(&format!("  {when:?} {op:?} of {place}: {count}\n"));
            }
        }
        table
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "seeds {}, steps {}, power cuts {} and {} at {} chosen points, starts {} \
             (clean stops {}, kills {}, log stopped {}, disk full {}, and read only {}), batches sent {} confirmed \
             or seen {}, reads {} (held {}), frames made ahead {}, segments {}, \
             expiries judged by time {} and by size {}",
            self.seeds,
            self.ticks,
            self.cuts,
            self.points.values().sum::<u64>(),
            self.points.len(),
            self.starts,
            self.clean_stops,
            self.kills,
            self.poisoned,
            self.full_phases,
            self.stuck,
            self.sent,
            self.confirmed,
            self.reads,
            self.held_reads,
            self.assembled_ahead,
            self.sealed,
            self.expiries.by_time,
            self.expiries.by_size,
        )
    }
}

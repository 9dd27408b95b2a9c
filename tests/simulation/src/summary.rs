//! What a run did.

use std::collections::BTreeMap;

use disk::{Op, When};

/// A place where the power went.
pub type Point = (&'static str, Op, When);

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Runs.
    pub seeds: u64,
    /// Things done, one after the other.
    pub ticks: u64,
    /// Power cuts by place.
    pub cuts: BTreeMap<Point, u64>,
    /// Power cuts in all.
    pub cut_count: u64,
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
    /// Batches that were confirmed or seen.
    pub confirmed: u64,
    /// Batches that were sent.
    pub sent: u64,
    /// Reads, and those of them that were held over other steps.
    pub reads: u64,
    /// Reads that were planned and carried out later.
    pub held_reads: u64,
    /// Segments made.
    pub sealed: u64,
    /// Hash of everything that was asked of the disk.
    pub trace: u64,
}

impl Summary {
    /// Adds another run.
    pub fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.ticks += other.ticks;
        for (point, count) in &other.cuts {
            *self.cuts.entry(*point).or_default() += count;
        }
        self.cut_count += other.cut_count;
        self.starts += other.starts;
        self.clean_stops += other.clean_stops;
        self.kills += other.kills;
        self.poisoned += other.poisoned;
        self.full_phases += other.full_phases;
        self.confirmed += other.confirmed;
        self.sent += other.sent;
        self.reads += other.reads;
        self.held_reads += other.held_reads;
        self.sealed += other.sealed;
        self.trace = self.trace.rotate_left(7) ^ other.trace;
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "seeds {} ticks {} cuts {} at {} points, starts {} (clean {} killed {} poisoned {} full {}), \
             sent {} confirmed {}, reads {} (held {})",
            self.seeds,
            self.ticks,
            self.cut_count,
            self.cuts.len(),
            self.starts,
            self.clean_stops,
            self.kills,
            self.poisoned,
            self.full_phases,
            self.sent,
            self.confirmed,
            self.reads,
            self.held_reads,
        )
    }
}

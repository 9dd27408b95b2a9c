//! How a node comes up and goes down.

use std::sync::Arc;
use std::time::Duration;

use broker::owner::Proposal;
use disk::{Disk, Fault, FaultDisk, FaultKind, Op, Operation, Phase, RecordingDisk, When};
use tokio::sync::oneshot;
use types::{Clock, Random, SeededRandom};

use super::World;
use super::cuts::is_full;
use crate::ensure;
use crate::failure::Failure;
use crate::requests::{Allowed, Request};
use crate::seen::{Seen, chain};

/// Starts that may be cut short before one is left alone.
const CUT_STARTS_MAX: u32 = 5;

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    CutAtOperation,
    CutNow,
    Kill,
    Stop,
    Fault,
}

impl World {
    /// Runs a world to its end.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn run(mut self) -> Result<Self, Failure> {
        self.start()?;
        let lives = 3 + self.random.below(6);
        for _ in 0..lives {
            self.live()?;
        }
        self.finish()?;
        self.summary.confirmed = self.model.confirmed;
        self.summary.expiries = self.model.expiries;
        self.summary.sent = self.model.submissions.len() as u64;
        self.summary.trace = self.disk.trace_hash();
        if let Some(probe) = &self.probe {
            self.summary.points = probe.counts();
        }
        Ok(self)
    }

    /// A last stop in order, after which everything is read once more.
    fn finish(&mut self) -> Result<(), Failure> {
        self.quiesce()?;
        self.stop_in_order()?;
        self.quiesce()?;
        self.verify_segments()?;
        self.punches_what_is_dead()?;
        self.give_back()
    }

    fn live(&mut self) -> Result<(), Failure> {
        let end = match self.random.below(12) {
            0..5 => End::CutAtOperation,
            5..7 => End::CutNow,
            7..9 => End::Kill,
            9..11 => End::Stop,
            _ => End::Fault,
        };
        tracing::info!(life = self.model.life, ?end, "a life");
        if end == End::CutAtOperation {
            let when = if self.random.chance(1, 2) {
                When::Before
            } else {
                When::After
            };
            let number = self.disk.op_count() + 1 + self.random.below(1_500);
            self.disk.cut_at(number, when);
        }
        let full = self.random.chance(1, 5);
        let failing = self.random.chance(1, 6);
        let ticks = 300 + self.random.below(2_500);
        for n in 0..ticks {
            if full && n == ticks / 4 {
                tracing::info!("the disk is nearly full");
                let room = self.random.below(4 * self.setup.node.log_file_bytes);
                self.disk.set_capacity(self.disk.used_bytes() + room);
                self.allowed.full = true;
                self.probe.iter().for_each(|probe| probe.set_full(true));
            }
            if failing && n == ticks / 4 {
                self.fail_checkpoints();
            }
            if full && n == ticks * 3 / 4 {
                self.free_disk()?;
            }
            if end == End::Fault && n == ticks / 2 {
                self.plan_fault();
            }
            self.tick()?;
            if self.disk.is_off() {
                return self.power_cut();
            }
        }
        self.disk.set_capacity(1 << 40);
        match end {
            End::CutAtOperation | End::CutNow => {
                self.disk.cut();
                self.power_cut()
            }
            End::Kill => self.kill(),
            End::Stop => self.stop_in_order(),
            End::Fault if self.random.chance(1, 2) => self.kill(),
            End::Fault => {
                self.disk.cut();
                self.power_cut()
            }
        }
    }

    /// Space is free again: the node serves again by itself.
    fn free_disk(&mut self) -> Result<(), Failure> {
        self.disk.set_capacity(1 << 40);
        self.probe.iter().for_each(|probe| probe.set_full(false));
        self.summary.full_phases += 1;
        // Spares are tried again after a while, a checkpoint that had no room after a longer one.
        for _ in 0..3_000 {
            self.step_owner()?;
            self.step_writer();
            self.step_syncer();
            self.step_background();
            self.judge_cuts()?;
            self.clock.advance(Duration::from_millis(1));
            if self.disk.is_off() {
                return Ok(());
            }
        }
        self.quiesce()?;
        self.allowed.full = self.faulty;
        Ok(())
    }

    /// Some checkpoints in a row cannot be written: nothing else is hurt, and nothing is freed.
    fn fail_checkpoints(&mut self) {
        let op = [Op::SyncData, Op::Write, Op::Rename][crate::setup::pick(&mut self.random, 3)];
        let times = 2 + self.random.below(4);
        tracing::info!(?op, times, "checkpoints fail");
        self.disk.inject(
            Fault::new(op, FaultKind::Io)
                .on("next.checkpoint")
                .times(times),
        );
    }

    fn plan_fault(&mut self) {
        let (op, part) = match self.random.below(12) {
            0..3 => (Op::SyncData, ".log"),
            3..5 => (Op::SyncData, ""),
            5 => (Op::Write, ".log"),
            6 => (Op::Write, ""),
            7 => (Op::Allocate, ""),
            8 => (Op::SyncDir, ""),
            9 => (Op::Rename, ""),
            10 => (Op::Read, ""),
            _ => (Op::Create, ""),
        };
        let kind = if self.random.chance(1, 4) {
            FaultKind::NoSpace
        } else {
            FaultKind::Io
        };
        tracing::info!(?op, part, ?kind, "a fault is planned");
        let nth = 1 + self.random.below(6);
        self.disk.inject(
            Fault::new(op, kind)
                .on(part)
                .nth(nth)
                .times(1 + self.random.below(2)),
        );
        self.faulty = true;
        self.allowed = Allowed {
            stopped: true,
            full: true,
        };
    }

    /// Takes the power from the node and starts another one.
    fn power_cut(&mut self) -> Result<(), Failure> {
        tracing::info!(cut = ?self.disk.last_cut(), "power cut");
        self.look()?;
        self.summary.cuts += 1;
        self.drop_node();
        self.disk.crash();
        self.model.next_life(true);
        self.start()
    }

    /// Ends the process, power on, and starts another one.
    fn kill(&mut self) -> Result<(), Failure> {
        tracing::info!("kill");
        self.end_readers()?;
        self.look()?;
        self.summary.kills += 1;
        self.drop_node();
        self.disk.kill();
        self.model.next_life(false);
        self.start()
    }

    fn drop_node(&mut self) {
        if let Some(node) = self.node.take() {
            self.summary.poisoned += u64::from(node.log.poisoned().is_some());
        }
        self.held.clear();
        self.client.node_gone();
        self.disk.clear_faults();
        // Half of the nodes that go down on a full disk come up on it: a spare is theirs alone.
        if !self.allowed.full || self.random.chance(1, 2) {
            self.disk.set_capacity(1 << 40);
        }
        self.probe.iter().for_each(|probe| probe.set_full(false));
        self.disk.spare();
        self.faulty = false;
        self.allowed = Allowed::default();
    }

    /// Stops the node in order, as its shell does, and starts another one.
    fn stop_in_order(&mut self) -> Result<(), Failure> {
        self.disk.spare();
        self.end_readers()?;
        let Some(node) = &self.node else {
            return Ok(());
        };
        let (reply, answer) = oneshot::channel();
        node.inbox.push(Proposal::Stop { reply });
        self.client.requests.push(Request::Stop { answer });
        let allowed = std::mem::replace(&mut self.allowed.stopped, true);
        self.quiesce()?;
        self.allowed.stopped = allowed;
        self.drain()?;
        self.summary.clean_stops += 1;
        self.look()?;
        self.drop_node();
        self.disk.kill();
        self.model.next_life(false);
        if self.random.chance(1, 3) {
            self.disk.crash();
            self.model.next_life(true);
        }
        self.start()
    }

    fn drain(&mut self) -> Result<(), Failure> {
        if let Some(node) = &self.node {
            node.log.close();
        }
        for _ in 0..1_000 {
            self.step_writer();
            self.step_syncer();
            self.judge_cuts()?;
            if self.node.as_ref().is_none_or(|node| node.log.is_drained()) {
                return Ok(());
            }
        }
        Err(Failure("the log does not come to its end".into()))
    }

    /// Starts a node; the start may be cut short several times.
    ///
    /// # Errors
    /// When it does not come up, or a promise is broken.
    pub fn start(&mut self) -> Result<(), Failure> {
        let mut cuts_left = CUT_STARTS_MAX;
        if self.random.chance(1, 12) {
            self.setup.resize(&mut self.random);
        }
        loop {
            let mut power_cut = false;
            if cuts_left > 0 && self.random.chance(1, 3) {
                cuts_left -= 1;
                let when = if self.random.chance(1, 2) {
                    When::Before
                } else {
                    When::After
                };
                self.disk
                    .cut_at(self.disk.op_count() + 1 + self.random.below(80), when);
            }
            let fresh = self
                .disk
                .contents(&crate::setup::root().join("format"))
                .is_none();
            self.label(if fresh { "creation" } else { "recovery" });
            let faulty = cuts_left > 0 && self.random.chance(1, 8);
            if faulty {
                cuts_left -= 1;
                self.fail_start();
            }
            let random = Box::new(SeededRandom::new(self.random.next_u64()));
            let clock: Arc<dyn Clock> = self.clock.clone();
            let opened = broker::open(&self.setup.node, self.watched_disk(), clock, random);
            if self.disk.is_off() {
                power_cut = true;
                self.summary.cuts += 1;
            }
            self.judge_cuts()?;
            tracing::info!(power_cut, ok = opened.is_ok(), "a start");
            self.disk.spare();
            self.disk.clear_faults();
            match opened {
                _ if power_cut => {
                    self.disk.crash();
                    self.model.next_life(true);
                }
                // The operator starts it again; what failed may read as if it had not.
                Err(_) if faulty => {
                    self.disk.kill();
                    self.model.next_life(false);
                }
                Ok(node) if node.log.poisoned().is_some_and(|reason| is_full(&reason)) => {
                    self.summary.stuck += 1;
                    drop(node);
                    self.disk.set_capacity(1 << 40);
                    self.disk.kill();
                    self.model.next_life(false);
                }
                Ok(node) => {
                    self.disk.set_capacity(1 << 40);
                    self.node = Some(node);
                    self.summary.starts += 1;
                    return self.judge_start();
                }
                Err(error) => return Err(Failure(format!("no start: {}", chain(&error)))),
            }
        }
    }

    /// Something goes wrong while a node starts.
    fn fail_start(&mut self) {
        let ops = [
            Op::SyncData,
            Op::SyncDir,
            Op::Write,
            Op::Rename,
            Op::Create,
            Op::Allocate,
        ];
        let op = ops[crate::setup::pick(&mut self.random, ops.len())];
        let nth = 1 + self.random.below(4);
        tracing::info!(?op, nth, "a start meets a fault");
        self.disk.inject(Fault::new(op, FaultKind::Io).nth(nth));
    }

    /// The disk as the node has it. Whoever traces is told of every operation.
    fn watched_disk(&self) -> Arc<dyn Disk> {
        if let Some(probe) = &self.probe {
            return probe.watch();
        }
        let disk = Arc::new(self.disk.clone());
        if !self.lies.is_empty() {
            let liar = FaultDisk::new(disk);
            self.lies.iter().for_each(|lie| liar.inject(lie.clone()));
            return Arc::new(liar);
        }
        if !tracing::enabled!(tracing::Level::TRACE) {
            return disk;
        }
        Arc::new(RecordingDisk::new(disk, |operation, phase| {
            if let Phase::End(ok) = phase {
                let Operation {
                    op,
                    path,
                    to,
                    position,
                    len,
                    ..
                } = operation;
                tracing::trace!(?op, ?path, ?to, position, len, ok, "disk");
            }
        }))
    }

    /// Everything that must be there after a start is there; what else is there stays.
    fn judge_start(&mut self) -> Result<(), Failure> {
        self.label("verify");
        let Some(node) = &self.node else {
            return Ok(());
        };
        if let Some(reason) = node.log.poisoned() {
            return Err(Failure(format!(
                "the log is stopped after a start: {reason}"
            )));
        }
        let seen = Seen::everything(&node.shared, &node.reader)?;
        for partition in seen.topics.values().flat_map(|topic| &topic.partitions) {
            let (id, start, end) = (partition.id.0, partition.start, partition.end);
            tracing::debug!(id, start, end, "seen after a start");
        }
        self.model.now_ms = self.clock.now_ms();
        self.model.check(&seen)?;
        self.model.check_prefix(&seen)?;
        self.model.check_written(&seen)?;
        self.model.adopt(&seen)?;
        self.model.settled();
        self.model.written.clear();
        ensure!(
            self.client.requests.is_empty(),
            "requests outlived their node"
        );
        Ok(())
    }
}

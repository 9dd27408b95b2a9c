//! The executor: one node after the other on one disk, stepped in an order by chance.

mod cuts;
mod life;
mod readers;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use broker::Machines;
use broker::owner::Proposal;
use disk::{Fault, SimDisk};
use log::Progress;
use types::{Clock, ManualClock, Random, SeededRandom};

use self::readers::Held;
use crate::client::{Client, Scene};
use crate::failure::Failure;
use crate::model::Model;
use crate::probe::Probe;
use crate::requests::{Allowed, Outcome};
use crate::seen::Seen;
use crate::setup::Setup;
use crate::summary::Summary;

/// A disk, its node, its clients and the oracle.
#[derive(Debug)]
pub struct World {
    pub(crate) random: SeededRandom,
    /// The disk.
    pub disk: SimDisk,
    /// The clocks.
    pub clock: Arc<ManualClock>,
    /// Sizes and speeds.
    pub setup: Setup,
    /// The oracle.
    pub model: Model,
    pub(crate) client: Client,
    pub(crate) node: Option<Machines>,
    pub(crate) held: Vec<Held>,
    pub(crate) allowed: Allowed,
    /// Faults are planned: reads may fail.
    pub(crate) faulty: bool,
    /// What the disk lies about, in every life.
    pub lies: Vec<Fault>,
    /// Takes copies as cuts at chosen operations would leave the disk.
    pub probe: Option<Probe>,
    /// What was done.
    pub summary: Summary,
}

/// Wall time at which every run begins.
const START_MS: i64 = 1_700_000_000_000;

impl World {
    /// A world without a node yet.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = SeededRandom::new(seed);
        let disk = SimDisk::new(random.next_u64());
        let setup = Setup::random(&mut random);
        Self {
            random,
            disk,
            clock: Arc::new(ManualClock::new(START_MS)),
            setup,
            model: Model::default(),
            client: Client::default(),
            node: None,
            held: Vec::new(),
            allowed: Allowed::default(),
            faulty: false,
            lies: Vec::new(),
            probe: None,
            summary: Summary {
                seeds: 1,
                ..Summary::default()
            },
        }
    }

    /// The same world, with a copy judged at each operation that changes the disk, `most` times for
    /// each place.
    #[must_use]
    pub fn probed(mut self, most: u64) -> Self {
        let seed = self.random.next_u64();
        self.probe = Some(Probe::new(&self.disk, seed, most));
        self
    }

    /// The same world on a disk that says that it did what it did not do.
    #[must_use]
    pub fn lying(mut self, lie: Fault) -> Self {
        self.lies.push(lie);
        self
    }

    /// What the node does from now on.
    pub(crate) fn label(&self, label: &'static str) {
        self.disk.set_label(label);
        if let Some(probe) = &self.probe {
            probe.set_label(label);
        }
    }

    /// Does one thing.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn tick(&mut self) -> Result<(), Failure> {
        self.summary.ticks += 1;
        let weights = self.setup.weights;
        let mut left = self.random.below(weights.total());
        let mut is = |weight: u64| {
            let hit = left < weight;
            left = left.wrapping_sub(weight);
            hit
        };
        if is(weights.owner) {
            self.step_owner()
        } else if is(weights.writer) {
            self.step_writer();
            self.judge_cuts()
        } else if is(weights.assembler) {
            self.step_assembler();
            Ok(())
        } else if is(weights.syncer) {
            self.step_syncer();
            self.judge_cuts()
        } else if is(weights.background) {
            self.step_background();
            self.judge_cuts()
        } else if is(weights.client) {
            self.step_client()
        } else if is(weights.reader) {
            self.step_reader()
        } else {
            self.pass_time();
            Ok(())
        }
    }

    fn pass_time(&mut self) {
        let by = match self.random.below(400) {
            0 => Duration::from_secs(1 + self.random.below(20_000)),
            1 => return self.set_clock(),
            2..10 => Duration::from_millis(1_100),
            10..50 => Duration::from_millis(60),
            _ => Duration::from_micros(self.random.below(5_000)),
        };
        self.clock.advance(by);
    }

    /// The wall clock is set by somebody, up to three hours either way.
    fn set_clock(&mut self) {
        self.model.clock_was_set = true;
        let by = i64::try_from(self.model.life % 7).unwrap_or(0) - 3;
        self.clock.set_wall_ms(self.clock.now_ms() + by * 3_600_000);
    }

    /// Steps the owner and takes note of what became visible and was answered.
    pub(crate) fn step_owner(&mut self) -> Result<(), Failure> {
        self.label("owner");
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        if node.owner.step() {
            self.look()?;
        }
        Ok(())
    }

    pub(crate) fn step_writer(&mut self) -> bool {
        self.label("writer");
        self.node
            .as_mut()
            .is_some_and(|node| node.writer.step() == Progress::Worked)
    }

    fn step_assembler(&mut self) {
        if let Some(node) = &mut self.node {
            let worked = node.assembler.step() == Progress::Worked;
            self.summary.assembled_ahead += u64::from(worked);
        }
    }

    pub(crate) fn step_syncer(&mut self) -> bool {
        self.label("syncer");
        self.node
            .as_mut()
            .is_some_and(|node| node.syncer.step() == Progress::Worked)
    }

    pub(crate) fn step_background(&mut self) -> bool {
        let Some(phase) = self.node.as_ref().map(|node| node.background.phase()) else {
            return false;
        };
        self.label(phase);
        let Some(node) = &mut self.node else {
            return false;
        };
        let progress = node.background.step();
        for done in node.background.take_done() {
            self.summary.sealed += u64::from(matches!(done, log::background::Done::Sealed(_)));
            node.inbox.push(Proposal::Job(done));
        }
        progress == Progress::Worked
    }

    fn step_client(&mut self) -> Result<(), Failure> {
        if self.client.requests.len() > 40 {
            return Ok(());
        }
        let Some(node) = &self.node else {
            return Ok(());
        };
        let mut scene = Scene {
            random: &mut self.random,
            model: &mut self.model,
            inbox: &node.inbox,
            setup: &self.setup,
            now_ms: self.clock.now_ms(),
        };
        self.client.act(&mut scene)
    }

    /// Looks at what is visible, and takes the answers that came.
    pub(crate) fn look(&mut self) -> Result<(), Failure> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        let seen = Seen::outline(&node.shared);
        self.model.now_ms = self.clock.now_ms();
        self.model.adopt(&seen)?;
        let mut allowed = self.allowed;
        allowed.stopped |= self.disk.is_off();
        let outcomes = self.client.requests.poll(&mut self.model, allowed)?;
        for outcome in outcomes {
            self.check_outcome(&outcome)?;
            let Some(node) = &self.node else {
                return Ok(());
            };
            let mut scene = Scene {
                random: &mut self.random,
                model: &mut self.model,
                inbox: &node.inbox,
                setup: &self.setup,
                now_ms: self.clock.now_ms(),
            };
            self.client.hear(&outcome, &mut scene)?;
        }
        Ok(())
    }

    /// What was confirmed is visible, unless it is on its way out again.
    fn check_outcome(&self, outcome: &Outcome) -> Result<(), Failure> {
        if let Some(id) = outcome.made {
            let there = self.model.topics.contains_key(&id) || self.model.gone.contains(&id);
            crate::ensure!(there, "topic {id} was confirmed and is not visible");
        }
        if let Some((id, count)) = outcome.partitions {
            let there = self
                .model
                .topics
                .get(&id)
                .is_none_or(|t| t.partitions.len() >= count);
            crate::ensure!(there, "{count} partitions of topic {id} were confirmed");
        }
        Ok(())
    }

    /// Lets everything come to rest: every request is answered.
    ///
    /// # Errors
    /// When a promise is broken, or a request is not answered in any reasonable time.
    pub fn quiesce(&mut self) -> Result<(), Failure> {
        for n in 0..20_000 {
            self.step_owner()?;
            if n % 100 == 99 {
                // What only waited may be answered by a step that did nothing else.
                self.look()?;
            }
            self.step_writer();
            self.step_syncer();
            self.step_background();
            self.judge_cuts()?;
            self.clock.advance(Duration::from_millis(1));
            if self.disk.is_off() || self.client.requests.is_empty() {
                return Ok(());
            }
        }
        let waiting = self.client.requests.len();
        Err(Failure(format!(
            "{waiting} requests are not answered: {:?}",
            self.client.requests
        )))
    }
}

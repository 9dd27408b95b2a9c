//! Judging the copies that cuts left.

use std::sync::Arc;

use disk::{Disk, SimDisk};
use types::{Clock, Random, SeededRandom};

use super::World;
use crate::failure::Failure;
use crate::model::Model;
use crate::probe::Cut;
use crate::seen::{Seen, chain};
use crate::setup::root;

/// Whether a node that is up takes nothing because no log file could be made when it came up.
pub(super) fn is_full(reason: &str) -> bool {
    reason.contains("no room for a log file")
}

impl World {
    /// Starts a node on every copy that was taken, and holds it against what is known.
    pub(crate) fn judge_cuts(&mut self) -> Result<(), Failure> {
        let Some(probe) = &self.probe else {
            return Ok(());
        };
        for cut in probe.take() {
            self.judge_cut(&cut).map_err(|Failure(text)| {
                Failure(format!("after a cut at {:?}: {text}", cut.point))
            })?;
        }
        Ok(())
    }

    fn judge_cut(&mut self, cut: &Cut) -> Result<(), Failure> {
        let seen = self.start_copy(&cut.disk)?;
        self.model.now_ms = self.clock.now_ms();
        self.model.check(&seen)?;
        self.model.check_prefix(&seen)?;
        if !self.random.chance(1, 3) {
            return Ok(());
        }
        // What a reader of the copy saw must outlive another cut, right after its start.
        let mut model: Model = self.model.clone();
        model.adopt(&seen)?;
        model.settled();
        cut.disk.crash();
        let again = self.start_copy(&cut.disk)?;
        model
            .check(&again)
            .map_err(|Failure(text)| Failure(format!("and another one: {text}")))
    }

    fn start_copy(&mut self, copy: &SimDisk) -> Result<Seen, Failure> {
        let random = Box::new(SeededRandom::new(self.random.next_u64()));
        let clock: Arc<dyn Clock> = self.clock.clone();
        let disk: Arc<dyn Disk> = Arc::new(copy.clone());
        let opened = broker::open(&self.setup.node, disk, clock, random);
        let node = opened.map_err(|error| Failure(format!("no start: {}", chain(&error))))?;
        if let Some(reason) = node.log.poisoned() {
            let space = copy
                .space(&root())
                .map_err(|error| Failure(chain(&error)))?;
            if is_full(&reason) && space.available_bytes < self.setup.node.log_file_bytes {
                // It serves what it can; with space it must come up whole.
                copy.set_capacity(1 << 40);
                copy.kill();
                return self.start_copy(copy);
            }
            return Err(Failure(format!(
                "the log is stopped after a start: {reason}"
            )));
        }
        Seen::everything(&node.shared, &node.reader)
    }
}

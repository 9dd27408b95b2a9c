//! Verifying the segments of a node, as `log verify` does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use broker::Shared;
use broker::metadata::TopicRef;
use broker::owner::Proposal;
use disk::Disk;
use log::segment::{Verifier, VerifyStep, dead_ranges};
use tokio::sync::oneshot;
use types::{Offset, PartitionId, TopicId};

use super::World;
use crate::ensure;
use crate::failure::Failure;
use crate::requests::Request;
use crate::seen::{Seen, chain};
use crate::setup::root;

/// Log files that a node without a topic has: spares, the one that is written, and the one before.
const LOG_FILES_MAX: usize = 9;

/// The log start of every partition.
fn log_starts(shared: &Shared) -> BTreeMap<PartitionId, Offset> {
    let seen = Seen::outline(shared);
    let partitions = seen.topics.values().flat_map(|topic| &topic.partitions);
    partitions.map(|p| (p.id, Offset(p.start))).collect()
}

impl World {
    /// Nothing in any segment is damaged, whatever was punched out.
    pub(super) fn verify_segments(&self) -> Result<(), Failure> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        let starts = log_starts(&node.shared);
        for segment in node.owner.segments() {
            let starts = starts.clone();
            let mut verifier = Verifier::new(
                segment,
                Box::new(move |entry| {
                    let start = starts.get(&entry.header.partition);
                    start.is_none_or(|start| entry.header.end_offset() <= *start)
                }),
            );
            let failed = |error| Failure(format!("{}: {}", segment.id(), chain(&error)));
            let report = loop {
                if let VerifyStep::Done(report) = verifier.step().map_err(failed)? {
                    break report;
                }
            };
            if let Some(damage) = report.damages.first() {
                return Err(Failure(format!(
                    "segment {}: {}",
                    segment.id(),
                    damage.corruption
                )));
            }
        }
        Ok(())
    }

    /// Once the node has rested, no block is left that holds nothing but dead records.
    pub(super) fn punches_what_is_dead(&mut self) -> Result<(), Failure> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        let starts = log_starts(&node.shared);
        // By number: who holds a segment keeps it from being removed.
        let known: BTreeSet<_> = node.owner.segments().map(|segment| segment.id()).collect();
        self.rest()?;
        let segments = self.node.as_ref().map(|node| node.owner.segments());
        for segment in segments.into_iter().flatten() {
            if !known.contains(&segment.id()) {
                continue;
            }
            let rows = segment.info().rows.iter();
            let runs = rows.map(|row| {
                let start = starts.get(&row.partition).copied();
                let extents = segment.stored_extents(row.partition);
                extents.map(|extents| (extents, start.unwrap_or(Offset(i64::MAX))))
            });
            // Of what a lie of the device left damaged nothing is known.
            let Ok(runs) = runs.collect::<Result<Vec<_>, _>>() else {
                continue;
            };
            let dead = dead_ranges(runs.iter().map(|(extents, start)| (&extents[..], *start)));
            let opened = self.disk.open(&segment.data_path());
            let file = opened.map_err(|error| Failure(chain(&error)))?;
            for (position, len) in dead {
                let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
                let read = file.read_exact_at(&mut bytes, position);
                read.map_err(|error| Failure(chain(&error)))?;
                ensure!(
                    bytes.iter().all(|byte| *byte == 0),
                    "{len} dead bytes at {position} of {} are kept",
                    segment.data_path().display()
                );
            }
        }
        Ok(())
    }

    /// Time in which nobody asks for anything: two checkpoints know all that was, and what is freed
    /// by one goes after the next.
    fn rest(&mut self) -> Result<(), Failure> {
        for _ in 0..8 * 600 {
            self.step_owner()?;
            self.step_writer();
            self.step_syncer();
            self.step_background();
            self.judge_cuts()?;
            self.clock.advance(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Once all topics are deleted their bytes are given back, and so is whatever crashes left.
    pub(super) fn give_back(&mut self) -> Result<(), Failure> {
        let topics: Vec<_> = self.model.topics.keys().copied().collect();
        for topic in topics {
            self.delete_topic(topic);
        }
        self.rest()?;
        for (folder, most) in [("log", LOG_FILES_MAX), ("segments", 0), ("checkpoints", 3)] {
            let names = self.disk.list(&root().join(folder));
            let names = names.map_err(|error| Failure(chain(&error)))?;
            ensure!(
                names.len() <= most,
                "without a topic there are {names:?} in {folder}"
            );
        }
        Ok(())
    }

    fn delete_topic(&mut self, topic: TopicId) {
        let Some(node) = &self.node else { return };
        if let Some(known) = self.model.topics.get_mut(&topic) {
            known.deleting += 1;
        }
        let (reply, answer) = oneshot::channel();
        let topic_ref = TopicRef::Id(topic);
        node.inbox.push(Proposal::DeleteTopic {
            topic: topic_ref,
            reply,
        });
        self.client.requests.push(Request::Delete { answer, topic });
    }
}

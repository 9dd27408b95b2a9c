//! Verifying the segments of a node, as `log verify` does.

use std::collections::BTreeMap;

use log::segment::{Verifier, VerifyStep};
use types::PartitionId;

use super::World;
use crate::failure::Failure;
use crate::seen::{Seen, chain};

impl World {
    /// Nothing in any segment is damaged, whatever was punched out.
    pub(super) fn verify_segments(&self) -> Result<(), Failure> {
        let Some(node) = &self.node else {
            return Ok(());
        };
        let seen = Seen::outline(&node.shared);
        let partitions = seen.topics.values().flat_map(|topic| &topic.partitions);
        let starts: BTreeMap<PartitionId, i64> = partitions.map(|p| (p.id, p.start)).collect();
        for segment in node.owner.segments() {
            let starts = starts.clone();
            let mut verifier = Verifier::new(
                segment,
                Box::new(move |entry| {
                    let start = starts.get(&entry.header.partition);
                    start.is_none_or(|start| entry.header.end_offset().0 <= *start)
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
}

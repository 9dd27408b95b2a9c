//! Holding what is seen against what is known.

use std::collections::{BTreeMap, BTreeSet};

use record::Records;
use types::{PartitionId, TopicId};

use super::{Model, Submission, SubmissionId, TopicModel};
use crate::ensure;
use crate::failure::Failure;
use crate::seen::{Seen, SeenBatch, SeenPartition, SeenTopic};

/// The batches that are there, and where partitions start.
type Survivors = (BTreeSet<SubmissionId>, BTreeMap<PartitionId, i64>);

impl Model {
    /// Whether all that is known is there, and nothing that must not be.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn check(&self, seen: &Seen) -> Result<(), Failure> {
        for (id, topic) in &seen.topics {
            ensure!(
                !self.gone.contains(id),
                "topic {:?} is back after its deletion",
                topic.name
            );
            match self.topics.get(id) {
                Some(known) => self.check_topic(known, topic)?,
                None => {
                    let asked = self
                        .creating
                        .get(&topic.name)
                        .is_some_and(|count| *count > 0);
                    ensure!(asked, "topic {:?} ({id}) was not asked for", topic.name);
                }
            }
            self.check_numbers(*id, topic)?;
        }
        for (id, topic) in &self.topics {
            let there = seen.topics.contains_key(id);
            ensure!(
                there || topic.deleting > 0,
                "topic {:?} ({id}) is lost",
                topic.name
            );
        }
        Ok(())
    }

    fn check_topic(&self, known: &TopicModel, seen: &SeenTopic) -> Result<(), Failure> {
        let name = &known.name;
        ensure!(
            seen.name == *name,
            "topic {name:?} is called {:?}",
            seen.name
        );
        let (before, now) = (known.partitions.len(), seen.partitions.len());
        ensure!(
            now >= before,
            "topic {name:?} has {now} partitions, it had {before}"
        );
        let most = before.max(known.partitions_asked);
        ensure!(
            now <= most,
            "topic {name:?} has {now} partitions, {most} were asked for"
        );
        let configs = &seen.configs;
        ensure!(
            known.may_have(configs),
            "topic {name:?} has {configs:?}, known is {known:?}"
        );
        for seen in &seen.partitions {
            if self.partitions.contains_key(&seen.id) {
                self.check_partition(known, seen)?;
            }
        }
        Ok(())
    }

    fn check_numbers(&self, id: TopicId, topic: &SeenTopic) -> Result<(), Failure> {
        let known = self
            .topics
            .get(&id)
            .map_or(&[][..], |known| &known.partitions);
        for (number, partition) in topic.partitions.iter().enumerate() {
            if let Some(known) = known.get(number) {
                let seen = partition.id;
                ensure!(
                    *known == seen,
                    "partition {known} of {:?} is {seen} now",
                    topic.name
                );
            } else if let Some(owner) = self.owners.get(&partition.id) {
                return Err(Failure(format!(
                    "{owner:?} had partition {} before",
                    partition.id
                )));
            }
        }
        Ok(())
    }

    fn check_partition(&self, topic: &TopicModel, seen: &SeenPartition) -> Result<(), Failure> {
        let id = seen.id;
        let Some(known) = self.partitions.get(&id) else {
            return Ok(());
        };
        let SeenPartition { start, end, .. } = *seen;
        ensure!(
            start <= end,
            "partition {id} starts at {start} and ends at {end}"
        );
        ensure!(
            start >= known.start,
            "partition {id} starts at {start} after {}",
            known.start
        );
        ensure!(
            end >= known.end,
            "partition {id} ends at {end} after {}",
            known.end
        );
        self.check_start(topic.retention, known, seen)?;
        let Some(batches) = &seen.batches else {
            return Ok(());
        };
        self.check_batches(id, batches)?;
        let bases: BTreeSet<i64> = batches.iter().map(SeenBatch::base).collect();
        for (base, batch) in known.known.range(..end) {
            let there = batch.end <= start || bases.contains(base);
            ensure!(
                there,
                "{:?} at {base} of partition {id} is lost",
                batch.submission
            );
        }
        let last = batches.last().map_or(start, SeenBatch::end);
        ensure!(
            last == end || seen.damaged,
            "partition {id} ends at {end}, read up to {last}"
        );
        Ok(())
    }

    /// Whether these batches are what was sent, each in one place.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn check_batches(
        &self,
        partition: PartitionId,
        batches: &[SeenBatch],
    ) -> Result<(), Failure> {
        let known = self.partitions.get(&partition);
        let mut here = BTreeSet::new();
        let mut epoch = i32::MIN;
        let mut order = None;
        for batch in batches {
            let (base, end) = (batch.base(), batch.end());
            let id = self.identify(partition, batch)?;
            ensure!(
                here.insert(id),
                "{id:?} stands twice in partition {partition}"
            );
            if let Some(known) = known {
                known.check(base, end, id, Some(&batch.bytes))?;
            }
            let Some(submission) = self.submission(id) else {
                continue;
            };
            if let Some(placed) = submission.placed.filter(|placed| *placed != base) {
                let start = known.map_or(0, |known| known.start);
                let trimmed = placed + i64::from(submission.count) <= start;
                ensure!(
                    trimmed,
                    "{id:?} stands at {base} of {partition} and at {placed}"
                );
            }
            ensure!(
                !submission.refused,
                "{id:?} was refused and stands at {base}"
            );
            let now = batch.header.leader_epoch.0;
            ensure!(
                now >= epoch,
                "leader epoch {now} at {base} of {partition} after {epoch}"
            );
            epoch = now;
            if submission.order.is_some() {
                let ordered = order < submission.order;
                ensure!(
                    ordered,
                    "{id:?} at {base} of {partition} overtook a batch before it"
                );
                order = submission.order;
            }
        }
        Ok(())
    }

    /// Which batch this is, byte for byte.
    pub(crate) fn identify(
        &self,
        partition: PartitionId,
        batch: &SeenBatch,
    ) -> Result<SubmissionId, Failure> {
        let at = || format!("batch at {} of partition {partition}", batch.base());
        let mut scratch = Vec::new();
        let records = Records::read(&batch.bytes, &mut scratch);
        let mut records = records.map_err(|e| Failure(format!("{}: {e}", at())))?;
        let first = records
            .next()
            .and_then(Result::ok)
            .and_then(|record| record.key);
        let number = first
            .and_then(|key| <[u8; 4]>::try_from(key).ok())
            .map(u32::from_le_bytes);
        let Some(number) = number else {
            return Err(Failure(format!("{} has no number", at())));
        };
        let id = SubmissionId(number);
        let Some(sent) = self.submission(id) else {
            return Err(Failure(format!("{} was never sent", at())));
        };
        let body = batch.bytes.slice(record::HEADER_BYTES..);
        ensure!(
            sent.partition == partition,
            "{} was sent to {}",
            at(),
            sent.partition
        );
        ensure!(sent.body == body, "{} has other bytes than {id:?}", at());
        ensure!(
            sent.count == batch.header.count,
            "{} has another count than {id:?}",
            at()
        );
        let producer = batch.header.has_producer();
        let producer =
            producer.then_some((batch.header.producer_id.0, batch.header.base_sequence.0));
        ensure!(
            sent.producer == producer,
            "{} has another producer than {id:?}",
            at()
        );
        Ok(id)
    }

    /// Whether what survived is a prefix of what was decided: of the batches that were sent one
    /// after the other in the last life, those before one that is there must be there.
    ///
    /// # Errors
    /// When one is missing.
    pub fn check_prefix(&self, seen: &Seen) -> Result<(), Failure> {
        let (there, starts) = self.survivors(seen)?;
        let last = self.order.iter().rposition(|id| there.contains(id));
        for id in self.order.iter().take(last.unwrap_or(0)) {
            let judged = |sent: &&Submission| !sent.refused && !sent.silent;
            let Some(sent) = self.submission(*id).filter(judged) else {
                continue;
            };
            let Some(start) = starts.get(&sent.partition) else {
                continue;
            };
            // What was trimmed may have been the batch.
            let untouched = *start <= sent.end_before;
            let lost = untouched && !there.contains(id);
            ensure!(
                !lost,
                "{id:?} to partition {} is missing before others",
                sent.partition
            );
        }
        Ok(())
    }

    /// Whether what was answered before its sync outlived a process that died with the power on.
    ///
    /// # Errors
    /// When a batch is gone.
    pub fn check_written(&self, seen: &Seen) -> Result<(), Failure> {
        let (there, starts) = self.survivors(seen)?;
        for id in &self.written {
            let Some(sent) = self.submission(*id) else {
                continue;
            };
            let Some(start) = starts.get(&sent.partition) else {
                continue;
            };
            let lost = *start <= sent.end_before && !there.contains(id);
            ensure!(
                !lost,
                "{id:?} was written, answered and is gone though only a process died"
            );
        }
        Ok(())
    }

    /// The batches that are there, and where partitions start.
    fn survivors(&self, seen: &Seen) -> Result<Survivors, Failure> {
        let (mut there, mut starts) = Survivors::default();
        for partition in seen.topics.values().flat_map(|topic| &topic.partitions) {
            starts.insert(partition.id, partition.start);
            for batch in partition.batches.iter().flatten() {
                there.insert(self.identify(partition.id, batch)?);
            }
        }
        Ok((there, starts))
    }

    /// Takes what is seen for known: a reader saw it.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn adopt(&mut self, seen: &Seen) -> Result<(), Failure> {
        self.check(seen)?;
        self.count_expiries(seen)?;
        let lost = self
            .topics
            .keys()
            .filter(|id| !seen.topics.contains_key(id));
        for id in lost.copied().collect::<Vec<_>>() {
            self.topic_gone(id);
        }
        for (id, topic) in &seen.topics {
            self.adopt_topic(*id, topic)?;
        }
        Ok(())
    }

    fn adopt_topic(&mut self, id: TopicId, seen: &SeenTopic) -> Result<(), Failure> {
        let new = || TopicModel::new(seen.name.clone(), seen.configs.clone());
        let topic = self.topics.entry(id).or_insert_with(new);
        topic.see_configs(seen.configs.clone());
        for (number, partition) in seen
            .partitions
            .iter()
            .enumerate()
            .skip(topic.partitions.len())
        {
            topic.partitions.push(partition.id);
            self.owners.insert(partition.id, (id, number));
            self.partitions.entry(partition.id).or_default();
        }
        for seen in &seen.partitions {
            let Some(known) = self.partitions.get_mut(&seen.id) else {
                continue;
            };
            known.end = known.end.max(seen.end);
            if seen.start > known.start {
                known.trimmed(seen.start);
            }
            for batch in seen.batches.iter().flatten() {
                self.adopt_batch(seen.id, batch)?;
            }
        }
        Ok(())
    }

    /// A reader saw this batch.
    ///
    /// # Errors
    /// When a promise is broken.
    pub fn adopt_batch(
        &mut self,
        partition: PartitionId,
        batch: &SeenBatch,
    ) -> Result<(), Failure> {
        let id = self.identify(partition, batch)?;
        self.place(id, batch.base(), Some(batch.bytes.clone()))
    }
}

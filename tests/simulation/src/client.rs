//! What clients ask for: everything that changes state, at random.

use std::collections::BTreeMap;

use broker::Inbox;
use broker::metadata::{
    AlterConfigRequest, AlterOp, ConfigChange, ConfigOp, CreatePartitionsRequest,
    CreateTopicRequest, TopicRef,
};
use broker::owner::{AppendPart, AppendProposal, Proposal};
use log::Origin;
use record::CheckedBatch;
use tokio::sync::oneshot;
use types::{Offset, PartitionId, Random, SeededRandom, TopicId};

use crate::batch::Shape;
use crate::failure::Failure;
use crate::model::{Model, Submission, SubmissionId};
use crate::producer::{Next, Producer};
use crate::requests::{Outcome, Request, Requests};
use crate::setup::{Setup, pick};

/// All clients of a node.
#[derive(Debug, Default)]
pub struct Client {
    /// The requests of this life.
    pub requests: Requests,
    producers: Vec<Producer>,
    /// Batches of producers, to be sent again.
    kept: BTreeMap<SubmissionId, CheckedBatch>,
    changes: u64,
}

/// Who acts on what.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Chance.
    pub random: &'a mut SeededRandom,
    /// The oracle.
    pub model: &'a mut Model,
    /// The way to the owner.
    pub inbox: &'a Inbox,
    /// Sizes.
    pub setup: &'a Setup,
    /// The time that records get.
    pub now_ms: i64,
}

impl Client {
    /// Sends one request.
    ///
    /// # Errors
    /// When a batch cannot be built.
    pub fn act(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let topics = scene.model.topics.len() as u64;
        if topics < scene.setup.topics_max && (topics == 0 || scene.random.chance(1, 12)) {
            self.create_topic(scene);
            return Ok(());
        }
        match scene.random.below(100) {
            0..60 => self.append(scene),
            60..84 => self.produce(scene),
            84..88 => self.trim(scene),
            88 => self.delete_topic(scene),
            89..91 => self.add_partitions(scene),
            91..94 => self.alter(scene),
            94..97 => self.new_producer(scene),
            _ => self.append(scene),
        }
    }

    /// What answers mean for producers.
    ///
    /// # Errors
    /// When an answer breaks a promise to a producer.
    pub fn hear(&mut self, outcome: &Outcome, scene: &mut Scene<'_>) -> Result<(), Failure> {
        for id in &outcome.taken {
            if let Some(producer) = self.producer_of(*id, scene.model) {
                producer.taken(*id);
            }
        }
        for (id, error) in &outcome.failed {
            if let (Some(producer), Some(error)) = (self.producer_of(*id, scene.model), error) {
                producer.failed(*id, error)?;
            }
        }
        if let Some(id) = outcome.producer
            && let Some((partition, topic)) = any_partition(scene)
        {
            let is_async = scene
                .model
                .topics
                .get(&topic)
                .is_some_and(|topic| !topic.sync);
            self.producers
                .push(Producer::new(id.0, partition, is_async));
        }
        self.producers.retain(|producer| !producer.finished);
        Ok(())
    }

    /// The node is gone with whatever was under way.
    pub fn node_gone(&mut self) {
        self.requests.abandon();
        self.producers.iter_mut().for_each(Producer::node_gone);
    }

    fn producer_of(&mut self, id: SubmissionId, model: &Model) -> Option<&mut Producer> {
        let sent = model.submission(id)?;
        let (producer, _) = sent.producer?;
        let partition = sent.partition;
        self.producers
            .iter_mut()
            .find(|p| p.id == producer && p.partition == partition)
    }

    fn create_topic(&mut self, scene: &mut Scene<'_>) {
        let name = format!("topic-{}", scene.random.below(8));
        let mut configs = Vec::new();
        let mut set = |name: &str, value: String| configs.push((name.to_owned(), Some(value)));
        if scene.random.chance(1, 3) {
            set("durability", "async".to_owned());
        }
        if scene.random.chance(1, 4) {
            set("message.timestamp.type", "LogAppendTime".to_owned());
        }
        match scene.random.below(5) {
            0 => set(
                "retention.ms",
                (1_000 << scene.random.below(12)).to_string(),
            ),
            1 => set(
                "retention.bytes",
                (1_000 << scene.random.below(8)).to_string(),
            ),
            _ => {}
        }
        let partitions = i32::try_from(1 + scene.random.below(4)).unwrap_or(1);
        let request = CreateTopicRequest {
            partitions,
            configs,
            ..CreateTopicRequest::with_defaults(&name)
        };
        *scene.model.creating.entry(name.clone()).or_default() += 1;
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::CreateTopic {
            request,
            validate_only: false,
            reply,
        });
        self.requests.push(Request::Create { answer, name });
    }

    fn delete_topic(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let Some(topic) = any_topic(scene) else {
            return Ok(());
        };
        if let Some(known) = scene.model.topics.get_mut(&topic) {
            known.deleting += 1;
        }
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::DeleteTopic {
            topic: TopicRef::Id(topic),
            reply,
        });
        self.requests.push(Request::Delete { answer, topic });
        Ok(())
    }

    fn add_partitions(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let Some(topic) = any_topic(scene) else {
            return Ok(());
        };
        let more = 1 + pick(scene.random, 2);
        let Some(known) = scene.model.topics.get_mut(&topic) else {
            return Ok(());
        };
        let count = known.partitions.len() + more;
        if count > 8 {
            return Ok(());
        }
        known.partitions_asked = known.partitions_asked.max(count);
        let request = CreatePartitionsRequest {
            topic: TopicRef::Id(topic),
            count: i32::try_from(count).unwrap_or(i32::MAX),
            assignments: None,
        };
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::CreatePartitions {
            request,
            validate_only: false,
            reply,
        });
        self.requests.push(Request::Partitions {
            answer,
            topic,
            count,
        });
        Ok(())
    }

    fn alter(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let Some(topic) = any_topic(scene) else {
            return Ok(());
        };
        let (name, value) = match scene.random.below(4) {
            0 => ("retention.ms", 2_000 << scene.random.below(14)),
            1 => ("retention.bytes", 2_000 << scene.random.below(8)),
            2 => ("segment.ms", 60_000 << scene.random.below(4)),
            _ => ("max.message.bytes", 900_000 + scene.random.below(4)),
        };
        let value = scene.random.chance(3, 4).then(|| value.to_string());
        self.changes += 1;
        let number = self.changes;
        let Some(known) = scene.model.topics.get_mut(&topic) else {
            return Ok(());
        };
        known.change(number, BTreeMap::from([(name.to_owned(), value.clone())]));
        let op = if value.is_some() {
            AlterOp::Set
        } else {
            AlterOp::Delete
        };
        let op = ConfigOp {
            name: name.to_owned(),
            op,
            value,
        };
        let change = ConfigChange::Incremental(vec![op]);
        let request = AlterConfigRequest {
            topic: TopicRef::Id(topic),
            change,
        };
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::AlterConfig {
            request,
            validate_only: false,
            reply,
        });
        self.requests.push(Request::Alter {
            answer,
            topic,
            number,
        });
        Ok(())
    }

    fn trim(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let Some((partition, _)) = any_partition(scene) else {
            return Ok(());
        };
        let Some(known) = scene.model.partitions.get_mut(&partition) else {
            return Ok(());
        };
        let span = u64::try_from(known.end - known.start).unwrap_or(0);
        let to = match scene.random.below(3) {
            0 => None,
            _ => Some(known.start + i64::try_from(scene.random.below(span + 1)).unwrap_or(0)),
        };
        known.trim_asked = to.map_or(i64::MAX, |to| known.trim_asked.max(to));
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::Trim {
            partition,
            to: to.map(Offset),
            reply,
        });
        self.requests.push(Request::Trim { answer, partition });
        Ok(())
    }

    fn new_producer(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        scene.inbox.push(Proposal::ProducerId { reply });
        self.requests.push(Request::Producer { answer });
        Ok(())
    }

    /// Batches of nobody in particular, one or several in a request, each for another partition.
    fn append(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let count = if scene.random.chance(1, 5) {
            2 + scene.random.below(3)
        } else {
            1
        };
        let mut parts: Vec<(PartitionId, SubmissionId, CheckedBatch)> = Vec::new();
        for _ in 0..count {
            let Some((partition, _)) = any_partition(scene) else {
                return Ok(());
            };
            if parts.iter().any(|(other, _, _)| *other == partition) {
                continue;
            }
            let most = scene.setup.node.owner.entry_bytes_max / 4;
            let id = scene.model.next_submission();
            let batch = Shape::random(scene.random, id, scene.now_ms, most).build()?;
            submit(scene, partition, &batch, None);
            parts.push((partition, id, batch));
        }
        let alone = parts.len() == 1;
        let sent: Vec<_> = parts.iter().map(|(_, id, _)| *id).collect();
        for id in sent.iter().filter(|_| alone) {
            let place = (scene.model.life, scene.model.order.len());
            scene.model.order.push(*id);
            if let Some(sent) = scene.model.submission_mut(*id) {
                sent.order = Some(place);
            }
        }
        let parts = parts
            .into_iter()
            .map(|(partition, _, batch)| part(partition, batch));
        self.send(scene, parts.collect(), sent);
        Ok(())
    }

    fn send(&mut self, scene: &mut Scene<'_>, parts: Vec<AppendPart>, sent: Vec<SubmissionId>) {
        let (reply, answer) = oneshot::channel();
        // Of clients that leave before they are answered.
        let silent = sent
            .iter()
            .all(|id| scene.model.submission(*id).is_some_and(is_of_nobody))
            && scene.random.chance(1, 8);
        if silent {
            drop(answer);
            for id in sent {
                scene
                    .model
                    .submission_mut(id)
                    .into_iter()
                    .for_each(|sent| sent.silent = true);
            }
        } else {
            self.requests.push(Request::Append { answer, sent });
        }
        scene.inbox.push(Proposal::Append(AppendProposal {
            parts,
            reply,
            permit: None,
        }));
    }

    /// One step of an idempotent producer.
    fn produce(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        if self.producers.is_empty() {
            return self.append(scene);
        }
        let at = pick(scene.random, self.producers.len());
        let doubt = scene.random.chance(1, 6);
        let Some(producer) = self.producers.get_mut(at) else {
            return Ok(());
        };
        let partition = producer.partition;
        let (id, sequence) = (producer.id, producer.next_sequence);
        if !scene.model.partitions.contains_key(&partition) {
            producer.finished = true;
            return Ok(());
        }
        let batches = match producer.next(doubt) {
            Next::Wait => Vec::new(),
            Next::Again(ids) => ids,
            Next::New => {
                let number = scene.model.next_submission();
                let most = scene.setup.node.owner.entry_bytes_max / 4;
                let shape = Shape {
                    producer: Some((id, sequence)),
                    ..Shape::random(scene.random, number, scene.now_ms, most)
                };
                let batch = shape.build()?;
                submit(scene, partition, &batch, Some((id, sequence)));
                self.kept.insert(number, batch);
                vec![number]
            }
        };
        for number in batches {
            tracing::trace!(
                ?number,
                producer = id,
                partition = partition.0,
                doubt,
                "sent"
            );
            let Some(batch) = self.kept.get(&number).cloned() else {
                continue;
            };
            if let Some(producer) = self.producers.get_mut(at) {
                producer.sent(number, batch.header.count);
            }
            self.send(scene, vec![part(partition, batch)], vec![number]);
        }
        Ok(())
    }
}

const fn is_of_nobody(sent: &Submission) -> bool {
    sent.producer.is_none()
}

const fn part(partition: PartitionId, batch: CheckedBatch) -> AppendPart {
    AppendPart {
        partition,
        batch,
        origin: Origin::Kafka,
    }
}

fn submit(
    scene: &mut Scene<'_>,
    partition: PartitionId,
    batch: &CheckedBatch,
    producer: Option<(i64, i32)>,
) {
    let end_before = scene
        .model
        .partitions
        .get(&partition)
        .map_or(0, |known| known.end);
    let topic = scene.model.owners.get(&partition).map(|(topic, _)| *topic);
    let topic = topic.and_then(|topic| scene.model.topics.get(&topic));
    let sync = topic.is_some_and(|topic| topic.sync);
    scene.model.submit(Submission {
        partition,
        sync,
        body: batch.body.clone(),
        count: batch.header.count,
        producer,
        placed: None,
        refused: false,
        silent: false,
        sent_ms: scene.now_ms,
        end_before,
        order: None,
    });
}

fn any_topic(scene: &mut Scene<'_>) -> Option<TopicId> {
    let count = scene.model.topics.len();
    let at = pick(scene.random, count);
    scene.model.topics.keys().nth(at).copied()
}

fn any_partition(scene: &mut Scene<'_>) -> Option<(PartitionId, TopicId)> {
    let topic = any_topic(scene)?;
    let partitions = &scene.model.topics.get(&topic)?.partitions;
    let at = pick(scene.random, partitions.len());
    partitions.get(at).map(|partition| (*partition, topic))
}

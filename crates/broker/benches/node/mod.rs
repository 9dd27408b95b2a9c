//! A node whose machines are stepped on the thread of the bench.

use std::sync::Arc;
use std::time::Duration;

use broker::metadata::CreateTopicRequest;
use broker::owner::{AppendPart, AppendProposal, OwnerConfig, Proposal, Reply};
use broker::topic_config::BrokerDefaults;
use broker::{Machines, NodeConfig, Partition};
use log::Progress;
use log::read::{Batches, Mode};
use millrace_broker as broker;
use record::{BatchBuilder, CheckedBatch, Codec, Rules, check};
use tempfile::TempDir;
use tokio::sync::oneshot::{self, error::TryRecvError};
use types::{Offset, SystemClock, SystemRandom};

const TOPIC: &str = "bench";
/// Of 16 KiB each, when they hold records of 1 KiB.
const BATCH_BYTES: usize = 16 << 10;

/// A node in a directory of its own.
pub(crate) struct Node {
    machines: Machines,
    _root: TempDir,
}

impl Node {
    /// A node with a topic whose settings are `configs`.
    pub(crate) fn open(log_file_bytes: u64, tail_bytes: u64, configs: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let config = NodeConfig {
            root: root.path().to_path_buf(),
            log_file_bytes,
            tail_bytes,
            extents_bytes: 1 << 20,
            owner: OwnerConfig {
                defaults: BrokerDefaults::default(),
                retention_check: Duration::from_secs(300),
                producer_expiration_ms: 86_400_000,
                entry_bytes_max: 256 << 10,
                unsealed_bytes_max: 2 << 30,
                unsealed_batches_max: 6_000_000,
                checkpoint_bytes: 1 << 30,
                node_id: 1,
                partitions_default: 1,
            },
        };
        let (disk, clock) = (
            Arc::new(disk::RealDisk::new()),
            Arc::new(SystemClock::new()),
        );
        let random = Box::new(SystemRandom::new());
        let machines = broker::open(&config, disk, clock, random).unwrap();
        let mut node = Self {
            machines,
            _root: root,
        };
        node.background();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
        let request = CreateTopicRequest {
            configs: configs.iter().map(owned).collect(),
            ..CreateTopicRequest::with_defaults(TOPIC)
        };
        let create = |reply| Proposal::CreateTopic {
            request,
            validate_only: false,
            reply,
        };
        node.ask(create).unwrap();
        node
    }

    /// Steps the machines until the owner answers.
    fn ask<T>(&mut self, proposal: impl FnOnce(Reply<T>) -> Proposal) -> T {
        let (reply, mut answer) = oneshot::channel();
        self.machines.inbox.push(proposal(reply));
        loop {
            self.turn();
            if let Ok(answer) = answer.try_recv() {
                return answer;
            }
        }
    }

    /// One step of everything that an append needs.
    fn turn(&mut self) {
        self.machines.owner.step();
        self.machines.writer.step();
        self.machines.syncer.step();
    }

    /// Makes spares and seals until nothing of that is left.
    pub(crate) fn background(&mut self) {
        while self.machines.background.step() == Progress::Worked {
            for done in self.machines.background.take_done() {
                self.machines.inbox.push(Proposal::Job(done));
            }
            self.turn();
        }
    }

    /// Appends batches at once and waits until they are as durable as the topic says.
    pub(crate) fn append(&mut self, batches: Vec<CheckedBatch>) {
        let (inbox, id) = (Arc::clone(&self.machines.inbox), self.partition().id);
        let append = |batch| {
            let (reply, answer) = oneshot::channel();
            let parts = vec![AppendPart {
                partition: id,
                batch,
                origin: log::Origin::Kafka,
            }];
            inbox.push(Proposal::Append(AppendProposal {
                parts,
                reply,
                permit: None,
            }));
            answer
        };
        let mut answers: Vec<_> = batches.into_iter().map(append).collect();
        while let Some(answer) = answers.last_mut() {
            match answer.try_recv() {
                Ok(results) => {
                    results[0].as_ref().unwrap();
                    answers.pop();
                }
                Err(TryRecvError::Empty) => self.turn(),
                Err(closed) => panic!("the owner stopped: {closed}"),
            }
        }
    }

    /// Appends so many bytes, and does what the background does with them.
    pub(crate) fn fill(&mut self, bytes: usize) {
        let batch = batch();
        for _ in 0..bytes / batch.total_bytes() {
            self.append(vec![batch.clone()]);
            self.background();
        }
        while self.partition().has_pending() {
            self.machines.log.request_sync();
            self.turn();
        }
    }

    fn partition(&self) -> Arc<Partition> {
        let topic = self.machines.shared.topic(TOPIC).unwrap();
        Arc::clone(topic.partition(0).unwrap())
    }

    /// The offset after the last record that can be read.
    pub(crate) fn end(&self) -> Offset {
        self.partition().end()
    }

    /// Segments that the node has.
    pub(crate) fn segments(&self) -> u64 {
        self.machines.shared.storage_stats().segments_count
    }

    /// Reads as a fetch does.
    pub(crate) fn read(&self, from: Offset, max_bytes: usize, mode: Mode) -> Batches {
        let plan = self
            .partition()
            .plan(from, max_bytes, true)
            .unwrap()
            .unwrap();
        self.machines
            .reader
            .carry_out(&plan, mode)
            .unwrap()
            .into_batches()
    }
}

/// A batch of records of 1 KiB, checked.
pub(crate) fn batch() -> CheckedBatch {
    let mut builder = BatchBuilder::new();
    while builder.total_bytes() + 1_000 < BATCH_BYTES {
        builder.append(1_000, None, Some(&[7; 1_000]), &[]).unwrap();
    }
    check(&builder.build(Codec::None).unwrap(), &Rules::at(1_000)).unwrap()
}

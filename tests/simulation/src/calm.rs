//! A node without chance: for tests of one thing at a time.

use std::sync::Arc;
use std::time::Duration;

use broker::metadata::{CreateTopicRequest, TopicRef};
use broker::owner::{AppendPart, AppendProposal, AppendResults, Appended, Proposal};
use broker::{AppendError, FetchError, Machines, Partition, TrimError};
use disk::{Disk, SimDisk};
use log::read::Mode;
use log::{Origin, Progress};
use record::Codec;
use tokio::sync::oneshot;
use types::{Clock, ManualClock, Offset, PartitionId, SeededRandom};

use crate::batch::Shape;
use crate::ensure;
use crate::failure::Failure;
use crate::model::SubmissionId;
use crate::seen::{Seen, SeenBatch, chain, parse};
use crate::setup::Setup;

/// Steps after which something must have come to rest.
const STEPS_MAX: u32 = 100_000;

/// A node that does what it is told, at once.
#[derive(Debug)]
pub struct Calm {
    /// The disk.
    pub disk: SimDisk,
    /// The clocks.
    pub clock: Arc<ManualClock>,
    /// Sizes.
    pub setup: Setup,
    /// The node.
    pub node: Machines,
    sent: u32,
    lives: u64,
}

impl Calm {
    /// A node on an empty disk, with files of the smallest size and no memory for the tail.
    ///
    /// # Errors
    /// When it does not start.
    pub fn new() -> Result<Self, Failure> {
        let disk = SimDisk::new(1);
        let mut setup = Setup::random(&mut SeededRandom::new(1));
        setup.node.log_file_bytes = types::limits::LOG_FILE_BYTES_MIN;
        setup.node.tail_bytes = 0;
        setup.node.extents_bytes = 0;
        setup.node.owner.entry_bytes_max = 32 << 10;
        setup.node.owner.unsealed_bytes_max = 1 << 20;
        setup.node.owner.unsealed_batches_max = 1 << 20;
        setup.node.owner.checkpoint_bytes = 1 << 30;
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        let node = open(&setup, &disk, &clock, 1)?;
        Ok(Self {
            disk,
            clock,
            setup,
            node,
            sent: 0,
            lives: 1,
        })
    }

    /// Steps everything until nothing is left to do at this time.
    pub fn settle(&mut self) {
        for _ in 0..STEPS_MAX {
            let label = self.disk.label("owner");
            let mut worked = self.node.owner.step();
            drop(label);
            worked |= self.node.assembler.step() == Progress::Worked;
            worked |= self.node.writer.step() == Progress::Worked;
            worked |= self.node.syncer.step() == Progress::Worked;
            worked |= self.node.background.step() == Progress::Worked;
            for done in self.node.background.take_done() {
                self.node.inbox.push(Proposal::Job(done));
                worked = true;
            }
            if !worked && self.node.inbox.is_empty() && self.node.jobs.is_empty() {
                return;
            }
        }
    }

    /// Lets time pass in which nothing is asked for.
    pub fn rest(&mut self, by: Duration) {
        self.settle();
        self.clock.advance(by);
        self.settle();
        self.settle();
    }

    fn ask<T>(
        &mut self,
        proposal: impl FnOnce(oneshot::Sender<T>) -> Proposal,
    ) -> Result<T, Failure> {
        let (reply, mut answer) = oneshot::channel();
        self.node.inbox.push(proposal(reply));
        self.settle();
        answer
            .try_recv()
            .map_err(|_| Failure("a request is not answered".into()))
    }

    /// Creates a topic.
    ///
    /// # Errors
    /// When it is refused.
    pub fn create(&mut self, name: &str, partitions: i32) -> Result<Vec<PartitionId>, Failure> {
        self.create_with(name, partitions, &[])
    }

    /// Creates a topic with settings of its own.
    ///
    /// # Errors
    /// When it is refused.
    pub fn create_with(
        &mut self,
        name: &str,
        partitions: i32,
        configs: &[(&str, &str)],
    ) -> Result<Vec<PartitionId>, Failure> {
        let set = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
        let request = CreateTopicRequest {
            partitions,
            configs: configs.iter().map(set).collect(),
            ..CreateTopicRequest::with_defaults(name)
        };
        let made = self.ask(|reply| Proposal::CreateTopic {
            request,
            validate_only: false,
            reply,
        })?;
        made.map_err(|error| Failure(error.to_string()))?;
        let topic = self.node.shared.topic(name);
        let topic = topic.ok_or_else(|| Failure(format!("topic {name:?} is not there")))?;
        Ok(topic
            .partitions
            .iter()
            .map(|partition| partition.id)
            .collect())
    }

    /// Deletes a topic.
    ///
    /// # Errors
    /// When it is refused.
    pub fn delete(&mut self, name: &str) -> Result<(), Failure> {
        let topic = TopicRef::Name(name.to_owned());
        let deleted = self.ask(|reply| Proposal::DeleteTopic { topic, reply })?;
        deleted.map_err(|error| Failure(error.to_string()))
    }

    /// Appends a batch of one record.
    ///
    /// # Errors
    /// When it is refused; a failure of the simulation itself comes as [`AppendError::Full`].
    pub fn append(
        &mut self,
        partition: PartitionId,
        value_bytes: usize,
    ) -> Result<Appended, AppendError> {
        let part = self
            .part(partition, value_bytes)
            .map_err(|_| AppendError::Full)?;
        let results = self.ask(|reply| {
            let (parts, reply) = (vec![part], reply);
            Proposal::Append(AppendProposal {
                parts,
                reply,
                permit: None,
            })
        });
        let results: AppendResults = results.map_err(|_| AppendError::Full)?;
        results.into_iter().next().unwrap_or(Err(AppendError::Full))
    }

    /// Hands over a batch of one record that is not synced: only the owner and the writer are
    /// stepped.
    ///
    /// # Errors
    /// When the batch cannot be built.
    pub fn write_only(
        &mut self,
        partition: PartitionId,
        value_bytes: usize,
    ) -> Result<(), Failure> {
        let parts = vec![self.part(partition, value_bytes)?];
        let append = AppendProposal {
            parts,
            reply: oneshot::channel().0,
            permit: None,
        };
        self.node.inbox.push(Proposal::Append(append));
        self.node.owner.step();
        while self.node.writer.step() == Progress::Worked {}
        Ok(())
    }

    fn part(&mut self, partition: PartitionId, value_bytes: usize) -> Result<AppendPart, Failure> {
        let shape = Shape {
            id: SubmissionId(self.sent),
            records: 1,
            value_bytes,
            producer: None,
            now_ms: self.clock.now_ms(),
            codec: Codec::None,
        };
        self.sent += 1;
        Ok(AppendPart {
            partition,
            batch: shape.build()?,
            origin: Origin::Kafka,
        })
    }

    /// Moves the log start to the end.
    ///
    /// # Errors
    /// When it is refused.
    pub fn trim_all(&mut self, partition: PartitionId) -> Result<Offset, TrimError> {
        let trimmed = self.ask(|reply| Proposal::Trim {
            partition,
            to: None,
            reply,
        });
        trimmed.unwrap_or(Err(TrimError::UnknownPartition))
    }

    /// Writes a checkpoint.
    pub fn checkpoint(&mut self) {
        self.node.owner.want_checkpoint();
        self.settle();
    }

    /// The readers' side of a partition.
    ///
    /// # Errors
    /// When it is gone.
    pub fn partition(&self, id: PartitionId) -> Result<Arc<Partition>, Failure> {
        let topics = self.node.shared.topics();
        let mut all = topics.iter().flat_map(|topic| &topic.partitions);
        let found = all.find(|partition| partition.id == id);
        found
            .cloned()
            .ok_or_else(|| Failure(format!("partition {id} is gone")))
    }

    /// All that can be read of a partition.
    ///
    /// # Errors
    /// When what should be readable is not.
    pub fn read(&self, id: PartitionId) -> Result<Vec<SeenBatch>, Failure> {
        let seen = Seen::everything(&self.node.shared, &self.node.reader)?;
        let mut all = seen.topics.into_values().flat_map(|topic| topic.partitions);
        let found = all.find(|partition| partition.id == id);
        found
            .and_then(|p| p.batches)
            .ok_or_else(|| Failure(format!("partition {id} is gone")))
    }

    /// Asks for each offset of a partition: which can be read, which are lost.
    ///
    /// # Errors
    /// When the partition is gone, or a read gives anything but records or damage.
    pub fn offsets(&self, id: PartitionId) -> Result<(Vec<i64>, Vec<i64>), Failure> {
        let partition = self.partition(id)?;
        let (mut good, mut lost) = (Vec::new(), Vec::new());
        for offset in partition.log_start().0..partition.end().0 {
            let plan = match partition.plan(Offset(offset), 0, true) {
                Ok(Some(plan)) => plan,
                Ok(None) => return Err(Failure(format!("nothing at {offset}"))),
                Err(FetchError::Storage(_)) => {
                    lost.push(offset);
                    continue;
                }
                Err(error) => return Err(Failure(chain(&error))),
            };
            match self.node.reader.carry_out(&plan, Mode::Blocking) {
                Ok(outcome) => {
                    let batches = parse(&outcome.into_batches().concat(), offset)?;
                    ensure!(!batches.is_empty(), "nothing at {offset}");
                    good.push(offset);
                }
                Err(_) => lost.push(offset),
            }
        }
        Ok((good, lost))
    }

    /// Moves the log start.
    ///
    /// # Errors
    /// When it is refused.
    pub fn trim(&mut self, partition: PartitionId, to: i64) -> Result<Offset, TrimError> {
        let trimmed = self.ask(|reply| Proposal::Trim {
            partition,
            to: Some(Offset(to)),
            reply,
        });
        trimmed.unwrap_or(Err(TrimError::UnknownPartition))
    }

    /// Ends the process, power on, lets `meddle` change the disk, and starts again.
    ///
    /// # Errors
    /// When the node does not start.
    pub fn restart(&mut self, meddle: impl FnOnce(&SimDisk)) -> Result<(), Failure> {
        self.disk.kill();
        meddle(&self.disk);
        self.reopen()
    }

    /// Takes the power away and starts again.
    ///
    /// # Errors
    /// When the node does not start.
    pub fn power_cut(&mut self) -> Result<(), Failure> {
        self.disk.crash();
        self.reopen()
    }

    fn reopen(&mut self) -> Result<(), Failure> {
        self.lives += 1;
        self.node = open(&self.setup, &self.disk, &self.clock, self.lives)?;
        Ok(())
    }
}

fn open(
    setup: &Setup,
    disk: &SimDisk,
    clock: &Arc<ManualClock>,
    seed: u64,
) -> Result<Machines, Failure> {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let opened = broker::open(&setup.node, disk, clock, Box::new(SeededRandom::new(seed)));
    opened.map_err(|error| Failure(chain(&error)))
}

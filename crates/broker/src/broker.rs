//! The handle that protocols hold.

use std::sync::Arc;

use log::read::{Batches, Begin, LogPosition, Mode, Outcome, Plan, Reader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use types::limits::READ_BEGINNINGS_STEP;
use types::{Clock, Offset, ProducerId};

use crate::error::{FetchError, Stopped, TrimError};
use crate::inbox::Inbox;
use crate::metadata::{
    AlterConfigError, AlterConfigRequest, CreatePartitionsError, CreatePartitionsRequest,
    CreateTopicError, CreateTopicRequest, DeleteTopicError, TopicRef,
};
use crate::owner::{AppendPart, AppendProposal, AppendResults, Proposal, Reply, TopicMade};
use crate::partition::Partition;
use crate::read_pool::ReadPool;
use crate::shared::Shared;
use crate::topic_config::BrokerDefaults;

/// The broker, as a protocol sees it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Broker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
    reader: Arc<Reader>,
    pool: ReadPool,
    log: Arc<log::CommitLog>,
    clock: Arc<dyn Clock>,
    admission: Arc<Semaphore>,
    admission_units: u32,
    info: NodeInfo,
}

/// What is the same for the whole life of a node.
#[derive(Clone, Debug)]
pub struct NodeInfo {
    /// The node's id in the Kafka protocol.
    pub node_id: i32,
    /// The cluster's id.
    pub cluster_id: String,
    /// Defaults of topics.
    pub defaults: BrokerDefaults,
    /// Partitions of a topic that is created without saying how many.
    pub partitions_default: i32,
    /// Whether topics are created when they are first used.
    pub auto_create: bool,
    /// Whether topics may be deleted.
    pub delete_enabled: bool,
}

/// How much one read gives.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// Most bytes.
    pub max_bytes: usize,
    /// Give one batch even if it is larger or stands further on.
    pub at_least_one: bool,
    /// Give nothing that stands here or behind it in the log.
    pub before: Option<LogPosition>,
    /// Wait for the device rather than give less than there is.
    pub must_fill: bool,
    /// Copy what is found in files, so that an answer keeps no more in memory than it holds.
    pub copies: bool,
}

/// Bytes that one unit of admission stands for.
const ADMISSION_UNIT_BYTES: usize = 1024;

/// What a [`Broker`] is made of.
#[derive(Debug)]
pub struct BrokerParts {
    /// The readers' view.
    pub shared: Arc<Shared>,
    /// The way to the owner.
    pub inbox: Arc<Inbox>,
    /// Reads partitions.
    pub reader: Arc<Reader>,
    /// The log.
    pub log: Arc<log::CommitLog>,
    /// The clocks.
    pub clock: Arc<dyn Clock>,
    /// Bytes of requests that may be under way at once.
    pub admission_bytes: usize,
    /// What does not change.
    pub info: NodeInfo,
    /// Threads that wait for the device.
    pub pool: ReadPool,
}

impl Broker {
    /// A handle to the machines behind `parts`.
    #[must_use]
    pub fn new(parts: BrokerParts) -> Self {
        let units = (parts.admission_bytes / ADMISSION_UNIT_BYTES).max(1);
        let admission_units = u32::try_from(units).unwrap_or(u32::MAX);
        let inner = Inner {
            shared: parts.shared,
            inbox: parts.inbox,
            reader: parts.reader,
            pool: parts.pool,
            log: parts.log,
            clock: parts.clock,
            admission: Arc::new(Semaphore::new(admission_units as usize)),
            admission_units,
            info: parts.info,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Topics and partitions.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// What does not change.
    #[must_use]
    pub fn info(&self) -> &NodeInfo {
        &self.inner.info
    }

    /// The clocks.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.inner.clock.as_ref()
    }

    /// The log, for those who report on it.
    #[must_use]
    pub fn log(&self) -> &log::CommitLog {
        &self.inner.log
    }

    /// Waits until a request of `bytes` fits into the memory budget.
    pub async fn admit(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(ADMISSION_UNIT_BYTES)).unwrap_or(u32::MAX);
        // One request larger than the budget is let in alone.
        let units = units.min(self.inner.admission_units);
        Arc::clone(&self.inner.admission)
            .acquire_many_owned(units)
            .await
            .ok()
    }

    /// Bytes of requests that are under way.
    #[must_use]
    pub fn admitted_bytes(&self) -> u64 {
        let free = self.inner.admission.available_permits();
        let used = (self.inner.admission_units as usize).saturating_sub(free);
        (used * ADMISSION_UNIT_BYTES) as u64
    }

    /// Proposes batches; the answer comes when all of them are as durable as their topics say.
    /// Whoever has proposed all that it has at hand calls [`write`](Self::write).
    #[must_use]
    pub fn append(
        &self,
        parts: Vec<AppendPart>,
        permit: Option<OwnedSemaphorePermit>,
    ) -> oneshot::Receiver<AppendResults> {
        let (reply, answer) = oneshot::channel();
        let append = AppendProposal {
            parts,
            reply,
            permit,
        };
        self.inner.inbox.push_held(Proposal::Append(append));
        answer
    }

    /// Whether something that was proposed waits for whoever calls [`write`](Self::write) next:
    /// whoever brought it may bring more of it first.
    #[must_use]
    pub fn awaits_write(&self) -> bool {
        self.inner.inbox.awaits_write()
    }

    /// Has what was proposed written: by this thread, which then waits for the sync, if it is
    /// little and nobody else writes. True when answers may have come of it.
    #[expect(clippy::must_use_candidate, reason = "not everybody looks for answers")]
    pub fn write(&self) -> bool {
        self.inner.inbox.write()
    }

    /// Where reads begin in the log, in the order in which they are asked for, but for what is in
    /// memory or cannot be read. What must be read to know it is read many at a time.
    pub async fn positions<'a>(
        &self,
        wanted: impl Iterator<Item = Option<(&'a Partition, Offset)>>,
    ) -> Vec<Option<LogPosition>> {
        let mut unknown = Vec::new();
        let mut positions = Vec::with_capacity(wanted.size_hint().0);
        for (at, wanted) in wanted.enumerate() {
            let plan = wanted.and_then(|(of, from)| of.plan(from, 1, true).ok().flatten());
            let reader = &self.inner.reader;
            let begin = plan.and_then(|plan| {
                let begin = reader.begin_of(&plan, Mode::Cached).ok()?;
                if begin == Begin::NotCached {
                    unknown.push((at, plan));
                }
                begin.position()
            });
            positions.push(begin);
        }
        while !unknown.is_empty() {
            let rest = unknown.split_off(unknown.len().min(READ_BEGINNINGS_STEP));
            let plans = std::mem::replace(&mut unknown, rest);
            let read = self.run_blocking(move |reader| {
                let begin_of = |plan: &Plan| reader.begin_of(plan, Mode::Blocking).ok()?.position();
                let begins = plans.iter().map(|(at, plan)| (*at, begin_of(plan)));
                begins.collect::<Vec<_>>()
            });
            for (at, position) in read.await.unwrap_or_default() {
                if let Some(found) = positions.get_mut(at) {
                    *found = position;
                }
            }
        }
        positions
    }

    /// Reads whole batches from `from` on. Nothing at the end of the partition.
    ///
    /// # Errors
    /// [`FetchError`].
    pub async fn read(
        &self,
        partition: &Arc<Partition>,
        from: Offset,
        limits: ReadLimits,
    ) -> Result<Batches, FetchError> {
        let Some(plan) = partition.plan(from, limits.max_bytes, limits.at_least_one)? else {
            return Ok(Batches::default());
        };
        let plan = plan.before(limits.before).copying(limits.copies);
        let plan = Arc::new(plan);
        let batches = match self.inner.reader.carry_out(&plan, Mode::Cached)? {
            Outcome::Batches(batches) if !(limits.must_fill && batches.is_cut) => batches,
            _ => self.read_blocking(Arc::clone(&plan)).await?,
        };
        if batches.reads_on {
            let reader = Arc::clone(&self.inner.reader);
            self.inner.pool.offer(move || reader.read_ahead(&plan));
        }
        // What was trimmed meanwhile may have been punched out while it was read.
        partition.check_readable(from)?;
        Ok(batches)
    }

    async fn read_blocking(&self, plan: Arc<Plan>) -> Result<Batches, FetchError> {
        let read = self.run_blocking(move |reader| reader.carry_out(&plan, Mode::Blocking));
        let outcome = read.await.ok_or(FetchError::Closing)?;
        Ok(outcome.map(Outcome::into_batches)?)
    }

    /// Runs a read that may wait for the device on a reader thread.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> T + Send + 'static,
    ) -> Option<T> {
        let reader = Arc::clone(&self.inner.reader);
        self.inner.pool.run(move || work(&reader)).await.ok()
    }

    /// Asks for a sync if something of the partition is written and not yet visible.
    pub fn hurry(&self, partition: &Partition) {
        if partition.has_pending() {
            self.inner.log.request_sync();
        }
    }

    /// Moves a log start; `None` stands for the end. Gives the new log start.
    ///
    /// # Errors
    /// [`TrimError`].
    pub async fn trim(
        &self,
        partition: &Partition,
        to: Option<Offset>,
    ) -> Result<Offset, TrimError> {
        let partition = partition.id;
        self.ask(|reply| Proposal::Trim {
            partition,
            to,
            reply,
        })
        .await?
    }

    /// Creates a topic.
    ///
    /// # Errors
    /// [`CreateTopicError`].
    pub async fn create_topic(
        &self,
        request: CreateTopicRequest,
        validate_only: bool,
    ) -> Result<TopicMade, CreateTopicError> {
        self.ask(|reply| Proposal::CreateTopic {
            request,
            validate_only,
            reply,
        })
        .await?
    }

    /// Deletes a topic.
    ///
    /// # Errors
    /// [`DeleteTopicError`].
    pub async fn delete_topic(&self, topic: TopicRef) -> Result<(), DeleteTopicError> {
        self.ask(|reply| Proposal::DeleteTopic { topic, reply })
            .await?
    }

    /// Adds partitions to a topic.
    ///
    /// # Errors
    /// [`CreatePartitionsError`].
    pub async fn create_partitions(
        &self,
        request: CreatePartitionsRequest,
        validate_only: bool,
    ) -> Result<(), CreatePartitionsError> {
        self.ask(|reply| Proposal::CreatePartitions {
            request,
            validate_only,
            reply,
        })
        .await?
    }

    /// Changes settings of a topic.
    ///
    /// # Errors
    /// [`AlterConfigError`].
    pub async fn alter_config(
        &self,
        request: AlterConfigRequest,
        validate_only: bool,
    ) -> Result<(), AlterConfigError> {
        self.ask(|reply| Proposal::AlterConfig {
            request,
            validate_only,
            reply,
        })
        .await?
    }

    /// A producer id that nobody had before.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn producer_id(&self) -> Result<ProducerId, Stopped> {
        self.ask(|reply| Proposal::ProducerId { reply }).await?
    }

    async fn ask<T>(&self, proposal: impl FnOnce(Reply<T>) -> Proposal) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.inner.inbox.push(proposal(reply));
        answer.await.map_err(|_| Stopped)
    }
}

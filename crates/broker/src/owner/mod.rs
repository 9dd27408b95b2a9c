//! The owner: the one loop that decides and applies (ARCHITECTURE.md tells its place).
//!
//! It is a step machine without a thread: [`Owner::step`] takes what waits, decides it, hands the
//! entries to the log, applies what is synced, and answers. What is decided and not yet applied is
//! the pending overlay; decisions read overlay over state, readers see applied state only.

mod append;
mod apply;
mod checkpoint;
mod flight;
mod lifecycle;
mod metadata;
mod pace;
mod proposal;
mod replay;
mod space;
pub(crate) mod state;
mod trim;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk::Disk;
use log::background::JobQueue;
use log::file::LogFile;
use log::frame::Frame;
use log::index::LogPart;
use log::{CommitLog, EntryHeader, Kind, LogEvent, Origin, Payload, Queued, Tail};
use types::limits::{
    CHECKPOINT_SLICE_MS, OWNER_APPLY_MAX, OWNER_APPLY_PIECE, OWNER_APPLY_US, OWNER_DECIDE_MAX,
    OWNER_STEP_MAX, OWNER_TIMED_MIN,
};
use types::{Clock, FrameNumber, LogIndex, Offset, PartitionId, Random, ShardId, Term};

use self::apply::Place;
use self::checkpoint::CheckpointRun;
use self::flight::{Effect, InFlight, Waiting, send};
use self::pace::Pace;
use self::space::Freed;
use self::state::{Partitions, SHARED_SHARD, Storage};
use crate::error::Stopped;
use crate::inbox::Inbox;
use crate::metadata::{Metadata, MetadataOverlay};
use crate::shared::Shared;
use crate::stamp::Stamp;
use crate::topic_config::BrokerDefaults;

pub(crate) use self::checkpoint::{Kept, KeptCheckpoint};
pub use self::proposal::{
    AppendPart, AppendProposal, AppendResults, Appended, Proposal, Reply, TopicMade,
};
pub(crate) use self::replay::Loading;

/// On a single node there is one term.
const TERM: Term = Term(1);

/// How long a step applies.
const APPLY_TIME: Duration = Duration::from_micros(OWNER_APPLY_US);

/// Settings of the owner.
#[derive(Clone, Debug)]
pub struct OwnerConfig {
    /// Defaults of topics.
    pub defaults: BrokerDefaults,
    /// How often retention is judged.
    pub retention_check: Duration,
    /// After how long a producer that sends nothing is forgotten.
    pub producer_expiration_ms: i64,
    /// The largest entry that a log file takes.
    pub entry_bytes_max: usize,
    /// Unsealed log at which producers wait; near it they are slowed.
    pub unsealed_bytes_max: u64,
    /// The same in batches, each of which takes some memory.
    pub unsealed_batches_max: u64,
    /// Log after which a checkpoint is written.
    pub checkpoint_bytes: u64,
    /// The node's id in the Kafka protocol.
    pub node_id: i32,
    /// Partitions of a topic that is created without saying how many.
    pub partitions_default: i32,
}

/// State that entries change: the same after a replay as it was.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) root: PathBuf,
    pub(crate) defaults: BrokerDefaults,
    pub(crate) shared: Arc<Shared>,
    pub(crate) metadata: Metadata,
    pub(crate) partitions: Partitions,
    pub(crate) storage: Storage,
    /// Dead files and segments that a kept checkpoint may still need.
    pub(crate) freed: Freed,
    /// What is no longer needed and takes a while to free.
    pub(crate) gone: Gone,
    /// Id of the data directory.
    pub(crate) directory: [u8; 16],
    /// The last entry applied, by shard.
    pub(crate) index: [LogIndex; 2],
    /// The last stamp applied.
    pub(crate) stamp_ms: i64,
}

/// Memory that nothing needs any more.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    /// Frames that left the tail.
    frames: Vec<Bytes>,
    /// Parts of indexes that a segment took the place of.
    parts: Vec<LogPart>,
}

/// A written frame that is being applied.
#[derive(Debug)]
struct WrittenFrame {
    frame: Frame,
    file: Arc<LogFile>,
    /// Entries that are applied.
    applied: usize,
}

/// The owner of a node's shards.
#[derive(Debug)]
pub struct Owner {
    config: OwnerConfig,
    clock: Arc<dyn Clock>,
    random: Box<dyn Random>,
    log: Arc<CommitLog>,
    jobs: Arc<JobQueue>,
    tail: Arc<Tail>,
    inbox: Arc<Inbox>,
    applied: Applied,
    stamp: Stamp,
    /// Decided topics, names and ids that are not applied.
    overlay: MetadataOverlay,
    /// The next index to decide, by shard.
    next_index: [LogIndex; 2],
    in_flight: [VecDeque<InFlight>; 2],
    /// Log space set aside for what is in flight and not written.
    reserved_bytes: u64,
    /// Log space that data may still take in this step.
    room_bytes: u64,
    /// Log space that changes of metadata may still take in this step.
    metadata_room_bytes: u64,
    on_written: Waiting,
    on_synced: Waiting,
    proposals: VecDeque<Proposal>,
    /// Appends that wait for log space.
    deferred: VecDeque<AppendProposal>,
    /// Changes of metadata that wait for log space.
    waiting: VecDeque<Proposal>,
    outbox: Vec<Queued>,
    frames: VecDeque<WrittenFrame>,
    synced: FrameNumber,
    /// Producer ids that may be given, and the entry that says so.
    producer_ids: std::ops::Range<i64>,
    producer_ids_index: LogIndex,
    /// Who waits for the clean stop, until it is decided.
    stopping: Option<Reply<Result<(), Stopped>>>,
    checkpoint: CheckpointRun,
    upkeep: trim::Upkeep,
    pace: Pace,
    ended: VecDeque<(Arc<LogFile>, u64)>,
    stopped: bool,
    step_max_us: u64,
    step_busy_max_us: u64,
}

/// What an owner is made of.
#[derive(Debug)]
pub(crate) struct OwnerParts {
    pub(crate) config: OwnerConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Box<dyn Random>,
    pub(crate) log: Arc<CommitLog>,
    pub(crate) jobs: Arc<JobQueue>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) applied: Applied,
    pub(crate) kept: Kept,
    pub(crate) next_checkpoint: u64,
    pub(crate) synced: FrameNumber,
    /// Files that end, oldest first.
    pub(crate) ended: Vec<(Arc<LogFile>, u64)>,
    /// The last life stopped in order.
    pub(crate) clean: bool,
}

impl Owner {
    pub(crate) fn new(parts: OwnerParts) -> Self {
        let now = parts.clock.monotonic();
        let stamp = Stamp::new(parts.applied.stamp_ms, parts.clock.now_ms(), now);
        let ids = parts.applied.metadata.next_producer_id();
        let mut owner = Self {
            config: parts.config,
            clock: parts.clock,
            random: parts.random,
            log: parts.log,
            jobs: parts.jobs,
            tail: parts.tail,
            inbox: parts.inbox,
            next_index: parts.applied.index.map(LogIndex::next),
            applied: parts.applied,
            stamp,
            overlay: MetadataOverlay::default(),
            in_flight: Default::default(),
            reserved_bytes: 0,
            room_bytes: 0,
            metadata_room_bytes: 0,
            on_written: Waiting::default(),
            on_synced: Waiting::default(),
            proposals: VecDeque::new(),
            deferred: VecDeque::new(),
            waiting: VecDeque::new(),
            outbox: Vec::new(),
            frames: VecDeque::new(),
            synced: parts.synced,
            producer_ids: ids..ids,
            producer_ids_index: LogIndex(0),
            stopping: None,
            checkpoint: CheckpointRun::new(parts.kept, parts.next_checkpoint, now),
            upkeep: trim::Upkeep::new(now),
            pace: Pace::new(now),
            ended: parts.ended.into(),
            stopped: false,
            step_max_us: 0,
            step_busy_max_us: 0,
        };
        owner.begin_life(parts.clean);
        owner
    }

    /// Takes what waits and does it. False when there was nothing.
    pub fn step(&mut self) -> bool {
        drop(self.take_gone());
        // Before the log is looked at: what moves after this wakes the owner again.
        self.inbox.take(OWNER_STEP_MAX, &mut self.proposals);
        let begun = self.clock.monotonic();
        let busy = self.may_take_long(begun).then(|| self.clock.thread_busy());
        let worked = self.step_untimed();
        let us = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let took = us(self.clock.monotonic().saturating_sub(begun));
        self.step_max_us = self.step_max_us.max(took);
        if let Some(before) = busy {
            let busy = us(self.clock.thread_busy().saturating_sub(before));
            self.step_busy_max_us = self.step_busy_max_us.max(busy);
        }
        worked
    }

    /// Whether the next step has so much to do that its processor time is worth asking for, which
    /// costs a system call.
    fn may_take_long(&self, now: Duration) -> bool {
        let [node, shared] = &self.in_flight;
        self.proposals.len() + shared.len() >= OWNER_TIMED_MIN
            || !node.is_empty()
            || self.checkpoint.is_running()
            || self.upkeep.next_wake(now).is_zero()
    }

    fn step_untimed(&mut self) -> bool {
        let mut worked = !self.proposals.is_empty();
        worked |= self.take_log_events();
        if self.stopped {
            self.refuse_all();
            return worked;
        }
        worked |= self.apply_synced();
        if self.stopped {
            // What was told that nothing follows is not asked again.
            self.refuse_all();
            return true;
        }
        self.measure_room();
        self.retry_deferred();
        self.retry_waiting();
        while self.outbox.len() < OWNER_DECIDE_MAX
            && let Some(proposal) = self.proposals.pop_front()
        {
            if self.must_wait(&proposal) {
                self.waiting.push_back(proposal);
            } else {
                self.decide(proposal);
            }
        }
        self.upkeep();
        worked |= self.advance_checkpoint();
        self.advance_stop();
        worked |= self.outbox.len() >= OWNER_DECIDE_MAX;
        if !self.outbox.is_empty() {
            self.log.append(self.outbox.drain(..));
        }
        worked
    }

    /// Memory that the last step let go of, for whoever may take the time to free it.
    pub(crate) fn take_gone(&mut self) -> Gone {
        std::mem::take(&mut self.applied.gone)
    }

    /// The readers' view.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.applied.shared
    }

    /// When the owner wants to be stepped though nothing arrives.
    #[must_use]
    pub fn next_wake(&self) -> Duration {
        let mut wake = self.upkeep.next_wake(self.clock.monotonic());
        if self.holds_back() {
            wake = wake.min(self.pace.wait());
        }
        if self.checkpoint.has_slices() {
            // The background takes those before, and wakes nobody for it.
            wake = wake.min(Duration::from_millis(CHECKPOINT_SLICE_MS));
        }
        wake
    }

    /// Whether appends wait for nothing but time. What else they may wait for wakes the owner.
    pub(crate) fn holds_back(&self) -> bool {
        !self.deferred.is_empty() && !self.pace.admits()
    }

    /// Changes of metadata take the ballast too, but not what a recovery needs: on a full device
    /// they wait, in their order, until there is space.
    fn must_wait(&self, proposal: &Proposal) -> bool {
        let bytes = self.metadata_space(proposal);
        bytes > 0 && (!self.waiting.is_empty() || bytes > self.metadata_room_bytes)
    }

    /// Log space that a change of metadata takes. One that asks for more than an entry may hold is
    /// refused when it is decided: until then it keeps nobody waiting for what never comes.
    fn metadata_space(&self, proposal: &Proposal) -> u64 {
        let bytes = proposal.metadata_bytes();
        if bytes == 0 {
            return 0;
        }
        space::reservation(bytes.min(self.config.entry_bytes_max))
    }

    fn retry_waiting(&mut self) {
        while self.outbox.len() < OWNER_DECIDE_MAX
            && let Some(proposal) = self.waiting.pop_front()
        {
            if proposal.is_given_up() {
                continue;
            }
            if self.metadata_space(&proposal) > self.metadata_room_bytes {
                self.waiting.push_front(proposal);
                return;
            }
            self.decide(proposal);
        }
    }

    fn decide(&mut self, proposal: Proposal) {
        match proposal {
            Proposal::Append(append) => self.decide_append(append),
            Proposal::Trim {
                partition,
                to,
                reply,
            } => self.decide_trim(partition, to, reply),
            Proposal::CreateTopic {
                request,
                validate_only,
                reply,
            } => {
                self.decide_create_topic(&request, validate_only, reply);
            }
            Proposal::DeleteTopic { topic, reply } => self.decide_delete_topic(&topic, reply),
            Proposal::CreatePartitions {
                request,
                validate_only,
                reply,
            } => {
                self.decide_create_partitions(&request, validate_only, reply);
            }
            Proposal::AlterConfig {
                request,
                validate_only,
                reply,
            } => {
                self.decide_alter_config(&request, validate_only, reply);
            }
            Proposal::ProducerId { reply } => self.decide_producer_id(reply),
            Proposal::Job(done) => self.job_done(done),
            Proposal::Stop { reply } => self.begin_stop(reply),
        }
    }

    fn stamp(&mut self) -> i64 {
        self.stamp.next(self.clock.now_ms(), self.clock.monotonic())
    }

    /// Gives an entry its index and puts it into the outbox.
    fn propose(&mut self, draft: Draft, effect: Effect) -> LogIndex {
        let shard = usize::from(draft.shard.0);
        let index = self.next_index[shard];
        self.next_index[shard] = index.next();
        let header = EntryHeader {
            shard: draft.shard,
            kind: draft.kind,
            origin: draft.origin,
            partition: draft.partition,
            term: TERM,
            index,
            base_offset: draft.base_offset,
            count: draft.count,
            append_time_ms: draft.append_time_ms,
            max_timestamp_ms: draft.max_timestamp_ms,
        };
        let reserved_bytes = space::reservation(draft.payload.len());
        self.reserved_bytes += reserved_bytes;
        self.room_bytes = self.room_bytes.saturating_sub(reserved_bytes);
        self.metadata_room_bytes = self.metadata_room_bytes.saturating_sub(reserved_bytes);
        self.in_flight[shard].push_back(InFlight {
            index,
            effect,
            reserved_bytes,
        });
        let entry = log::Entry {
            header,
            payload: draft.payload,
        };
        self.outbox.push(Queued {
            entry,
            sync_within: draft.sync_within,
        });
        index
    }

    /// Takes what writer and syncer did.
    fn take_log_events(&mut self) -> bool {
        let stops = !self.stopped && self.log.poisoned().is_some();
        if stops {
            self.stop();
        }
        let (events, synced) = self.log.take_events();
        let moved = stops || synced > self.synced || !events.is_empty();
        self.synced = synced;
        for event in events {
            match event {
                LogEvent::Written { frame, file } => self.frame_written(frame, file),
                LogEvent::Ended {
                    file,
                    end,
                    next,
                    draft,
                } => self.file_ended(file, end, &next, draft),
            }
        }
        moved
    }

    fn frame_written(&mut self, frame: Frame, file: Arc<LogFile>) {
        let shared = frame
            .entries
            .iter()
            .rfind(|e| e.header.shard == SHARED_SHARD);
        let reached = shared.map(|e| e.header.index);
        self.applied.storage.file(&file);
        self.frames.push_back(WrittenFrame {
            frame,
            file,
            applied: 0,
        });
        if let Some(reached) = reached {
            self.on_written.reach(reached);
        }
    }

    /// Applies what is synced and answers, as far as the step stays short.
    fn apply_synced(&mut self) -> bool {
        let begun = self.clock.monotonic();
        let mut left = OWNER_APPLY_MAX;
        let mut worked = false;
        while left > 0 && self.clock.monotonic() <= begun + APPLY_TIME {
            let synced = self.synced;
            let Some(mut next) = self.frames.pop_front_if(|f| f.frame.number <= synced) else {
                break;
            };
            worked = true;
            if next.applied == 0 {
                // The tail is filled before the index names what is in it.
                let now = self.clock.monotonic();
                let gone = self.tail.push(next.frame.clone(), now);
                self.applied.gone.frames.extend(gone);
            }
            left -= self.apply_entries(&mut next, left.min(OWNER_APPLY_PIECE));
            if next.applied < next.frame.entries.len() {
                self.frames.push_front(next);
            }
            // Who is answered is woken, which takes longer than all else here.
            self.on_synced.reach(self.applied.index[1]);
        }
        self.on_synced.reach(self.applied.index[1]);
        self.seal_ended();
        worked
    }

    /// Applies so many entries of a frame; how many there were.
    fn apply_entries(&mut self, written: &mut WrittenFrame, most: usize) -> usize {
        let from = written.applied;
        let to = written.frame.entries.len().min(from + most);
        for entry in &written.frame.entries[from..to] {
            let shard = usize::from(entry.header.shard.0);
            let Some(flight) = self.in_flight[shard].pop_front() else {
                // PANIC: an entry that nobody decided would make state and log differ.
                panic!("entry {:?} was written but not decided", entry.header);
            };
            assert_eq!(
                flight.index, entry.header.index,
                "entries are applied in order"
            );
            self.reserved_bytes -= flight.reserved_bytes;
            let place = Place {
                file: &written.file,
                position: entry.position,
                bytes: entry.payload_bytes,
            };
            self.overlay_applied(&flight.effect);
            if let Err(error) = self.applied.apply(&entry.header, place, flight.effect) {
                let error = log::error_chain(&error);
                self.log
                    .poison(&format!("a decided entry cannot be applied: {error}"));
                self.stop();
            }
            self.applied.index[shard] = entry.header.index;
            self.applied.stamp_ms = entry.header.append_time_ms;
        }
        written.applied = to;
        to - from
    }

    fn overlay_applied(&mut self, effect: &Effect) {
        if let Effect::Metadata(entry) = effect {
            self.overlay.applied(entry);
        }
    }

    /// After a failure of the storage: what is decided and not applied never will be.
    fn stop(&mut self) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.outbox.clear();
        self.overlay = MetadataOverlay::default();
        for partition in self.applied.partitions.values_mut() {
            partition.producers.drop_pending();
        }
        self.on_written.stop();
        self.on_synced.stop();
        for append in self.deferred.drain(..) {
            append.refuse();
        }
        self.waiting.drain(..).for_each(Proposal::refuse);
        // Its checkpoint may never be written.
        if let Some(reply) = self.stopping.take() {
            send(reply, Err(Stopped));
        }
    }

    fn refuse_all(&mut self) {
        while let Some(proposal) = self.proposals.pop_front() {
            proposal.refuse();
        }
    }
}

/// An entry without its index.
#[derive(Debug)]
struct Draft {
    shard: ShardId,
    kind: Kind,
    origin: Origin,
    partition: PartitionId,
    base_offset: Offset,
    count: u32,
    append_time_ms: i64,
    max_timestamp_ms: i64,
    payload: Payload,
    sync_within: Duration,
}

impl Draft {
    /// An entry about no partition, to be synced at once.
    fn new(shard: ShardId, kind: Kind, append_time_ms: i64, payload: Bytes) -> Self {
        Self {
            shard,
            kind,
            origin: Origin::Internal,
            partition: PartitionId(0),
            base_offset: Offset::ZERO,
            count: 0,
            append_time_ms,
            max_timestamp_ms: -1,
            payload: Payload::from_body(payload),
            sync_within: Duration::ZERO,
        }
    }
}

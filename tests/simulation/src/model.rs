//! The oracle: what must be there, by what replies said and readers saw.

mod check;
mod expiry;
mod partition;
mod submission;
mod topic;

use std::collections::{BTreeMap, BTreeSet};

use types::{PartitionId, ProducerId, TopicId};

pub use self::expiry::{ExpiriesJudged, Retention};
pub use self::partition::PartitionModel;
pub use self::submission::{Submission, SubmissionId};
pub use self::topic::{ConfigSet, TopicModel};
use crate::ensure;
use crate::failure::Failure;

/// What must be there, and what may be.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Every batch that was ever sent.
    pub submissions: Vec<Submission>,
    /// Topics that were confirmed or seen, and are not gone.
    pub topics: BTreeMap<TopicId, TopicModel>,
    /// Topics that are gone for good.
    pub gone: BTreeSet<TopicId>,
    /// Every partition that was ever seen: its topic and its number there.
    pub owners: BTreeMap<PartitionId, (TopicId, usize)>,
    /// Partitions of topics that are not gone.
    pub partitions: BTreeMap<PartitionId, PartitionModel>,
    /// Names for which a topic may come into being, with how many requests.
    pub creating: BTreeMap<String, u64>,
    /// Producer ids that were given out.
    pub producer_ids: BTreeSet<ProducerId>,
    /// The life that is running.
    pub life: u64,
    /// Batches of this life that the oracle judges the order of, in the order of their sending.
    pub order: Vec<SubmissionId>,
    /// Batches that were answered before their sync; they outlive a kill, not a power cut.
    pub written: BTreeSet<SubmissionId>,
    /// Batches that were confirmed or seen.
    pub confirmed: u64,
    /// The wall clock, as it is at a check.
    pub now_ms: i64,
    /// Somebody set the wall clock: how old a record is nobody knows any more.
    pub clock_was_set: bool,
    /// Log starts that moved by themselves.
    pub expiries: ExpiriesJudged,
}

impl Model {
    /// A batch to send.
    pub fn submit(&mut self, submission: Submission) -> SubmissionId {
        let id = SubmissionId(u32::try_from(self.submissions.len()).unwrap_or(u32::MAX));
        self.submissions.push(submission);
        id
    }

    /// The number that the next submission gets, to be put into its records.
    #[must_use]
    pub fn next_submission(&self) -> SubmissionId {
        SubmissionId(u32::try_from(self.submissions.len()).unwrap_or(u32::MAX))
    }

    /// What is known of a submission.
    #[must_use]
    pub fn submission(&self, id: SubmissionId) -> Option<&Submission> {
        self.submissions.get(id.0 as usize)
    }

    pub(crate) fn submission_mut(&mut self, id: SubmissionId) -> Option<&mut Submission> {
        self.submissions.get_mut(id.0 as usize)
    }

    /// A synced reply named this place for a batch.
    ///
    /// # Errors
    /// When the place is another batch's, or the batch has another one.
    pub fn confirmed(&mut self, id: SubmissionId, base: i64) -> Result<(), Failure> {
        let partition = self.submission(id).map(|sent| sent.partition.0);
        tracing::trace!(?id, base, partition, "confirmed");
        self.place(id, base, None)
    }

    /// Notes where a batch is for good.
    pub(crate) fn place(
        &mut self,
        id: SubmissionId,
        base: i64,
        bytes: Option<bytes::Bytes>,
    ) -> Result<(), Failure> {
        let Some(submission) = self.submissions.get_mut(id.0 as usize) else {
            return Err(Failure(format!("no batch {id:?} was sent")));
        };
        let Some(partition) = self.partitions.get_mut(&submission.partition) else {
            return Ok(());
        };
        if let Some(placed) = submission.placed
            && placed != base
        {
            let trimmed = placed + i64::from(submission.count) <= partition.start;
            ensure!(trimmed, "batch {id:?} stands at {placed} and at {base}");
        }
        if submission.placed != Some(base) {
            self.confirmed += 1;
        }
        submission.placed = Some(base);
        partition.know(base, base + i64::from(submission.count), id, bytes)
    }

    /// A producer id was given out.
    ///
    /// # Errors
    /// When somebody had it before.
    pub fn producer_id(&mut self, id: ProducerId) -> Result<(), Failure> {
        ensure!(
            self.producer_ids.insert(id),
            "producer id {id} was given out twice"
        );
        Ok(())
    }

    /// A topic is gone.
    pub fn topic_gone(&mut self, id: TopicId) {
        self.gone.insert(id);
        if let Some(topic) = self.topics.remove(&id) {
            for partition in topic.partitions {
                self.partitions.remove(&partition);
            }
        }
    }

    /// What was under way when the last life ended, and was not seen after it, never will be.
    pub fn settled(&mut self) {
        self.creating.clear();
        self.order.clear();
        self.topics.values_mut().for_each(TopicModel::settled);
        for partition in self.partitions.values_mut() {
            partition.trim_asked = partition.start;
        }
    }

    /// Another life begins. `power_cut`: what was only written may be gone.
    pub fn next_life(&mut self, power_cut: bool) {
        self.life += 1;
        if power_cut {
            self.written.clear();
        }
    }
}

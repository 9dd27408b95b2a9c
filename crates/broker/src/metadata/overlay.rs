//! What is decided and not applied.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use types::TopicId;

use super::state::ids_folding_to;
use super::{MetadataEntry, TopicState};

/// Decided entries that are not applied, in the order of their decision. Entries leave in that
/// order, each when it is applied; when nothing more will be applied the overlay is dropped whole.
#[derive(Clone, Debug, Default)]
pub struct MetadataOverlay {
    /// What waits for each topic.
    topics: BTreeMap<TopicId, VecDeque<MetadataEntry>>,
    /// Topics that wait to be made, by vhost and name; the last one counts.
    names: BTreeMap<(String, String), VecDeque<TopicId>>,
    folded: BTreeSet<(String, TopicId)>,
    /// Numbers only grow, so what was decided stays right when it is applied.
    next_partition: u32,
    next_producer_id: i64,
    leader_epoch_base: i32,
}

impl MetadataOverlay {
    /// Takes a decided entry.
    pub fn push(&mut self, entry: MetadataEntry) {
        let id = match &entry {
            MetadataEntry::CreateTopic {
                id,
                name,
                vhost,
                partitions,
                ..
            } => {
                self.number_partitions(partitions);
                let name = (vhost.clone(), name.clone());
                self.names.entry(name).or_default().push_back(*id);
                let topic = TopicState::made_by(&entry);
                if let Some(folded) = topic.and_then(|topic| topic.folded_name()) {
                    self.folded.insert((folded, *id));
                }
                *id
            }
            MetadataEntry::AddPartitions { id, partitions } => {
                self.number_partitions(partitions);
                *id
            }
            MetadataEntry::DeleteTopic { id } | MetadataEntry::SetTopicConfigs { id, .. } => *id,
            MetadataEntry::ProducerIds { next } => {
                self.next_producer_id = self.next_producer_id.max(*next);
                return;
            }
            MetadataEntry::LeaderEpochBase { epoch } => {
                self.leader_epoch_base = self.leader_epoch_base.max(*epoch);
                return;
            }
        };
        self.topics.entry(id).or_default().push_back(entry);
    }

    /// Drops what an entry was to do: it is applied. Entries of a replay were never pushed.
    pub fn applied(&mut self, entry: &MetadataEntry) {
        let id = match entry {
            MetadataEntry::CreateTopic {
                id, name, vhost, ..
            } => {
                self.name_applied(*id, vhost, name);
                *id
            }
            MetadataEntry::DeleteTopic { id }
            | MetadataEntry::AddPartitions { id, .. }
            | MetadataEntry::SetTopicConfigs { id, .. } => *id,
            MetadataEntry::ProducerIds { .. } | MetadataEntry::LeaderEpochBase { .. } => return,
        };
        let Some(pending) = self.topics.get_mut(&id) else {
            return;
        };
        let first = pending.pop_front();
        debug_assert_eq!(
            first.as_ref(),
            Some(entry),
            "entries are applied as they were decided"
        );
        if pending.is_empty() {
            self.topics.remove(&id);
        }
    }

    fn name_applied(&mut self, id: TopicId, vhost: &str, name: &str) {
        if let Some(folded) = super::name::fold(name) {
            self.folded.remove(&(folded, id));
        }
        let key = (vhost.to_owned(), name.to_owned());
        let Some(ids) = self.names.get_mut(&key) else {
            return;
        };
        ids.retain(|made| *made != id);
        if ids.is_empty() {
            self.names.remove(&key);
        }
    }

    fn number_partitions(&mut self, partitions: &[types::PartitionId]) {
        let next = partitions.iter().map(|id| id.0.saturating_add(1)).max();
        self.next_partition = self.next_partition.max(next.unwrap_or_default());
    }

    /// Whether no topic waits for anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// What waits for a topic, in order.
    pub(super) fn pending(&self, id: TopicId) -> impl Iterator<Item = &MetadataEntry> {
        self.topics.get(&id).into_iter().flatten()
    }

    /// Whether a topic waits to be deleted.
    pub(super) fn is_deleted(&self, id: TopicId) -> bool {
        let last = self.topics.get(&id).and_then(VecDeque::back);
        matches!(last, Some(MetadataEntry::DeleteTopic { .. }))
    }

    /// The last topic that waits to be made under this name.
    pub(super) fn made(&self, vhost: &str, name: &str) -> Option<TopicId> {
        // A tuple of owned strings is the key, so asking costs two copies; decisions are rare.
        self.names
            .get(&(vhost.to_owned(), name.to_owned()))?
            .back()
            .copied()
    }

    pub(super) fn folding_to(&self, folded: &str) -> impl Iterator<Item = TopicId> {
        ids_folding_to(&self.folded, folded)
    }

    pub(super) const fn next_partition(&self) -> u32 {
        self.next_partition
    }

    pub(super) const fn next_producer_id(&self) -> i64 {
        self.next_producer_id
    }

    pub(super) const fn leader_epoch_base(&self) -> i32 {
        self.leader_epoch_base
    }
}

//! The applied metadata.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use types::{LeaderEpoch, PartitionId, TopicId};

use super::{MetadataEntry, NodeRow, TopicRow, TopicState, VHOST_DEFAULT};

/// The applied metadata. Entries that were applied before change nothing: a replay that begins
/// earlier than the rows it stands on ends in the same state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    topics: BTreeMap<TopicId, Arc<TopicState>>,
    names: BTreeMap<String, Names>,
    folded: BTreeSet<(String, TopicId)>,
    next_partition: u32,
    next_producer_id: i64,
    leader_epoch_base: i32,
}

/// The topics of one vhost.
type Names = BTreeMap<String, TopicId>;

impl Metadata {
    /// Carries out an entry. It looks at nothing but the state and the entry.
    pub fn apply(&mut self, entry: &MetadataEntry) {
        match entry {
            MetadataEntry::CreateTopic { .. } => {
                if let Some(topic) = TopicState::made_by(entry) {
                    self.add(topic);
                }
            }
            MetadataEntry::DeleteTopic { id } => self.remove(*id),
            MetadataEntry::AddPartitions { id, partitions } => {
                self.number_partitions(partitions);
                if let Some(topic) = self.topics.get_mut(id) {
                    Arc::make_mut(topic).add_partitions(partitions);
                }
            }
            MetadataEntry::SetTopicConfigs { id, set } => {
                if let Some(topic) = self.topics.get_mut(id) {
                    Arc::make_mut(topic).set_configs(set);
                }
            }
            MetadataEntry::ProducerIds { next } => {
                self.next_producer_id = self.next_producer_id.max(*next);
            }
            MetadataEntry::LeaderEpochBase { epoch } => {
                self.leader_epoch_base = self.leader_epoch_base.max(*epoch);
            }
        }
    }

    fn add(&mut self, topic: TopicState) {
        self.number_partitions(&topic.partitions);
        if self.topics.contains_key(&topic.id) {
            return;
        }
        let names = self.names.entry(topic.vhost.clone()).or_default();
        let holder = names.get(&topic.name).and_then(|id| self.topics.get(id));
        // Only a replay meets a name that is taken: the row of the topic that has the name now was
        // read before the entries of an earlier one, which will be deleted again.
        if holder.is_none_or(|holder| holder.partitions.first() < topic.partitions.first()) {
            names.insert(topic.name.clone(), topic.id);
        }
        if let Some(folded) = topic.folded_name() {
            self.folded.insert((folded, topic.id));
        }
        self.topics.insert(topic.id, Arc::new(topic));
    }

    fn remove(&mut self, id: TopicId) {
        let Some(topic) = self.topics.remove(&id) else {
            return;
        };
        if let Some(folded) = topic.folded_name() {
            self.folded.remove(&(folded, id));
        }
        let Some(names) = self.names.get_mut(&topic.vhost) else {
            return;
        };
        if names.get(&topic.name) == Some(&id) {
            names.remove(&topic.name);
        }
        if names.is_empty() {
            self.names.remove(&topic.vhost);
        }
    }

    fn number_partitions(&mut self, partitions: &[PartitionId]) {
        let next = partitions.iter().map(|id| id.0.saturating_add(1)).max();
        self.next_partition = self.next_partition.max(next.unwrap_or_default());
    }

    /// The topic with this id.
    #[must_use]
    pub fn topic(&self, id: TopicId) -> Option<&Arc<TopicState>> {
        self.topics.get(&id)
    }

    /// The topic of this name that Kafka sees.
    #[must_use]
    pub fn topic_by_name(&self, name: &str) -> Option<&Arc<TopicState>> {
        let id = self.names.get(VHOST_DEFAULT)?.get(name)?;
        self.topics.get(id)
    }

    /// The topics that Kafka sees, in the order of their names.
    pub fn topics_by_name(&self) -> impl Iterator<Item = &Arc<TopicState>> {
        let ids = self
            .names
            .get(VHOST_DEFAULT)
            .into_iter()
            .flat_map(BTreeMap::values);
        ids.filter_map(|id| self.topics.get(id))
    }

    /// The topics of all vhosts in the order of their ids, from behind `after`.
    pub fn topics_after(&self, after: Option<TopicId>) -> impl Iterator<Item = &Arc<TopicState>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.topics
            .range((from, Bound::Unbounded))
            .map(|(_, topic)| topic)
    }

    /// Topics whose names differ at most in '.' and '_' from those that fold to this.
    pub(super) fn folding_to(&self, folded: &str) -> impl Iterator<Item = TopicId> {
        ids_folding_to(&self.folded, folded)
    }

    /// How many topics there are.
    #[must_use]
    pub fn topic_count(&self) -> usize {
        self.topics.len()
    }

    /// The number that the next new partition gets.
    #[must_use]
    pub const fn next_partition(&self) -> PartitionId {
        PartitionId(self.next_partition)
    }

    /// The first producer id that is not set aside.
    #[must_use]
    pub const fn next_producer_id(&self) -> i64 {
        self.next_producer_id
    }

    /// The epoch of every partition's leader.
    #[must_use]
    pub const fn leader_epoch(&self) -> LeaderEpoch {
        LeaderEpoch(self.leader_epoch_base)
    }

    /// Takes a topic from a checkpoint's row.
    pub fn restore_topic(&mut self, row: TopicRow) {
        self.add(row.0);
    }

    /// Takes the numbers of the node from a checkpoint's row.
    pub fn restore_node(&mut self, row: &NodeRow) {
        self.next_partition = self.next_partition.max(row.next_partition);
        self.next_producer_id = self.next_producer_id.max(row.next_producer_id);
        self.leader_epoch_base = self.leader_epoch_base.max(row.leader_epoch_base);
    }
}

/// The ids that stand beside a folded name.
pub(super) fn ids_folding_to(
    set: &BTreeSet<(String, TopicId)>,
    folded: &str,
) -> impl Iterator<Item = TopicId> {
    let all = (folded.to_owned(), TopicId::ZERO)..=(folded.to_owned(), TopicId([0xff; 16]));
    set.range(all).map(|(_, id)| *id)
}

//! The metadata as decisions see it.

use std::borrow::Cow;

use types::{PartitionId, TopicId};

use super::{Metadata, MetadataEntry, MetadataOverlay, TopicRef, TopicState, VHOST_DEFAULT};

/// The metadata as decisions see it: what is decided over what is applied.
#[derive(Clone, Copy, Debug)]
pub struct MetadataView<'a> {
    state: &'a Metadata,
    overlay: &'a MetadataOverlay,
}

impl<'a> MetadataView<'a> {
    /// Decided over applied.
    #[must_use]
    pub const fn new(state: &'a Metadata, overlay: &'a MetadataOverlay) -> Self {
        Self { state, overlay }
    }

    /// The topic that has this name among those that Kafka sees.
    #[must_use]
    pub fn topic_id(self, name: &str) -> Option<TopicId> {
        let applied = || self.state.topic_by_name(name).map(|topic| topic.id);
        let id = self.overlay.made(VHOST_DEFAULT, name).or_else(applied)?;
        (!self.overlay.is_deleted(id)).then_some(id)
    }

    /// The topic with this id.
    #[must_use]
    pub fn topic(self, id: TopicId) -> Option<Cow<'a, TopicState>> {
        let mut topic = self
            .state
            .topic(id)
            .map(|topic| Cow::Borrowed(topic.as_ref()));
        for entry in self.overlay.pending(id) {
            match entry {
                MetadataEntry::CreateTopic { .. } => {
                    topic = TopicState::made_by(entry).map(Cow::Owned);
                }
                MetadataEntry::DeleteTopic { .. } => topic = None,
                MetadataEntry::AddPartitions { partitions, .. } => {
                    if let Some(topic) = &mut topic {
                        topic.to_mut().add_partitions(partitions);
                    }
                }
                MetadataEntry::SetTopicConfigs { set, .. } => {
                    if let Some(topic) = &mut topic {
                        topic.to_mut().set_configs(set);
                    }
                }
                MetadataEntry::ProducerIds { .. } | MetadataEntry::LeaderEpochBase { .. } => {}
            }
        }
        topic
    }

    /// The topic that is meant.
    #[must_use]
    pub fn find(self, topic: &TopicRef) -> Option<Cow<'a, TopicState>> {
        match topic {
            TopicRef::Name(name) => self.topic_id(name).and_then(|id| self.topic(id)),
            TopicRef::Id(id) => self.topic(*id),
        }
    }

    /// Another topic that differs from this name in nothing but '.' and '_'.
    pub(super) fn colliding(self, name: &str) -> Option<String> {
        let folded = super::name::fold(name)?;
        let ids = self
            .state
            .folding_to(&folded)
            .chain(self.overlay.folding_to(&folded));
        let topics = ids.filter_map(|id| self.topic(id));
        topics
            .filter(|topic| topic.vhost == VHOST_DEFAULT && topic.name != name)
            .map(|topic| topic.name.clone())
            .next()
    }

    /// The number that the next new partition gets.
    #[must_use]
    pub fn next_partition(self) -> PartitionId {
        PartitionId(
            self.state
                .next_partition()
                .0
                .max(self.overlay.next_partition()),
        )
    }

    /// The first producer id that is not set aside.
    #[must_use]
    pub fn next_producer_id(self) -> i64 {
        self.state
            .next_producer_id()
            .max(self.overlay.next_producer_id())
    }

    /// What the epoch of every partition's leader counts from.
    #[must_use]
    pub fn leader_epoch_base(self) -> i32 {
        self.state
            .leader_epoch()
            .0
            .max(self.overlay.leader_epoch_base())
    }
}

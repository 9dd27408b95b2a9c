//! What is known of a topic.

use std::collections::BTreeMap;

use types::PartitionId;

use super::Retention;

/// Settings that a request changes; `None` unsets.
pub type ConfigSet = BTreeMap<String, Option<String>>;

/// A change of settings that was asked for and may come into force.
#[derive(Clone, Debug)]
struct Change {
    request: u64,
    set: ConfigSet,
}

/// What is known of a topic.
#[derive(Clone, Debug)]
pub struct TopicModel {
    /// Its name.
    pub name: String,
    /// Its partitions, as many as were seen.
    pub partitions: Vec<PartitionId>,
    /// Its settings, as they were seen.
    pub configs: BTreeMap<String, String>,
    /// Changes under way, in order.
    changes: Vec<Change>,
    /// How many of them must be in force.
    changes_confirmed: usize,
    /// The largest number of partitions that was asked for.
    pub partitions_asked: usize,
    /// How many requests ask for its deletion.
    pub deleting: u64,
    /// Its records are answered once they are synced.
    pub sync: bool,
    /// Which records may leave it by themselves.
    pub retention: Retention,
}

impl TopicModel {
    /// A topic as it was seen first.
    #[must_use]
    pub fn new(name: String, configs: BTreeMap<String, String>) -> Self {
        let mut topic = Self {
            name,
            partitions: Vec::new(),
            configs: BTreeMap::new(),
            changes: Vec::new(),
            changes_confirmed: 0,
            partitions_asked: 0,
            deleting: 0,
            sync: true,
            retention: Retention::default(),
        };
        topic.see_configs(configs);
        topic
    }

    /// These settings are in force.
    pub fn see_configs(&mut self, configs: BTreeMap<String, String>) {
        self.sync = configs
            .get("durability")
            .is_none_or(|value| value != "async");
        self.retention.note(configs.iter());
        if self.configs != configs {
            // The fewest changes that lead there: those behind them may still be under way.
            let done = self
                .possible()
                .find(|done| self.after(*done) == configs)
                .unwrap_or(0);
            self.changes.drain(..done);
            self.changes_confirmed = self.changes_confirmed.saturating_sub(done);
        }
        self.configs = configs;
    }

    /// A change of settings was asked for.
    pub fn change(&mut self, request: u64, set: ConfigSet) {
        let values = set.iter();
        self.retention
            .note(values.filter_map(|(name, value)| Some((name, value.as_ref()?))));
        self.changes.push(Change { request, set });
    }

    /// A change of settings was confirmed, or refused.
    pub fn changed(&mut self, request: u64, confirmed: bool) {
        let Some(at) = self
            .changes
            .iter()
            .position(|change| change.request == request)
        else {
            return;
        };
        if confirmed {
            self.changes_confirmed = self.changes_confirmed.max(at + 1);
        } else {
            self.changes.remove(at);
        }
    }

    /// Whether these settings may be in force.
    #[must_use]
    pub fn may_have(&self, configs: &BTreeMap<String, String>) -> bool {
        self.possible().any(|done| self.after(done) == *configs)
    }

    fn possible(&self) -> std::ops::RangeInclusive<usize> {
        self.changes_confirmed..=self.changes.len()
    }

    /// Settings after the first `done` changes.
    fn after(&self, done: usize) -> BTreeMap<String, String> {
        let mut configs = self.configs.clone();
        for change in self.changes.iter().take(done) {
            for (name, value) in &change.set {
                match value {
                    Some(value) => configs.insert(name.clone(), value.clone()),
                    None => configs.remove(name),
                };
            }
        }
        configs
    }

    /// A recovery showed what came of the last life: nothing of it is under way any more.
    pub fn settled(&mut self) {
        self.changes.clear();
        self.changes_confirmed = 0;
        self.deleting = 0;
        self.partitions_asked = self.partitions.len();
    }
}

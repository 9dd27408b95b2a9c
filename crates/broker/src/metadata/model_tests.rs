//! Random histories against the plainest model there is: a list of topics, and everything applied
//! at once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use types::{PartitionId, TopicId};

use super::*;
use crate::topic_config::BrokerDefaults;

const NAMES: [&str; 6] = ["a.b", "a_b", "a-b", "x", "x.y_z", "x_y.z"];
const SETTINGS: [&str; 3] = ["retention.ms", "segment.ms", "flush.ms"];

#[derive(Clone, Debug)]
enum Step {
    Create {
        name: usize,
        partitions: i32,
        setting: Option<usize>,
    },
    Delete {
        name: usize,
    },
    Grow {
        name: usize,
        by: i32,
    },
    Set {
        name: usize,
        setting: usize,
        value: Option<u8>,
    },
    Replace {
        name: usize,
        setting: usize,
        value: u8,
    },
    ProducerIds {
        count: i64,
    },
    LeaderEpoch,
    Apply {
        count: usize,
    },
    Poison,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let setting = 0..SETTINGS.len();
    let step = prop_oneof![
        4 => (name.clone(), 1..4_i32, prop::option::of(setting.clone()))
            .prop_map(|(name, partitions, setting)| Step::Create { name, partitions, setting }),
        3 => name.clone().prop_map(|name| Step::Delete { name }),
        2 => (name.clone(), -1..3_i32).prop_map(|(name, by)| Step::Grow { name, by }),
        2 => (name.clone(), setting.clone(), prop::option::of(any::<u8>()))
            .prop_map(|(name, setting, value)| Step::Set { name, setting, value }),
        1 => (name, setting, any::<u8>())
            .prop_map(|(name, setting, value)| Step::Replace { name, setting, value }),
        1 => (0..50_i64).prop_map(|count| Step::ProducerIds { count }),
        1 => Just(Step::LeaderEpoch),
        4 => (1..6_usize).prop_map(|count| Step::Apply { count }),
        1 => Just(Step::Poison),
    ];
    prop::collection::vec(step, 1..80)
}

/// What a topic is to the model.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    id: TopicId,
    name: &'static str,
    partitions: Vec<u32>,
    configs: BTreeMap<String, String>,
}

/// Everything decided so far, as if it were applied.
#[derive(Clone, Debug, Default)]
struct Model {
    topics: Vec<Plain>,
    next_partition: u32,
    next_producer_id: i64,
    leader_epoch: i32,
}

impl Model {
    fn find(&mut self, name: &str) -> Option<&mut Plain> {
        self.topics.iter_mut().find(|topic| topic.name == name)
    }

    fn new_partitions(&mut self, count: i32) -> Vec<u32> {
        let first = self.next_partition;
        self.next_partition += u32::try_from(count).unwrap();
        (first..self.next_partition).collect()
    }

    fn check(&self, view: MetadataView<'_>) {
        for name in NAMES {
            let expected = self.topics.iter().find(|topic| topic.name == name);
            let found = view.topic_id(name).and_then(|id| view.topic(id));
            assert_eq!(found.is_some(), expected.is_some(), "{name}");
            if let (Some(found), Some(expected)) = (found, expected) {
                let partitions = found.partitions.iter().map(|id| id.0).collect();
                let (id, configs) = (found.id, found.configs.clone());
                assert_eq!(
                    Plain {
                        id,
                        name,
                        partitions,
                        configs
                    },
                    *expected
                );
            }
        }
        assert_eq!(view.next_partition(), PartitionId(self.next_partition));
        assert_eq!(view.next_producer_id(), self.next_producer_id);
        assert_eq!(view.leader_epoch_base(), self.leader_epoch);
    }
}

/// The real thing: a log of entries, of which the first are applied.
#[derive(Default)]
struct Real {
    state: Metadata,
    overlay: MetadataOverlay,
    log: Vec<MetadataEntry>,
    applied: usize,
    ids: u128,
}

impl Real {
    fn view(&self) -> MetadataView<'_> {
        MetadataView::new(&self.state, &self.overlay)
    }

    fn decide(&mut self, entry: MetadataEntry) {
        // What goes through the log comes back as it was.
        assert_eq!(MetadataEntry::decode(&entry.encode()), Ok(entry.clone()));
        self.overlay.push(entry.clone());
        self.log.push(entry);
    }

    fn apply(&mut self, count: usize) {
        for entry in self.log[self.applied..].iter().take(count) {
            self.overlay.applied(entry);
            self.state.apply(entry);
            self.applied += 1;
        }
        assert!(self.applied < self.log.len() || self.overlay.is_empty());
    }

    fn next_id(&mut self) -> TopicId {
        // Ids in no order, as random ones are.
        self.ids += 1;
        TopicId(
            self.ids
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
                .to_le_bytes(),
        )
    }
}

fn named(name: usize) -> TopicRef {
    TopicRef::Name(NAMES[name].to_owned())
}

#[derive(Default)]
struct Both {
    real: Real,
    model: Model,
    /// The model as of each entry of the log.
    history: Vec<Model>,
}

impl Both {
    fn run(&mut self, step: &Step) {
        match *step {
            Step::Create {
                name,
                partitions,
                setting,
            } => self.create(name, partitions, setting),
            Step::Delete { name } => self.delete(name),
            Step::Grow { name, by } => self.grow(name, by),
            Step::Set {
                name,
                setting,
                value,
            } => self.set(name, setting, value),
            Step::Replace {
                name,
                setting,
                value,
            } => self.replace(name, setting, value),
            Step::ProducerIds { count } => {
                let (ids, entry) = decide_producer_ids(self.real.view(), count);
                assert_eq!(
                    ids,
                    self.model.next_producer_id..self.model.next_producer_id + count
                );
                self.model.next_producer_id += count;
                self.decided(entry);
            }
            Step::LeaderEpoch => {
                let entry = decide_leader_epoch(self.real.view());
                self.model.leader_epoch += 1;
                self.decided(entry);
            }
            Step::Apply { count } => self.real.apply(count),
            Step::Poison => {
                self.real.overlay = MetadataOverlay::default();
                self.real.log.truncate(self.real.applied);
                self.history.truncate(self.real.applied);
                self.model = self.history.last().cloned().unwrap_or_default();
            }
        }
        self.model.check(self.real.view());
    }

    fn decided(&mut self, entry: MetadataEntry) {
        self.real.decide(entry);
        self.history.push(self.model.clone());
    }

    fn create(&mut self, name: usize, partitions: i32, setting: Option<usize>) {
        let name = NAMES[name];
        let configs: Vec<_> = setting
            .map(|s| (SETTINGS[s].to_owned(), Some("77".to_owned())))
            .into_iter()
            .collect();
        let request = CreateTopicRequest {
            partitions,
            configs,
            ..CreateTopicRequest::with_defaults(name)
        };
        let id = self.real.next_id();
        let context = CreateContext {
            id,
            now_ms: 5,
            node_id: 1,
            default_partitions: 1,
        };
        let decided = decide_create_topic(self.real.view(), &request, &context);
        let fold = |name: &str| name.replace('.', "_");
        if self.model.find(name).is_some() {
            assert!(
                matches!(decided, Err(CreateTopicError::Exists { .. })),
                "{decided:?}"
            );
        } else if self.model.topics.iter().any(|t| fold(t.name) == fold(name)) {
            assert!(
                matches!(decided, Err(CreateTopicError::Collision { .. })),
                "{decided:?}"
            );
        } else {
            let partitions = self.model.new_partitions(partitions);
            let configs = setting.map(|s| (SETTINGS[s].to_owned(), "77".to_owned()));
            let configs = configs.into_iter().collect();
            self.model.topics.push(Plain {
                id,
                name,
                partitions,
                configs,
            });
            self.decided(decided.unwrap().entry);
        }
    }

    fn delete(&mut self, name: usize) {
        let decided = decide_delete_topic(self.real.view(), &named(name));
        let before = self.model.topics.len();
        self.model.topics.retain(|topic| topic.name != NAMES[name]);
        assert_eq!(decided.is_ok(), self.model.topics.len() < before);
        if let Ok(entry) = decided {
            self.decided(entry);
        }
    }

    fn grow(&mut self, name: usize, by: i32) {
        let current = self
            .model
            .find(NAMES[name])
            .map(|t| i32::try_from(t.partitions.len()).unwrap());
        let count = current.unwrap_or(1) + by;
        let request = CreatePartitionsRequest {
            topic: named(name),
            count,
            assignments: None,
        };
        let decided = decide_create_partitions(self.real.view(), &request, 1);
        assert_eq!(decided.is_ok(), current.is_some() && by > 0);
        if let Ok(entry) = decided {
            let new = self.model.new_partitions(by);
            self.model.find(NAMES[name]).unwrap().partitions.extend(new);
            self.decided(entry);
        }
    }

    fn alter(&mut self, name: usize, change: ConfigChange) -> bool {
        let request = AlterConfigRequest {
            topic: named(name),
            change,
        };
        let decided = decide_alter_config(self.real.view(), &request, &BrokerDefaults::default());
        assert_eq!(decided.is_ok(), self.model.find(NAMES[name]).is_some());
        decided
            .map(|decision| self.real.decide(decision.entry))
            .is_ok()
    }

    fn set(&mut self, name: usize, setting: usize, value: Option<u8>) {
        let value = value.map(|value| (u32::from(value) + 1).to_string());
        let op = if value.is_some() {
            AlterOp::Set
        } else {
            AlterOp::Delete
        };
        let setting = SETTINGS[setting].to_owned();
        let ops = vec![ConfigOp {
            name: setting.clone(),
            op,
            value: value.clone(),
        }];
        if self.alter(name, ConfigChange::Incremental(ops)) {
            let configs = &mut self.model.find(NAMES[name]).unwrap().configs;
            match value {
                Some(value) => configs.insert(setting, value),
                None => configs.remove(&setting),
            };
            self.history.push(self.model.clone());
        }
    }

    fn replace(&mut self, name: usize, setting: usize, value: u8) {
        let value = (u32::from(value) + 1).to_string();
        let setting = SETTINGS[setting].to_owned();
        let all = vec![(setting.clone(), Some(value.clone()))];
        if self.alter(name, ConfigChange::Replace(all)) {
            let configs = &mut self.model.find(NAMES[name]).unwrap().configs;
            *configs = BTreeMap::from([(setting, value)]);
            self.history.push(self.model.clone());
        }
    }
}

/// The state of the first `count` entries.
fn applied(log: &[MetadataEntry], count: usize) -> Metadata {
    let mut state = Metadata::default();
    log[..count].iter().for_each(|entry| state.apply(entry));
    state
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn decisions_see_what_is_decided_as_if_it_were_applied(steps in steps()) {
        let mut both = Both::default();
        for step in &steps {
            both.run(step);
        }
        both.real.apply(usize::MAX);
        both.model.check(both.real.view());
        prop_assert_eq!(&both.real.state, &applied(&both.real.log, both.real.log.len()));
    }

    #[test]
    fn rows_and_a_replay_that_begins_before_them_end_in_the_same_state(
        steps in steps(),
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
    ) {
        let mut both = Both::default();
        for step in &steps {
            both.run(step);
        }
        let log = both.real.log;
        let at = at.index(log.len() + 1);
        let from = from.index(at + 1);
        let standing = applied(&log, at);
        let mut restored = Metadata::default();
        for topic in standing.topics_after(None) {
            let row = TopicRow::of(topic);
            let read = TopicRow::decode(&row.encode());
            prop_assert_eq!(read.as_ref(), Some(&row));
            restored.restore_topic(row);
        }
        let node = NodeRow::of(&standing, 3, 4);
        prop_assert_eq!(NodeRow::decode(&node.encode()), Some(node));
        restored.restore_node(&node);
        prop_assert_eq!(&restored, &standing);
        log[from..].iter().for_each(|entry| restored.apply(entry));
        prop_assert_eq!(restored, applied(&log, log.len()));
    }

    #[test]
    fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let entry = MetadataEntry::decode(&bytes);
        if let Ok(entry) = entry {
            // What is read means what its own bytes say, though numbers have longer forms.
            prop_assert_eq!(MetadataEntry::decode(&entry.encode()), Ok(entry));
        }
        let mut versioned = vec![1];
        versioned.extend(&bytes);
        for bytes in [&bytes, &versioned] {
            if let Ok(entry) = MetadataEntry::decode(bytes) {
                Metadata::default().apply(&entry);
            }
            if let Some(row) = TopicRow::decode(bytes) {
                Metadata::default().restore_topic(row);
            }
            if let Some(row) = NodeRow::decode(bytes) {
                Metadata::default().restore_node(&row);
            }
        }
    }
}

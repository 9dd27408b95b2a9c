use std::collections::BTreeMap;

use types::limits::{PARTITIONS_MAX, TOPIC_PARTITIONS_MAX};
use types::{ErrorKind, LeaderEpoch, PartitionId, TopicId};

use super::*;
use crate::topic_config::{BrokerDefaults, ConfigError};

const NODE: i32 = 7;

fn id(number: u8) -> TopicId {
    TopicId([number; 16])
}

fn context(number: u8) -> CreateContext {
    CreateContext {
        id: id(number),
        now_ms: 1_000,
        node_id: NODE,
        default_partitions: 3,
    }
}

fn numbers(range: std::ops::Range<u32>) -> Vec<PartitionId> {
    range.map(PartitionId).collect()
}

/// Metadata with what is pending.
#[derive(Default)]
struct Node {
    state: Metadata,
    overlay: MetadataOverlay,
}

impl Node {
    fn view(&self) -> MetadataView<'_> {
        MetadataView::new(&self.state, &self.overlay)
    }

    fn apply(&mut self, entry: &MetadataEntry) {
        self.overlay.applied(entry);
        self.state.apply(entry);
    }

    fn create(
        &mut self,
        number: u8,
        request: &CreateTopicRequest,
    ) -> Result<MetadataEntry, CreateTopicError> {
        let decision = decide_create_topic(self.view(), request, &context(number))?;
        self.overlay.push(decision.entry.clone());
        Ok(decision.entry)
    }

    fn create_named(&mut self, number: u8, name: &str) -> Result<MetadataEntry, CreateTopicError> {
        self.create(number, &CreateTopicRequest::with_defaults(name))
    }

    fn with_topic(number: u8, name: &str) -> Self {
        let mut node = Self::default();
        let entry = node.create_named(number, name).unwrap();
        node.apply(&entry);
        node
    }
}

fn by_name(name: &str) -> TopicRef {
    TopicRef::Name(name.to_owned())
}

fn alter(change: ConfigChange) -> AlterConfigRequest {
    AlterConfigRequest {
        topic: by_name("orders"),
        change,
    }
}

fn op(name: &str, op: AlterOp, value: Option<&str>) -> ConfigOp {
    ConfigOp {
        name: name.to_owned(),
        op,
        value: value.map(str::to_owned),
    }
}

fn set_of(decision: Decision) -> BTreeMap<String, Option<String>> {
    match decision.entry {
        MetadataEntry::SetTopicConfigs { set, .. } => set,
        other => panic!("not a change of settings: {other:?}"),
    }
}

#[test]
fn a_topic_gets_the_defaults_and_new_numbers() {
    let mut node = Node::default();
    let entry = node.create_named(1, "orders").unwrap();
    assert_eq!(
        entry,
        MetadataEntry::CreateTopic {
            id: id(1),
            name: "orders".to_owned(),
            vhost: "/".to_owned(),
            partitions: numbers(0..3),
            configs: BTreeMap::new(),
            created_ms: 1_000,
        }
    );
    node.apply(&entry);
    let topic = node.state.topic_by_name("orders").unwrap();
    assert_eq!(topic.partitions, numbers(0..3));
    assert_eq!(node.state.next_partition(), PartitionId(3));
    assert!(node.overlay.is_empty());
}

#[test]
fn a_decided_name_is_taken_before_it_is_applied() {
    let mut node = Node::default();
    node.create_named(1, "orders").unwrap();
    let error = node.create_named(2, "orders").unwrap_err();
    assert_eq!(
        error,
        CreateTopicError::Exists {
            name: "orders".to_owned(),
            id: id(1)
        }
    );
    let other = node.create_named(3, "other").unwrap();
    assert!(matches!(
        other,
        MetadataEntry::CreateTopic { partitions, .. } if partitions == numbers(3..6)
    ));
}

#[test]
fn a_name_is_free_once_its_deletion_is_decided() {
    let mut node = Node::with_topic(1, "orders");
    let delete = decide_delete_topic(node.view(), &by_name("orders")).unwrap();
    node.overlay.push(delete.clone());
    let gone = decide_delete_topic(node.view(), &TopicRef::Id(id(1))).unwrap_err();
    assert_eq!(gone, DeleteTopicError::Unknown(TopicRef::Id(id(1))));
    let again = node.create_named(2, "orders").unwrap();
    node.apply(&delete);
    assert_eq!(node.view().topic_id("orders"), Some(id(2)));
    node.apply(&again);
    assert_eq!(
        node.state.topic_by_name("orders").map(|topic| topic.id),
        Some(id(2))
    );
    assert_eq!(node.state.topic(id(2)).unwrap().partitions, numbers(3..6));
}

#[test]
fn dropping_the_overlay_takes_back_what_was_only_decided() {
    let mut node = Node::with_topic(1, "orders");
    let delete = decide_delete_topic(node.view(), &by_name("orders")).unwrap();
    node.overlay.push(delete);
    node.create_named(2, "other").unwrap();
    node.overlay = MetadataOverlay::default();
    assert_eq!(node.view().topic_id("orders"), Some(id(1)));
    assert_eq!(node.view().topic_id("other"), None);
    assert_eq!(node.view().next_partition(), PartitionId(3));
}

#[test]
fn names_that_no_topic_can_have_are_refused() {
    let mut node = Node::default();
    let mut refused = |name: &str| node.create_named(1, name).unwrap_err();
    assert_eq!(refused(""), CreateTopicError::Name(NameError::Empty));
    assert_eq!(refused("."), CreateTopicError::Name(NameError::Dots(".")));
    assert_eq!(refused(".."), CreateTopicError::Name(NameError::Dots("..")));
    let long = refused(&"n".repeat(250));
    assert_eq!(
        long,
        CreateTopicError::Name(NameError::TooLong { bytes: 250 })
    );
    for name in ["a b", "ä", "a/b", "a\0", "a:b"] {
        let error = refused(name);
        assert!(
            matches!(error, CreateTopicError::Name(NameError::Characters { .. })),
            "{name}"
        );
    }
    let reserved = refused("__cluster_metadata");
    assert!(matches!(reserved, CreateTopicError::Reserved { .. }));
    assert_eq!(reserved.kind(), ErrorKind::Denied);
    for name in [
        &"n".repeat(249),
        "...",
        "-",
        "A.b_c-9",
        "__consumer_offsets",
    ] {
        assert!(node.create_named(2, name).is_ok(), "{name}");
    }
}

#[test]
fn names_that_differ_in_dots_and_underscores_alone_collide() {
    let mut node = Node::with_topic(1, "a.b");
    let error = node.create_named(2, "a_b").unwrap_err();
    let (name, existing) = ("a_b".to_owned(), "a.b".to_owned());
    assert_eq!(error, CreateTopicError::Collision { name, existing });
    node.create_named(3, "c_d.e").unwrap();
    assert!(matches!(
        node.create_named(4, "c.d_e"),
        Err(CreateTopicError::Collision { .. })
    ));
    assert!(node.create_named(5, "ab").is_ok());
    let delete = decide_delete_topic(node.view(), &by_name("a.b")).unwrap();
    node.overlay.push(delete);
    assert!(node.create_named(6, "a_b").is_ok());
}

#[test]
fn the_brokers_own_topics_are_told_by_name() {
    assert!(is_internal("__consumer_offsets"));
    assert!(is_internal("__transaction_state"));
    assert!(is_internal("__share_group_state"));
    assert!(!is_internal("orders"));
    assert!(!is_internal("__cluster_metadata"));
}

#[test]
fn counts_out_of_range_are_refused() {
    let mut node = Node::default();
    let mut with = |partitions, replication_factor| {
        let request = CreateTopicRequest {
            partitions,
            replication_factor,
            ..CreateTopicRequest::with_defaults("orders")
        };
        node.create(1, &request)
    };
    for partitions in [0, -2, i32::MIN, TOPIC_PARTITIONS_MAX + 1, i32::MAX] {
        assert_eq!(
            with(partitions, 1),
            Err(CreateTopicError::Partitions { partitions })
        );
    }
    for factor in [0, 2, -2, i16::MAX] {
        assert_eq!(
            with(1, factor),
            Err(CreateTopicError::ReplicationFactor { factor })
        );
    }
    assert!(with(TOPIC_PARTITIONS_MAX, 1).is_ok());
}

#[test]
fn partitions_placed_by_hand_must_be_on_this_node_and_without_gaps() {
    let assigned = |placed: &[(i32, &[i32])], partitions, replication_factor| {
        let assignments = placed
            .iter()
            .map(|(partition, nodes)| PartitionAssignment {
                partition: *partition,
                nodes: nodes.to_vec(),
            })
            .collect();
        let request = CreateTopicRequest {
            name: "orders".to_owned(),
            partitions,
            replication_factor,
            assignments,
            configs: Vec::new(),
        };
        Node::default().create(1, &request)
    };
    let entry = assigned(&[(1, &[NODE]), (0, &[NODE])], -1, -1).unwrap();
    assert!(matches!(
        entry,
        MetadataEntry::CreateTopic { partitions, .. } if partitions == numbers(0..2)
    ));
    assert_eq!(
        assigned(&[(0, &[NODE])], 1, -1),
        Err(CreateTopicError::AssignmentAndCounts)
    );
    assert_eq!(
        assigned(&[(0, &[NODE])], -1, 1),
        Err(CreateTopicError::AssignmentAndCounts)
    );
    let error = |placed| match assigned(placed, -1, -1) {
        Err(CreateTopicError::Assignment(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        error(&[(0, &[NODE]), (0, &[NODE])]),
        AssignmentError::Twice(0)
    );
    let missing = AssignmentError::Missing {
        first: 0,
        last: 1,
        missing: 1,
    };
    assert_eq!(error(&[(0, &[NODE]), (2, &[NODE])]), missing);
    let elsewhere = AssignmentError::Nodes {
        partition: 0,
        node: NODE,
    };
    assert_eq!(error(&[(0, &[1])]), elsewhere);
    assert_eq!(error(&[(0, &[NODE, 1])]), elsewhere);
    assert_eq!(error(&[(0, &[])]), elsewhere);
}

#[test]
fn settings_are_checked_and_the_last_of_several_values_counts() {
    let mut node = Node::default();
    let with = |configs: &[(&str, Option<&str>)]| {
        let owned =
            |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), value.map(str::to_owned));
        let request = CreateTopicRequest {
            configs: configs.iter().map(owned).collect(),
            ..CreateTopicRequest::with_defaults("orders")
        };
        decide_create_topic(node.view(), &request, &context(1))
    };
    let error = with(&[("retention.ms", Some("never"))]).unwrap_err();
    assert!(matches!(
        &error,
        CreateTopicError::Config(ConfigError::Value { .. })
    ));
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let null = with(&[("retention.ms", None)]).unwrap_err();
    assert_eq!(
        null,
        CreateTopicError::Config(ConfigError::Null {
            name: "retention.ms"
        })
    );
    let decision = with(&[
        ("retention.ms", Some("1")),
        ("message.format.version", Some("2.8")),
        ("retention.ms", Some("2")),
    ])
    .unwrap();
    assert_eq!(decision.warnings.len(), 1);
    node.apply(&decision.entry);
    let topic = node.state.topic_by_name("orders").unwrap();
    assert_eq!(
        topic.configs.get("retention.ms").map(String::as_str),
        Some("2")
    );
}

#[test]
fn partitions_only_become_more() {
    let mut node = Node::with_topic(1, "orders");
    let ask = |node: &Node, count, assignments: Option<Vec<Vec<i32>>>| {
        let request = CreatePartitionsRequest {
            topic: by_name("orders"),
            count,
            assignments,
        };
        decide_create_partitions(node.view(), &request, NODE)
    };
    for count in [3, 2, 0, -1] {
        let error = CreatePartitionsError::NotMore { current: 3, count };
        assert_eq!(ask(&node, count, None), Err(error));
    }
    let count = TOPIC_PARTITIONS_MAX + 1;
    assert_eq!(
        ask(&node, count, None),
        Err(CreatePartitionsError::TooMany { count })
    );
    let entry = ask(&node, 5, Some(vec![vec![NODE], vec![NODE]])).unwrap();
    assert_eq!(
        entry,
        MetadataEntry::AddPartitions {
            id: id(1),
            partitions: numbers(3..5)
        }
    );
    let too_few = AssignmentError::Count {
        assigned: 1,
        wanted: 2,
    };
    assert_eq!(ask(&node, 5, Some(vec![vec![NODE]])), Err(too_few.into()));
    let elsewhere = AssignmentError::Nodes {
        partition: 4,
        node: NODE,
    };
    assert_eq!(
        ask(&node, 5, Some(vec![vec![NODE], vec![1]])),
        Err(elsewhere.into())
    );
    // What is decided counts, before and after it is applied.
    node.overlay.push(entry.clone());
    let error = CreatePartitionsError::NotMore {
        current: 5,
        count: 5,
    };
    assert_eq!(ask(&node, 5, None), Err(error.clone()));
    node.apply(&entry);
    assert_eq!(ask(&node, 5, None), Err(error));
    assert_eq!(node.state.topic(id(1)).unwrap().partitions, numbers(0..5));
    let unknown = CreatePartitionsRequest {
        topic: by_name("none"),
        count: 9,
        assignments: None,
    };
    let error = decide_create_partitions(node.view(), &unknown, NODE).unwrap_err();
    assert_eq!(error, CreatePartitionsError::Unknown(by_name("none")));
}

#[test]
fn the_nodes_numbers_for_partitions_end() {
    let mut node = Node::default();
    let last = NodeRow {
        next_partition: PARTITIONS_MAX - 2,
        ..NodeRow::default()
    };
    node.state.restore_node(&last);
    let error = node.create_named(1, "orders").unwrap_err();
    assert_eq!(error, CreateTopicError::OutOfPartitions { partitions: 3 });
    assert_eq!(error.kind(), ErrorKind::Full);
    let two = CreateTopicRequest {
        partitions: 2,
        ..CreateTopicRequest::with_defaults("orders")
    };
    assert!(node.create(1, &two).is_ok());
    let more = CreatePartitionsRequest {
        topic: by_name("orders"),
        count: 3,
        assignments: None,
    };
    let error = decide_create_partitions(node.view(), &more, NODE).unwrap_err();
    assert_eq!(
        error,
        CreatePartitionsError::OutOfPartitions { partitions: 1 }
    );
}

#[test]
fn an_incremental_change_touches_what_it_names() {
    let node = Node::with_topic(1, "orders");
    let decide = |ops: Vec<ConfigOp>| {
        let request = alter(ConfigChange::Incremental(ops));
        decide_alter_config(node.view(), &request, &BrokerDefaults::default())
    };
    let set = set_of(
        decide(vec![
            op("retention.ms", AlterOp::Set, Some(" 5 ")),
            op("segment.ms", AlterOp::Delete, None),
            op("cleanup.policy", AlterOp::Append, Some("delete")),
        ])
        .unwrap(),
    );
    let expected = [
        ("retention.ms", Some("5")),
        ("cleanup.policy", Some("delete")),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    assert_eq!(set, BTreeMap::from(expected));
    let unset = vec![op("retention.mss", AlterOp::Delete, None)];
    assert_eq!(set_of(decide(unset).unwrap()), BTreeMap::new());
    let twice = vec![
        op("retention.ms", AlterOp::Set, Some("1")),
        op("retention.ms", AlterOp::Delete, None),
    ];
    assert_eq!(
        decide(twice),
        Err(AlterConfigError::Twice("retention.ms".to_owned()))
    );
    let null = vec![op("retention.ms", AlterOp::Set, None)];
    assert_eq!(
        decide(null),
        Err(AlterConfigError::Null("retention.ms".to_owned()))
    );
    let number = vec![op("retention.ms", AlterOp::Append, Some("1"))];
    assert_eq!(
        decide(number),
        Err(AlterConfigError::NotAList("retention.ms"))
    );
    for ops in [
        vec![op("retention.mss", AlterOp::Set, Some("1"))],
        vec![op("retention.mss", AlterOp::Subtract, Some("1"))],
    ] {
        let error = decide(ops).unwrap_err();
        assert!(matches!(
            error,
            AlterConfigError::Config(ConfigError::Unknown { .. })
        ));
    }
    for ops in [
        vec![op("cleanup.policy", AlterOp::Append, Some("compact"))],
        vec![op("cleanup.policy", AlterOp::Subtract, Some("delete"))],
    ] {
        let error = decide(ops).unwrap_err();
        assert!(matches!(
            error,
            AlterConfigError::Config(ConfigError::Unsupported { .. })
        ));
    }
    assert_eq!(AlterOp::from_number(3), Some(AlterOp::Subtract));
    assert_eq!(AlterOp::from_number(4), None);
}

#[test]
fn a_full_change_takes_away_what_it_does_not_name() {
    let mut node = Node::with_topic(1, "orders");
    let defaults = BrokerDefaults::default();
    let first = alter(ConfigChange::Incremental(vec![
        op("retention.ms", AlterOp::Set, Some("5")),
        op("segment.ms", AlterOp::Set, Some("6")),
    ]));
    let entry = decide_alter_config(node.view(), &first, &defaults)
        .unwrap()
        .entry;
    node.overlay.push(entry);
    let value = |text: &str| Some(text.to_owned());
    let full = alter(ConfigChange::Replace(vec![(
        "segment.ms".to_owned(),
        value("7"),
    )]));
    let entry = decide_alter_config(node.view(), &full, &defaults)
        .unwrap()
        .entry;
    node.overlay.push(entry);
    let topic = node.view().topic(id(1)).unwrap();
    let expected = BTreeMap::from([("segment.ms".to_owned(), "7".to_owned())]);
    assert_eq!(topic.configs, expected);
    let null = alter(ConfigChange::Replace(vec![("segment.ms".to_owned(), None)]));
    let error = decide_alter_config(node.view(), &null, &defaults).unwrap_err();
    assert_eq!(error, AlterConfigError::Null("segment.ms".to_owned()));
}

#[test]
fn a_setting_that_nobody_knows_any_more_can_be_taken_away() {
    let mut node = Node::with_topic(1, "orders");
    let set = BTreeMap::from([("of.the.future".to_owned(), Some("1".to_owned()))]);
    node.state
        .apply(&MetadataEntry::SetTopicConfigs { id: id(1), set });
    let request = alter(ConfigChange::Incremental(vec![op(
        "of.the.future",
        AlterOp::Delete,
        None,
    )]));
    let decision = decide_alter_config(node.view(), &request, &BrokerDefaults::default()).unwrap();
    node.state.apply(&decision.entry);
    assert!(node.state.topic(id(1)).unwrap().configs.is_empty());
}

#[test]
fn producer_ids_are_set_aside_once() {
    let mut node = Node::default();
    let (first, entry) = decide_producer_ids(node.view(), 1_000);
    assert_eq!(first, 0..1_000);
    node.overlay.push(entry.clone());
    let (second, _) = decide_producer_ids(node.view(), 10);
    assert_eq!(second, 1_000..1_010);
    node.apply(&entry);
    assert_eq!(node.state.next_producer_id(), 1_000);
    let row = NodeRow {
        next_producer_id: i64::MAX,
        ..NodeRow::default()
    };
    node.state.restore_node(&row);
    assert!(decide_producer_ids(node.view(), 10).0.is_empty());
}

#[test]
fn the_leader_epoch_moves_by_one() {
    let mut node = Node::default();
    assert_eq!(node.state.leader_epoch(), LeaderEpoch(0));
    let entry = decide_leader_epoch(node.view());
    node.overlay.push(entry.clone());
    assert_eq!(
        decide_leader_epoch(node.view()),
        MetadataEntry::LeaderEpochBase { epoch: 2 }
    );
    node.apply(&entry);
    assert_eq!(node.state.leader_epoch(), LeaderEpoch(1));
}

#[test]
fn topics_are_listed_by_name_and_by_id() {
    let mut node = Node::default();
    for (number, name) in [(3, "b"), (1, "c"), (2, "a")] {
        let entry = node.create_named(number, name).unwrap();
        node.apply(&entry);
    }
    let names: Vec<_> = node
        .state
        .topics_by_name()
        .map(|topic| topic.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let ids = |after| {
        node.state
            .topics_after(after)
            .map(|topic| topic.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(None), [id(1), id(2), id(3)]);
    assert_eq!(ids(Some(id(1))), [id(2), id(3)]);
    assert_eq!(node.state.topic_count(), 3);
}

#[test]
fn entries_for_unknown_topics_change_nothing() {
    let mut node = Node::with_topic(1, "orders");
    let before = node.state.clone();
    node.state.apply(&MetadataEntry::DeleteTopic { id: id(9) });
    let set = BTreeMap::from([("retention.ms".to_owned(), None)]);
    node.state
        .apply(&MetadataEntry::SetTopicConfigs { id: id(9), set });
    node.state.apply(&MetadataEntry::AddPartitions {
        id: id(9),
        partitions: numbers(0..1),
    });
    assert_eq!(node.state, before);
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The examples of docs/formats/metadata-entry.md: bytes of version 1 are read and written so for
/// ever.
fn golden_entries() -> Vec<(MetadataEntry, &'static str)> {
    let text = |t: &str| t.to_owned();
    vec![
        (
            MetadataEntry::CreateTopic {
                id: id(0xab),
                name: text("a.b"),
                vhost: text("/"),
                partitions: vec![PartitionId(0), PartitionId(300)],
                configs: BTreeMap::from([(text("flush.ms"), text("5"))]),
                created_ms: 1_000,
            },
            "01 00 abababababababababababababababab 03 612e62 01 2f 02 00 ac02
             01 08 666c7573682e6d73 01 35 d00f",
        ),
        (
            MetadataEntry::DeleteTopic { id: id(1) },
            "01 01 01010101010101010101010101010101",
        ),
        (
            MetadataEntry::AddPartitions {
                id: id(1),
                partitions: vec![PartitionId(0xff_ffff)],
            },
            "01 02 01010101010101010101010101010101 01 ffffff07",
        ),
        (
            MetadataEntry::SetTopicConfigs {
                id: id(1),
                set: BTreeMap::from([(text("a"), None), (text("b"), Some(text("c")))]),
            },
            "01 03 01010101010101010101010101010101 02 01 61 00 01 62 01 01 63",
        ),
        (MetadataEntry::ProducerIds { next: 1_000 }, "01 04 d00f"),
        (MetadataEntry::LeaderEpochBase { epoch: 3 }, "01 05 06"),
    ]
}

#[test]
fn entries_have_the_bytes_of_their_format() {
    for (entry, bytes) in golden_entries() {
        let bytes = hex(bytes);
        assert_eq!(entry.encode(), bytes, "{entry:?}");
        assert_eq!(MetadataEntry::decode(&bytes), Ok(entry));
    }
}

#[test]
fn rows_have_the_bytes_of_their_format() {
    let topic = TopicState {
        id: id(0xab),
        name: "a".to_owned(),
        vhost: "/".to_owned(),
        partitions: numbers(1..3),
        configs: BTreeMap::from([("b".to_owned(), "c".to_owned())]),
        created_ms: -1,
    };
    let bytes = hex("01 abababababababababababababababab 01 61 01 2f 02 01 02 01 01 62 01 63 01");
    assert_eq!(TopicRow::of(&topic).encode(), bytes);
    assert_eq!(TopicRow::decode(&bytes), Some(TopicRow(topic)));
    let node = NodeRow {
        next_partition: 300,
        next_producer_id: 1_000,
        leader_epoch_base: 2,
        next_segment: 5,
        stamp_ms: 64,
    };
    let bytes = hex("01 ac02 d00f 04 05 8001");
    assert_eq!(node.encode(), bytes);
    assert_eq!(NodeRow::decode(&bytes), Some(node));
}

#[test]
fn bytes_that_are_no_entry_are_refused() {
    assert_eq!(MetadataEntry::decode(&[]), Err(EntryError::Malformed));
    assert_eq!(
        MetadataEntry::decode(&[0, 4, 0]),
        Err(EntryError::Malformed)
    );
    assert_eq!(
        MetadataEntry::decode(&[2, 4, 0]),
        Err(EntryError::Version(2))
    );
    assert_eq!(MetadataEntry::decode(&[1, 6]), Err(EntryError::Malformed));
    for (entry, bytes) in golden_entries() {
        let mut bytes = hex(bytes);
        for end in 0..bytes.len() {
            assert!(
                MetadataEntry::decode(&bytes[..end]).is_err(),
                "{entry:?} cut at {end}"
            );
        }
        bytes.push(0);
        assert_eq!(MetadataEntry::decode(&bytes), Err(EntryError::Malformed));
    }
    // A count that the bytes cannot hold allocates nothing of that size.
    let claim = hex("01 02 01010101010101010101010101010101 ffffffffffffffff7f");
    assert_eq!(MetadataEntry::decode(&claim), Err(EntryError::Malformed));
}

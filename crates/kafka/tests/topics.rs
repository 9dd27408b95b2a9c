//! Making, changing and deleting topics, and their settings.

mod support;

use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ApiKey, ErrorCode};
use millrace_kafka::{BrokerSetting, KafkaConfig, SettingSource, SettingType};
use support::{Settings, TestNode};
use types::TopicId;

fn topic(name: &str, partitions: i32) -> CreatableTopic {
    CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor: -1,
        ..CreatableTopic::default()
    }
}

fn create(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    CreateTopicsRequest {
        topics,
        ..CreateTopicsRequest::default()
    }
}

fn codes(response: &CreateTopicsResponse) -> Vec<(&str, i16)> {
    let topics = response.topics.iter();
    topics
        .map(|topic| (topic.name.as_str(), topic.error_code.0))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_made_in_every_version() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for version in ApiKey::CreateTopics.served() {
        let name = format!("t{version}");
        let mut asked = topic(&name, 3);
        asked.configs = vec![CreatableTopicConfig {
            name: "retention.ms".to_owned(),
            value: Some("1000".to_owned()),
        }];
        let response = client.call(version, &create(vec![asked])).await;
        let made = &response.topics[0];
        assert_eq!(made.error_code, ErrorCode::NONE, "{:?}", made.error_message);
        let stored = node.broker.shared().topic(&name).expect("made");
        assert_eq!(stored.partitions.len(), 3);
        if version >= 5 {
            assert_eq!((made.num_partitions, made.replication_factor), (3, 1));
            let configs = made.configs.as_ref().expect("settings");
            let retention = configs.iter().find(|config| config.name == "retention.ms");
            let retention = retention.expect("listed");
            assert_eq!(retention.value.as_deref(), Some("1000"));
            assert_eq!(retention.config_source, 1);
        }
        if version >= 7 {
            assert_eq!(made.topic_id, stored.id);
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_makes_no_more_topics_than_it_may() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for (count, code) in [
        (10_000, ErrorCode::NONE),
        (10_001, ErrorCode::POLICY_VIOLATION),
    ] {
        let request = CreateTopicsRequest {
            validate_only: true,
            ..create((0..count).map(|n| topic(&format!("t{n}"), 1)).collect())
        };
        let response = client.call(7, &request).await;
        assert_eq!(response.topics.len(), count);
        assert!(response.topics.iter().all(|topic| topic.error_code == code));
    }
    assert_eq!(node.broker.shared().topics().len(), 0);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_makes_no_more_partitions_than_it_may() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let request = create(vec![topic("a", 60_000), topic("b", 40_001)]);
    let response = client.call(7, &request).await;
    assert_eq!(codes(&response), [("a", 44), ("b", 44)]);
    node.topic("t", 1, &[]).await;
    node.topic("u", 1, &[]).await;
    let more = |name: &str, count| CreatePartitionsTopic {
        name: name.to_owned(),
        count,
        assignments: None,
    };
    let request = CreatePartitionsRequest {
        topics: vec![more("t", 60_001), more("u", 40_002)],
        validate_only: true,
        ..CreatePartitionsRequest::default()
    };
    let response = client.call(3, &request).await;
    let codes: Vec<_> = response.results.iter().map(|of| of.error_code.0).collect();
    assert_eq!(codes, [0, 44]);
    node.stop().await;
}

// Changes wait for log space in their order: one that can never have it must not stand before others.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_larger_than_the_log_keeps_no_other_waiting() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let response = client.call(7, &create(vec![topic("huge", i32::MAX)])).await;
    assert_eq!(codes(&response), [("huge", 37)]);
    let request = CreatePartitionsRequest {
        topics: vec![CreatePartitionsTopic {
            name: "t".to_owned(),
            count: i32::MAX,
            assignments: None,
        }],
        ..CreatePartitionsRequest::default()
    };
    let response = client.call(3, &request).await;
    assert_eq!(response.results[0].error_code.0, 37);
    let config = |name: &str, value: String| CreatableTopicConfig {
        name: name.to_owned(),
        value: Some(value),
    };
    let words = (0..200_000).map(|n| format!("{n}:1")).collect::<Vec<_>>();
    let mut long = topic("long", 1);
    long.configs = vec![config(
        "follower.replication.throttled.replicas",
        words.join(","),
    )];
    let mut many = topic("many", 1);
    many.configs = vec![config("message.format.version", "3.0".to_owned()); 100_000];
    let response = client.call(7, &create(vec![long, many])).await;
    assert_eq!(codes(&response), [("long", 40), ("many", 40)]);
    let id = client.call(4, &InitProducerIdRequest::default()).await;
    assert_eq!(id.error_code, ErrorCode::NONE);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_that_cannot_be_made_say_why() {
    let node = TestNode::start().await;
    node.topic("there", 1, &[]).await;
    let mut client = node.connect().await;
    let mut bad_config = topic("config", 1);
    bad_config.configs = vec![CreatableTopicConfig {
        name: "retention.ms".to_owned(),
        value: Some("soon".to_owned()),
    }];
    let mut replicated = topic("replicated", 1);
    replicated.replication_factor = 3;
    let mut placed = topic("placed", -1);
    placed.assignments = vec![CreatableReplicaAssignment {
        partition_index: 0,
        broker_ids: vec![99],
    }];
    let mut mixed = topic("mixed", 1);
    mixed.assignments = placed.assignments.clone();
    let request = create(vec![
        topic("there", 1),
        topic("a b", 1),
        topic("none", 0),
        bad_config,
        replicated,
        placed,
        mixed,
        topic("__cluster_metadata", 1),
        topic("twice", 1),
        topic("fine", -1),
        topic("twice", 2),
    ]);
    let response = client.call(7, &request).await;
    let expected = [
        ("there", 36),
        ("a b", 17),
        ("none", 37),
        ("config", 40),
        ("replicated", 38),
        ("placed", 39),
        ("mixed", 42),
        ("__cluster_metadata", 42),
        ("fine", 0),
        ("twice", 42),
    ];
    assert_eq!(codes(&response), expected);
    assert!(node.broker.shared().topic("twice").is_none());
    assert_eq!(
        node.broker
            .shared()
            .topic("fine")
            .expect("made")
            .partitions
            .len(),
        2
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn validation_alone_changes_nothing() {
    let node = TestNode::start().await;
    node.topic("there", 1, &[]).await;
    let mut client = node.connect().await;
    let mut request = create(vec![topic("t", 4), topic("there", 1)]);
    request.validate_only = true;
    let response = client.call(7, &request).await;
    assert_eq!(codes(&response), [("t", 0), ("there", 36)]);
    assert_eq!(response.topics[0].num_partitions, 4);
    assert_eq!(response.topics[0].topic_id, TopicId::ZERO);
    assert!(node.broker.shared().topic("t").is_none());
    let request = CreatePartitionsRequest {
        topics: vec![grown("there", 5)],
        validate_only: true,
        ..CreatePartitionsRequest::default()
    };
    let response = client.call(3, &request).await;
    assert_eq!(response.results[0].error_code, ErrorCode::NONE);
    assert_eq!(
        node.broker
            .shared()
            .topic("there")
            .expect("there")
            .partitions
            .len(),
        1
    );
    node.stop().await;
}

fn grown(name: &str, count: i32) -> CreatePartitionsTopic {
    CreatePartitionsTopic {
        name: name.to_owned(),
        count,
        assignments: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_only_added() {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    node.topic("twice", 1, &[]).await;
    let mut client = node.connect().await;
    for (count, version) in (3..).zip(ApiKey::CreatePartitions.served()) {
        let request = CreatePartitionsRequest {
            topics: vec![
                grown("t", count),
                grown("twice", 2),
                grown("nowhere", 2),
                grown("twice", 3),
            ],
            ..CreatePartitionsRequest::default()
        };
        let response = client.call(version, &request).await;
        let codes: Vec<_> = response.results.iter().map(|of| of.error_code.0).collect();
        assert_eq!(codes, [0, 42, 3], "one answer for each topic");
        let partitions = node
            .broker
            .shared()
            .topic("t")
            .expect("there")
            .partitions
            .len();
        assert_eq!(i32::try_from(partitions), Ok(count));
    }
    let request = CreatePartitionsRequest {
        topics: vec![grown("t", 2)],
        ..CreatePartitionsRequest::default()
    };
    let response = client.call(3, &request).await;
    assert_eq!(
        response.results[0].error_code,
        ErrorCode::INVALID_PARTITIONS
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_deleted_by_name_or_id() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for version in ApiKey::DeleteTopics.served() {
        node.topic("t", 1, &[]).await;
        let topic = node.broker.shared().topic("t").expect("made");
        let by_name = DeleteTopicState {
            name: Some("t".to_owned()),
            topic_id: TopicId::ZERO,
        };
        let request = DeleteTopicsRequest {
            topic_names: vec!["t".to_owned(), "nowhere".to_owned()],
            topics: vec![by_name],
            ..DeleteTopicsRequest::default()
        };
        let response = client.call(version, &request).await;
        let deleted = &response.responses[0];
        assert_eq!(deleted.error_code, ErrorCode::NONE);
        assert_eq!(deleted.name.as_deref(), Some("t"));
        if version >= 6 {
            assert_eq!(deleted.topic_id, topic.id);
        } else {
            assert_eq!(response.responses[1].error_code.0, 3);
        }
        assert!(node.broker.shared().topic("t").is_none());
    }
    node.topic("t", 1, &[]).await;
    let id = node.broker.shared().topic("t").expect("made").id;
    let state = |name: Option<&str>, topic_id| DeleteTopicState {
        name: name.map(str::to_owned),
        topic_id,
    };
    let request = DeleteTopicsRequest {
        topics: vec![
            state(None, id),
            state(None, TopicId([7; 16])),
            state(Some("x"), id),
            state(None, TopicId::ZERO),
        ],
        ..DeleteTopicsRequest::default()
    };
    let response = client.call(6, &request).await;
    let codes: Vec<_> = response
        .responses
        .iter()
        .map(|of| of.error_code.0)
        .collect();
    assert_eq!(codes, [0, 100, 42, 42]);
    assert_eq!(response.responses[0].name.as_deref(), Some("t"));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_can_be_disabled() {
    let settings = Settings {
        delete_enabled: false,
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let request = DeleteTopicsRequest {
        topic_names: vec!["t".to_owned()],
        ..DeleteTopicsRequest::default()
    };
    for (version, code) in [(2, 42), (3, 73)] {
        let response = client.call(version, &request).await;
        assert_eq!(response.responses[0].error_code, ErrorCode(code));
    }
    assert!(node.broker.shared().topic("t").is_some());
    node.stop().await;
}

fn resource(resource_type: i8, name: &str, keys: &[&str]) -> DescribeConfigsResource {
    DescribeConfigsResource {
        resource_type,
        resource_name: name.to_owned(),
        configuration_keys: Some(keys.iter().map(|key| (*key).to_owned()).collect()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_topics_are_described_with_their_sources() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("retention.ms", "5000")]).await;
    node.topic("other", 1, &[]).await;
    let mut client = node.connect().await;
    for version in ApiKey::DescribeConfigs.served() {
        let request = DescribeConfigsRequest {
            resources: vec![
                resource(2, "t", &["retention.ms", "max.message.bytes", "no.such"]),
                resource(2, "nowhere", &[]),
                resource(32, "group", &[]),
                resource(2, "other", &[]),
                resource(2, "no/name", &[]),
            ],
            include_synonyms: true,
            include_documentation: true,
        };
        let response = client.call(version, &request).await;
        let codes: Vec<_> = response.results.iter().map(|of| of.error_code.0).collect();
        assert_eq!(codes, [0, 3, 42, 0, 17]);
        let named = &response.results[0].configs;
        let names: Vec<_> = named.iter().map(|config| config.name.as_str()).collect();
        assert_eq!(names, ["max.message.bytes", "retention.ms"]);
        let (size, retention) = (&named[0], &named[1]);
        assert_eq!(size.value.as_deref(), Some("1048588"));
        assert_eq!(retention.value.as_deref(), Some("5000"));
        assert_eq!((size.config_source, retention.config_source), (5, 1));
        let sources: Vec<_> = retention.synonyms.iter().map(|of| of.source).collect();
        assert_eq!(sources, [1, 5]);
        if version >= 3 {
            assert_eq!((size.config_type, retention.config_type), (3, 5));
            assert!(
                retention
                    .documentation
                    .as_ref()
                    .is_some_and(|text| !text.is_empty())
            );
        }
        assert!(response.results[3].configs.len() > 20);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_node_are_what_it_was_told() {
    let setting = |name: &str, source, sensitive| BrokerSetting {
        name: name.to_owned(),
        value: Some("1".to_owned()),
        default: Some("2".to_owned()),
        source,
        setting_type: SettingType::Int,
        sensitive,
        documentation: "What it does.".to_owned(),
    };
    let settings = Settings {
        kafka: KafkaConfig {
            broker_settings: vec![
                setting("node.id", SettingSource::Static, false),
                setting("secret", SettingSource::Default, true),
            ],
            ..KafkaConfig::default()
        },
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    let mut client = node.connect().await;
    let request = DescribeConfigsRequest {
        resources: vec![
            resource(4, "7", &[]),
            resource(4, "", &[]),
            resource(4, "8", &[]),
        ],
        include_synonyms: true,
        include_documentation: false,
    };
    let response = client.call(4, &request).await;
    let codes: Vec<_> = response.results.iter().map(|of| of.error_code.0).collect();
    assert_eq!(codes, [0, 0, 42]);
    let [id, secret] = response.results[0].configs.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!((id.value.as_deref(), id.config_source), (Some("1"), 4));
    assert!(id.read_only);
    let sources: Vec<_> = id
        .synonyms
        .iter()
        .map(|of| (of.source, of.value.clone()))
        .collect();
    assert_eq!(
        sources,
        [(4, Some("1".to_owned())), (5, Some("2".to_owned()))]
    );
    assert_eq!((secret.value.as_deref(), secret.is_sensitive), (None, true));
    assert!(secret.synonyms.iter().all(|of| of.value.is_none()));
    assert_eq!(response.results[1].configs, []);
    node.stop().await;
}

fn op(name: &str, config_operation: i8, value: Option<&str>) -> IncrementalAlterableConfig {
    IncrementalAlterableConfig {
        name: name.to_owned(),
        config_operation,
        value: value.map(str::to_owned),
    }
}

fn change(
    resource_type: i8,
    name: &str,
    configs: Vec<IncrementalAlterableConfig>,
) -> IncrementalAlterConfigsResource {
    IncrementalAlterConfigsResource {
        resource_type,
        resource_name: name.to_owned(),
        configs,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_change_one_by_one_or_all_at_once() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("retention.ms", "5000")]).await;
    let mut client = node.connect().await;
    for version in ApiKey::IncrementalAlterConfigs.served() {
        let mut request = IncrementalAlterConfigsRequest {
            resources: vec![
                change(
                    2,
                    "t",
                    vec![
                        op("retention.bytes", 0, Some("99")),
                        op("unknown.here", 1, None),
                    ],
                ),
                change(2, "nowhere", vec![op("retention.ms", 1, None)]),
                change(4, "7", vec![op("num.partitions", 0, Some("3"))]),
                change(2, "other", vec![op("retention.ms", 9, None)]),
                change(2, "no/name", vec![op("retention.ms", 1, None)]),
            ],
            validate_only: version == 0,
        };
        let response = client.call(version, &request).await;
        let codes: Vec<_> = response
            .responses
            .iter()
            .map(|of| of.error_code.0)
            .collect();
        assert_eq!(codes, [0, 3, 42, 42, 17]);
        let topic = node.broker.shared().topic("t").expect("there");
        let expected = (version > 0).then_some(99);
        assert_eq!(topic.settings.retention_bytes, expected);
        request.resources = vec![
            change(2, "t", vec![op("retention.ms", 0, Some("never"))]),
            change(2, "t", vec![]),
        ];
        let response = client.call(version, &request).await;
        let codes: Vec<_> = response
            .responses
            .iter()
            .map(|of| of.error_code.0)
            .collect();
        assert_eq!(codes, [42], "the same resource twice");
        request.resources.pop();
        let response = client.call(version, &request).await;
        assert_eq!(response.responses[0].error_code, ErrorCode::INVALID_CONFIG);
    }
    let replace = AlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: 2,
            resource_name: "t".to_owned(),
            configs: vec![AlterableConfig {
                name: "segment.ms".to_owned(),
                value: Some("77".to_owned()),
            }],
        }],
        validate_only: false,
    };
    for version in ApiKey::AlterConfigs.served() {
        let response = client.call(version, &replace).await;
        assert_eq!(response.responses[0].error_code, ErrorCode::NONE);
        let topic = node.broker.shared().topic("t").expect("there");
        let expected = [("segment.ms".to_owned(), "77".to_owned())];
        assert_eq!(
            topic.configs.clone().into_iter().collect::<Vec<_>>(),
            expected
        );
    }
    node.stop().await;
}

//! ApiVersions, Metadata and DescribeCluster.

mod support;

use bytes::{BufMut, BytesMut};
use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ApiKey, ErrorCode, decode_response};
use millrace_kafka::{Advertised, KafkaConfig};
use support::{NODE_ID, Settings, TestNode};
use tokio::io::AsyncWriteExt;
use types::TopicId;

fn software(name: &str) -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: name.to_owned(),
        client_software_version: "1.0".to_owned(),
    }
}

fn asked(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic {
        name: Some(name.to_owned()),
        ..MetadataRequestTopic::default()
    }
}

fn metadata(names: &[&str]) -> MetadataRequest {
    MetadataRequest {
        topics: Some(names.iter().map(|name| asked(name)).collect()),
        ..MetadataRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn api_versions_names_every_api_in_every_version() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for version in ApiKey::ApiVersions.served() {
        let response = client.call(version, &software("test")).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        let keys: Vec<_> = response.api_keys.iter().map(|api| api.api_key).collect();
        let expected: Vec<_> = ApiKey::ALL.iter().map(|api| api.code()).collect();
        assert_eq!(keys, expected);
        let produce = &response.api_keys[0];
        assert_eq!((produce.min_version, produce.max_version), (0, 12));
        assert_eq!(response.finalized_features, []);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let mut frame = BytesMut::new();
    frame.put_i32(19);
    frame.put_i16(18);
    frame.put_i16(99);
    frame.put_i32(5);
    frame.put_slice(b"a body of the future"[..11].as_ref());
    client.stream.write_all(&frame).await.expect("sent");
    let frame = client.frame().await.expect("an answer");
    let (correlation_id, response) =
        decode_response::<ApiVersionsRequest>(4, &frame).expect("a response");
    assert_eq!(correlation_id, 5);
    assert_eq!(response.error_code, ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(
        response.api_keys,
        [ApiVersion::advertised(ApiKey::ApiVersions)]
    );
    // The connection goes on.
    let response = client.call(3, &software("test")).await;
    assert_eq!(response.error_code, ErrorCode::NONE);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn software_without_a_proper_name_is_refused() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let response = client.call(3, &software("a b")).await;
    assert_eq!(response.error_code, ErrorCode::INVALID_REQUEST);
    let response = client.call(2, &software("")).await;
    assert_eq!(response.error_code, ErrorCode::NONE);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_keys_and_versions_close_the_connection() {
    let node = TestNode::start().await;
    for (key, version) in [(4_i16, 0_i16), (0, 2), (1, 99), (-1, 0)] {
        let mut client = node.connect().await;
        let mut frame = BytesMut::new();
        frame.put_i32(10);
        frame.put_i16(key);
        frame.put_i16(version);
        frame.put_i32(1);
        frame.put_i16(-1);
        client.stream.write_all(&frame).await.expect("sent");
        assert!(client.is_closed().await, "key {key} version {version}");
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_tells_the_address_that_the_client_reached() {
    let node = TestNode::start().await;
    node.topic("orders", 3, &[]).await;
    let mut client = node.connect().await;
    for version in ApiKey::Metadata.served() {
        let response = client.call(version, &metadata(&["orders"])).await;
        let expected = MetadataResponseBroker {
            node_id: NODE_ID,
            host: "127.0.0.1".to_owned(),
            port: i32::from(node.address.port()),
            rack: None,
        };
        assert_eq!(response.brokers, [expected]);
        if version >= 2 {
            assert_eq!(response.cluster_id.as_deref(), Some("the-cluster"));
            assert_eq!(response.controller_id, NODE_ID);
        }
        let topic = &response.topics[0];
        assert_eq!(topic.error_code, ErrorCode::NONE);
        assert_eq!(topic.partitions.len(), 3);
        for (number, partition) in (0..).zip(&topic.partitions) {
            assert_eq!(partition.partition_index, number);
            assert_eq!(partition.leader_id, NODE_ID);
            assert_eq!(partition.isr_nodes, [NODE_ID]);
            if version >= 7 {
                let epoch = node.broker.shared().leader_epoch();
                assert_eq!(partition.leader_epoch, epoch.0);
            }
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_advertised_address_is_told_instead() {
    let advertised = |port| Settings {
        kafka: KafkaConfig {
            advertised: Some(Advertised {
                host: "broker.example".to_owned(),
                port,
            }),
            ..KafkaConfig::default()
        },
        ..Settings::default()
    };
    for port in [Some(19_092), None] {
        let node = TestNode::start_with(advertised(port)).await;
        let mut client = node.connect().await;
        let response = client.call(9, &metadata(&[])).await;
        let expected = port.unwrap_or(node.address.port());
        assert_eq!(response.brokers[0].host, "broker.example");
        assert_eq!(response.brokers[0].port, i32::from(expected));
        let response = client.call(2, &DescribeClusterRequest::default()).await;
        assert_eq!(response.brokers[0].host, "broker.example");
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_topics_are_an_empty_list_in_version_0_and_null_later() {
    let node = TestNode::start().await;
    node.topic("a", 1, &[]).await;
    node.topic("b", 1, &[]).await;
    let mut client = node.connect().await;
    let names = |response: MetadataResponse| -> Vec<_> {
        response
            .topics
            .into_iter()
            .filter_map(|topic| topic.name)
            .collect()
    };
    let none = metadata(&[]);
    let all = MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    };
    assert_eq!(names(client.call(0, &none).await), ["a", "b"]);
    assert_eq!(names(client.call(1, &none).await), [""; 0]);
    assert_eq!(names(client.call(1, &all).await), ["a", "b"]);
    assert_eq!(names(client.call(13, &all).await), ["a", "b"]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_asked_for_is_made_at_once_if_client_and_node_allow_it() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let mut request = metadata(&["new.topic"]);
    request.allow_auto_topic_creation = false;
    let response = client.call(12, &request).await;
    assert_eq!(
        response.topics[0].error_code,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    request.allow_auto_topic_creation = true;
    let response = client.call(12, &request).await;
    assert_eq!(response.topics[0].error_code, ErrorCode::NONE);
    assert_eq!(response.topics[0].partitions.len(), 2, "num.partitions");
    let made = node.broker.shared().topic("new.topic").expect("made");
    assert_eq!(response.topics[0].topic_id, made.id);
    let response = client
        .call(12, &metadata(&["new_topic", "a b", "__consumer_offsets"]))
        .await;
    let codes: Vec<_> = response
        .topics
        .iter()
        .map(|topic| topic.error_code.0)
        .collect();
    assert_eq!(
        codes,
        [17, 17, 3],
        "a collision, a bad name, one of the broker's own"
    );
    assert!(response.topics[2].is_internal);
    node.stop().await;

    let settings = Settings {
        auto_create: false,
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    let response = node.connect().await.call(12, &metadata(&["t"])).await;
    assert_eq!(
        response.topics[0].error_code,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_found_by_id() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let id = node.broker.shared().topic("t").expect("made").id;
    let by_id = |topic_id| MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            topic_id,
            name: None,
        }]),
        ..MetadataRequest::default()
    };
    let response = client.call(12, &by_id(id)).await;
    assert_eq!(response.topics[0].name.as_deref(), Some("t"));
    let response = client.call(12, &by_id(TopicId([9; 16]))).await;
    assert_eq!(response.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID);
    assert_eq!(response.topics[0].name, None);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn describe_cluster_tells_the_one_node() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let mut request = DescribeClusterRequest {
        include_cluster_authorized_operations: true,
        ..DescribeClusterRequest::default()
    };
    for version in ApiKey::DescribeCluster.served() {
        let response = client.call(version, &request).await;
        assert_eq!(response.cluster_id, "the-cluster");
        assert_eq!(response.controller_id, NODE_ID);
        assert_eq!(response.brokers[0].broker_id, NODE_ID);
        assert_eq!(response.cluster_authorized_operations, 8096);
    }
    for (endpoint_type, code) in [(2, 114), (3, 115)] {
        request.endpoint_type = endpoint_type;
        let response = client.call(1, &request).await;
        assert_eq!(response.error_code, ErrorCode(code));
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_one_node_coordinates_groups_and_transactions() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let port = i32::from(node.address.port());
    for version in ApiKey::FindCoordinator.served() {
        for (key_type, code) in [(0, 0), (1, 0), (2, 42)] {
            let request = FindCoordinatorRequest {
                key: "a".to_owned(),
                key_type,
                coordinator_keys: vec!["a".to_owned(), "b".to_owned()],
            };
            let response = client.call(version, &request).await;
            let (node_id, expected_port) = if code == 0 { (NODE_ID, port) } else { (-1, -1) };
            if version >= 4 {
                let keys: Vec<_> = response.coordinators.iter().map(|of| &of.key).collect();
                assert_eq!(keys, ["a", "b"]);
                for found in response.coordinators {
                    assert_eq!(found.error_code, ErrorCode(code));
                    assert_eq!((found.node_id, found.port), (node_id, expected_port));
                }
            } else if version >= 1 || key_type == 0 {
                assert_eq!(response.error_code, ErrorCode(code));
                assert_eq!((response.node_id, response.port), (node_id, expected_port));
            }
        }
    }
    node.stop().await;
}

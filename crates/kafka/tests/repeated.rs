//! Requests that name the same thing many times: the answer holds it once.

mod support;

use millrace_kafka::wire::ErrorCode;
use millrace_kafka::wire::messages::*;
use support::TestNode;
use types::TopicId;

const MANY: usize = 300_000;

/// `first`, and `again` many times with the first of them between.
fn many<T: Clone>(first: T, again: T) -> Vec<T> {
    let mut all = vec![again.clone(), first];
    all.resize(MANY, again);
    all
}

fn by_name(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic {
        name: Some(name.to_owned()),
        ..MetadataRequestTopic::default()
    }
}

// To describe a topic for each mention would make gigabytes of answer for a request of a megabyte.
#[tokio::test(flavor = "multi_thread")]
async fn metadata_tells_of_each_topic_once_in_the_order_of_first_mention() {
    let node = TestNode::start().await;
    node.topic("a", 100, &[]).await;
    node.topic("b", 1, &[]).await;
    let mut client = node.connect().await;
    let mut request = MetadataRequest {
        topics: Some(many(by_name("a"), by_name("b"))),
        allow_auto_topic_creation: false,
        ..MetadataRequest::default()
    };
    let response = client.call(12, &request).await;
    let names: Vec<_> = response
        .topics
        .iter()
        .map(|of| of.name.as_deref())
        .collect();
    assert_eq!(names, [Some("b"), Some("a")]);
    assert_eq!(response.topics[1].partitions.len(), 100);
    let by_id = |topic_id| MetadataRequestTopic {
        topic_id,
        name: None,
    };
    let id = node.broker.shared().topic("a").expect("there").id;
    let unknown = TopicId([7; 16]);
    request.topics = Some(vec![by_id(unknown), by_id(id), by_id(unknown), by_id(id)]);
    let response = client.call(12, &request).await;
    let ids: Vec<_> = response.topics.iter().map(|of| of.topic_id).collect();
    assert_eq!(ids, [unknown, id]);
    node.stop().await;
}

fn resource(name: &str, keys: Option<&[&str]>) -> DescribeConfigsResource {
    let keys = keys.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
    DescribeConfigsResource {
        resource_type: 2,
        resource_name: name.to_owned(),
        configuration_keys: keys,
    }
}

// As with Metadata: all settings are long.
#[tokio::test(flavor = "multi_thread")]
async fn settings_of_a_resource_are_told_once_with_all_that_was_asked_for() {
    let node = TestNode::start().await;
    node.topic("a", 1, &[]).await;
    node.topic("b", 1, &[]).await;
    let mut client = node.connect().await;
    let mut request = DescribeConfigsRequest {
        resources: many(resource("a", None), resource("b", None)),
        include_synonyms: true,
        include_documentation: true,
    };
    let response = client.call(4, &request).await;
    let names: Vec<_> = response
        .results
        .iter()
        .map(|of| &of.resource_name)
        .collect();
    assert_eq!(names, ["b", "a"]);
    let all = response.results[0].configs.len();
    assert!(all > 2);
    request.resources = vec![
        resource("a", Some(&["retention.ms"])),
        resource("b", Some(&["retention.ms"])),
        resource("a", Some(&["segment.ms", "retention.ms"])),
        resource("b", None),
    ];
    let response = client.call(4, &request).await;
    let a: Vec<_> = response.results[0]
        .configs
        .iter()
        .map(|of| &of.name)
        .collect();
    assert_eq!(a, ["retention.ms", "segment.ms"]);
    assert_eq!(response.results[1].configs.len(), all, "none stand for all");
    assert_eq!(response.results.len(), 2);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_key_has_one_coordinator() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let request = FindCoordinatorRequest {
        coordinator_keys: many("a".to_owned(), String::new()),
        ..FindCoordinatorRequest::default()
    };
    let response = client.call(4, &request).await;
    let keys: Vec<_> = response.coordinators.iter().map(|of| &of.key).collect();
    assert_eq!(keys, ["", "a"]);
    node.stop().await;
}

// The message is longer than a mention.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_stand_only_once_is_refused_once() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let request = DeleteTopicsRequest {
        topic_names: many("nowhere".to_owned(), "t".to_owned()),
        ..DeleteTopicsRequest::default()
    };
    let response = client.call(5, &request).await;
    let codes: Vec<_> = response.responses.iter().map(|of| of.error_code).collect();
    let expected = [
        ErrorCode::INVALID_REQUEST,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ];
    assert_eq!(codes, expected);
    let resource = |name: &str| AlterConfigsResource {
        resource_type: 2,
        resource_name: name.to_owned(),
        configs: Vec::new(),
    };
    let request = AlterConfigsRequest {
        resources: many(resource("nowhere"), resource("t")),
        validate_only: false,
    };
    let response = client.call(2, &request).await;
    let codes: Vec<_> = response.responses.iter().map(|of| of.error_code).collect();
    assert_eq!(codes, expected);
    assert!(node.broker.shared().topic("t").is_some());
    node.stop().await;
}

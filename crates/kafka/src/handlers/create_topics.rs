//! CreateTopics.

use std::collections::{BTreeMap, BTreeSet};

use broker::metadata::{CreateTopicRequest, PartitionAssignment};
use broker::owner::TopicMade;
use broker::topic_config::{self, describe};
use types::TopicId;

use super::Call;
use super::join::join_all;
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};

pub(super) async fn run(call: &Call, request: CreateTopicsRequest) -> CreateTopicsResponse {
    let twice = twice(&request.topics);
    let (refused, wanted): (Vec<_>, Vec<_>) = request
        .topics
        .into_iter()
        .partition(|topic| twice.contains(&topic.name));
    let validate_only = request.validate_only;
    let made = wanted
        .into_iter()
        .map(|topic| make(call, topic, validate_only));
    let mut topics = join_all(made).await;
    // One answer for each name.
    let names: BTreeSet<_> = refused.into_iter().map(|topic| topic.name).collect();
    topics.extend(names.into_iter().map(|name| CreatableTopicResult {
        name,
        error_code: ErrorCode::INVALID_REQUEST,
        error_message: Some("the topic stands twice in the request".to_owned()),
        ..CreatableTopicResult::default()
    }));
    CreateTopicsResponse {
        topics,
        ..CreateTopicsResponse::default()
    }
}

/// Names that stand in the request more than once.
fn twice(topics: &[CreatableTopic]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let again = topics
        .iter()
        .filter(|topic| !seen.insert(topic.name.as_str()));
    again.map(|topic| topic.name.clone()).collect()
}

async fn make(call: &Call, topic: CreatableTopic, validate_only: bool) -> CreatableTopicResult {
    let request = to_request(topic);
    let (name, asked) = (request.name.clone(), request.configs.clone());
    match call
        .session
        .broker()
        .create_topic(request, validate_only)
        .await
    {
        Ok(made) => CreatableTopicResult {
            configs: Some(configs(call, made, &asked)),
            topic_id: if validate_only {
                TopicId::ZERO
            } else {
                made.id
            },
            num_partitions: made.partitions,
            replication_factor: 1,
            name,
            ..CreatableTopicResult::default()
        },
        Err(error) => CreatableTopicResult {
            name,
            error_code: error.code(),
            error_message: Some(error.to_string()),
            ..CreatableTopicResult::default()
        },
    }
}

fn to_request(topic: CreatableTopic) -> CreateTopicRequest {
    let assignments = topic.assignments.into_iter();
    let configs = topic.configs.into_iter();
    CreateTopicRequest {
        name: topic.name,
        partitions: topic.num_partitions,
        replication_factor: topic.replication_factor,
        assignments: assignments
            .map(|assignment| PartitionAssignment {
                partition: assignment.partition_index,
                nodes: assignment.broker_ids,
            })
            .collect(),
        configs: configs.map(|config| (config.name, config.value)).collect(),
    }
}

/// All settings of the new topic (KIP-525). Of one that was only checked, they are what they
/// would be.
fn configs(
    call: &Call,
    made: TopicMade,
    asked: &[(String, Option<String>)],
) -> Vec<CreatableTopicConfigs> {
    let broker = call.session.broker();
    let overrides = match broker.shared().topic_by_id(made.id) {
        Some(topic) => topic.configs.clone(),
        None => accepted(asked),
    };
    let entries = describe(&overrides, &broker.info().defaults).into_iter();
    let configs = entries.map(|entry| CreatableTopicConfigs {
        name: entry.name.to_owned(),
        value: (!entry.sensitive).then_some(entry.value),
        read_only: entry.read_only,
        config_source: entry.source.number(),
        is_sensitive: entry.sensitive,
    });
    configs.collect()
}

fn accepted(asked: &[(String, Option<String>)]) -> BTreeMap<String, String> {
    let accepted = asked
        .iter()
        .filter_map(|(name, value)| topic_config::accept(name, value.as_deref()).ok());
    accepted
        .map(|accepted| (accepted.name.to_owned(), accepted.value))
        .collect()
}

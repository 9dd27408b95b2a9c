//! CreateTopics.

use std::collections::{BTreeMap, BTreeSet};

use broker::metadata::{CreateTopicRequest, PartitionAssignment};
use broker::owner::TopicMade;
use broker::topic_config::{self, describe};
use types::TopicId;
use types::limits::TOPIC_PARTITIONS_MAX;

use super::Call;
use super::in_time::{InTime, TOO_LATE};
use super::join::{join_all, pieces};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};

/// Topics that a request may make: what is answered of one takes a few kilobytes.
pub(super) const TOPICS_MAX: usize = 10_000;
/// Partitions of all of them.
pub(super) const PARTITIONS_MAX: usize = TOPIC_PARTITIONS_MAX.cast_unsigned() as usize;

pub(super) async fn run(call: &Call, request: CreateTopicsRequest) -> CreateTopicsResponse {
    if let Some(refused) = too_many(call, &request.topics) {
        return refused;
    }
    let twice = twice(&request.topics);
    let (refused, wanted): (Vec<_>, Vec<_>) = request
        .topics
        .into_iter()
        .partition(|topic| twice.contains(&topic.name));
    let validate_only = request.validate_only;
    let in_time = InTime::of_request(request.timeout_ms);
    let mut topics = Vec::with_capacity(wanted.len());
    for wanted in pieces(wanted) {
        let wanted = wanted.into_iter();
        let made = wanted.map(|topic| make(call, topic, validate_only, in_time));
        topics.extend(join_all(made).await);
    }
    let message = "the topic stands twice in the request";
    let refused = refused.into_iter().map(|topic| topic.name);
    topics.extend(refuse(refused, ErrorCode::INVALID_REQUEST, message));
    CreateTopicsResponse {
        topics,
        ..CreateTopicsResponse::default()
    }
}

/// The answer to a request that asks for more than one may.
fn too_many(call: &Call, topics: &[CreatableTopic]) -> Option<CreateTopicsResponse> {
    let default = call.session.broker().info().partitions_default;
    let partitions = |topic: &CreatableTopic| match usize::try_from(topic.num_partitions) {
        Ok(count) => count,
        Err(_) if topic.assignments.is_empty() => usize::try_from(default).unwrap_or(0),
        Err(_) => topic.assignments.len(),
    };
    // A topic of more than one may have is told so by itself.
    let counts = topics
        .iter()
        .map(partitions)
        .filter(|count| *count <= PARTITIONS_MAX);
    let sum = counts.fold(0, usize::saturating_add);
    if topics.len() <= TOPICS_MAX && sum <= PARTITIONS_MAX {
        return None;
    }
    let message =
        format!("a request may make {TOPICS_MAX} topics with {PARTITIONS_MAX} partitions in all");
    let names = topics.iter().map(|topic| topic.name.clone());
    Some(CreateTopicsResponse {
        topics: refuse(names, ErrorCode::POLICY_VIOLATION, &message).collect(),
        ..CreateTopicsResponse::default()
    })
}

/// One answer for each name.
fn refuse(
    names: impl Iterator<Item = String>,
    error_code: ErrorCode,
    message: &str,
) -> impl Iterator<Item = CreatableTopicResult> {
    let names: BTreeSet<_> = names.collect();
    names.into_iter().map(move |name| CreatableTopicResult {
        name,
        error_code,
        error_message: Some(message.to_owned()),
        ..CreatableTopicResult::default()
    })
}

/// Names that stand in the request more than once.
fn twice(topics: &[CreatableTopic]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let again = topics
        .iter()
        .filter(|topic| !seen.insert(topic.name.as_str()));
    again.map(|topic| topic.name.clone()).collect()
}

async fn make(
    call: &Call,
    topic: CreatableTopic,
    validate_only: bool,
    in_time: InTime,
) -> CreatableTopicResult {
    let request = to_request(topic);
    let (name, asked) = (request.name.clone(), request.configs.clone());
    let made = call.session.broker().create_topic(request, validate_only);
    let Some(made) = in_time.wait(made).await else {
        return CreatableTopicResult {
            name,
            error_code: ErrorCode::REQUEST_TIMED_OUT,
            error_message: Some(TOO_LATE.to_owned()),
            ..CreatableTopicResult::default()
        };
    };
    match made {
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

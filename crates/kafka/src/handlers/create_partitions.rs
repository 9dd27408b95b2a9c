//! CreatePartitions.

use broker::metadata::{CreatePartitionsRequest as Request, TopicRef};
use types::limits::TOPIC_PARTITIONS_MAX;

use super::Call;
use super::in_time::{InTime, TOO_LATE};
use super::join::{join_all, pieces};
use super::mention::{firsts, mentions};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};

/// Why a topic does not grow though nobody was asked.
type Refusal = (ErrorCode, &'static str);

const TWICE: Refusal = (
    ErrorCode::INVALID_REQUEST,
    "the topic stands twice in the request",
);
const TOO_MANY: Refusal = (
    ErrorCode::POLICY_VIOLATION,
    "the request adds more partitions than one may",
);

pub(super) async fn run(call: &Call, request: CreatePartitionsRequest) -> CreatePartitionsResponse {
    let in_time = InTime::of_request(request.timeout_ms);
    let mut left = i64::from(TOPIC_PARTITIONS_MAX);
    let mentions = mentions(&request.topics, |topic| topic.name.as_str());
    let validate_only = request.validate_only;
    let topics = firsts(request.topics, mentions).map(|(topic, is_twice)| {
        if is_twice {
            return (topic, Some(TWICE));
        }
        left -= added(call, &topic);
        (topic, (left < 0).then_some(TOO_MANY))
    });
    let mut results = Vec::new();
    for topics in pieces(topics.collect()) {
        let topics = topics.into_iter();
        let grown =
            topics.map(|(topic, refused)| grow(call, topic, validate_only, refused, in_time));
        results.extend(join_all(grown).await);
    }
    CreatePartitionsResponse {
        results,
        ..CreatePartitionsResponse::default()
    }
}

/// How many partitions a topic would get.
fn added(call: &Call, topic: &CreatePartitionsTopic) -> i64 {
    let found = call.session.broker().shared().topic(&topic.name);
    match found {
        // What no topic may have is told so by itself, and so is a topic that is not there.
        Some(found) if topic.count <= TOPIC_PARTITIONS_MAX => {
            let current = i64::try_from(found.partitions.len()).unwrap_or(i64::MAX);
            (i64::from(topic.count) - current).max(0)
        }
        _ => 0,
    }
}

async fn grow(
    call: &Call,
    topic: CreatePartitionsTopic,
    validate_only: bool,
    refused: Option<Refusal>,
    in_time: InTime,
) -> CreatePartitionsTopicResult {
    let name = topic.name.clone();
    let failed = |name, error_code, message: &str| CreatePartitionsTopicResult {
        name,
        error_code,
        error_message: Some(message.to_owned()),
    };
    if let Some((code, message)) = refused {
        return failed(name, code, message);
    }
    let assignments = topic.assignments.map(|assignments| {
        let nodes = assignments
            .into_iter()
            .map(|assignment| assignment.broker_ids);
        nodes.collect()
    });
    let request = Request {
        topic: TopicRef::Name(topic.name),
        count: topic.count,
        assignments,
    };
    let broker = call.session.broker();
    match in_time
        .wait(broker.create_partitions(request, validate_only))
        .await
    {
        Some(Ok(())) => CreatePartitionsTopicResult {
            name,
            ..CreatePartitionsTopicResult::default()
        },
        Some(Err(error)) => failed(name, error.code(), &error.to_string()),
        None => failed(name, ErrorCode::REQUEST_TIMED_OUT, TOO_LATE),
    }
}

//! CreatePartitions.

use broker::metadata::{CreatePartitionsRequest as Request, TopicRef};

use super::Call;
use super::join::join_all;
use super::mention::{firsts, mentions};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};

pub(super) async fn run(call: &Call, request: CreatePartitionsRequest) -> CreatePartitionsResponse {
    let mentions = mentions(&request.topics, |topic| topic.name.as_str());
    let validate_only = request.validate_only;
    let grown = firsts(request.topics, mentions)
        .map(|(topic, is_twice)| grow(call, topic, validate_only, is_twice));
    CreatePartitionsResponse {
        results: join_all(grown).await,
        ..CreatePartitionsResponse::default()
    }
}

async fn grow(
    call: &Call,
    topic: CreatePartitionsTopic,
    validate_only: bool,
    is_twice: bool,
) -> CreatePartitionsTopicResult {
    let name = topic.name.clone();
    let failed = |name, error_code, message| CreatePartitionsTopicResult {
        name,
        error_code,
        error_message: Some(message),
    };
    if is_twice {
        let message = "the topic stands twice in the request".to_owned();
        return failed(name, ErrorCode::INVALID_REQUEST, message);
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
    match call
        .session
        .broker()
        .create_partitions(request, validate_only)
        .await
    {
        Ok(()) => CreatePartitionsTopicResult {
            name,
            ..CreatePartitionsTopicResult::default()
        },
        Err(error) => failed(name, error.code(), error.to_string()),
    }
}

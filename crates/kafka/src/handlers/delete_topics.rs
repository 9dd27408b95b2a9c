//! DeleteTopics, by name or by id.

use broker::metadata::TopicRef;
use types::TopicId;

use super::Call;
use super::in_time::{InTime, TOO_LATE};
use super::join::{join_all, pieces};
use super::mention::{firsts, mentions};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    DeletableTopicResult, DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse,
};

/// From this version on topics may be named by id.
const STATE_VERSION: i16 = 6;
/// From this version on clients know that deletion can be disabled.
const DISABLED_VERSION: i16 = 3;

pub(super) async fn run(call: &Call, request: DeleteTopicsRequest) -> DeleteTopicsResponse {
    let in_time = InTime::of_request(request.timeout_ms);
    let asked = asked(call, request);
    let mentions = mentions(&asked, |asked| (asked.name.as_deref(), asked.topic_id));
    let mut responses = Vec::new();
    for topics in pieces(firsts(asked, mentions).collect()) {
        let topics = topics.into_iter();
        let deleted = topics.map(|(asked, is_twice)| delete(call, asked, is_twice, in_time));
        responses.extend(join_all(deleted).await);
    }
    DeleteTopicsResponse {
        responses,
        ..DeleteTopicsResponse::default()
    }
}

fn asked(call: &Call, request: DeleteTopicsRequest) -> Vec<DeleteTopicState> {
    if call.version() >= STATE_VERSION {
        return request.topics;
    }
    let names = request.topic_names.into_iter();
    let by_name = names.map(|name| DeleteTopicState {
        name: Some(name),
        topic_id: TopicId::ZERO,
    });
    by_name.collect()
}

async fn delete(
    call: &Call,
    asked: DeleteTopicState,
    is_twice: bool,
    in_time: InTime,
) -> DeletableTopicResult {
    let broker = call.session.broker();
    let failed = |error_code: ErrorCode, message: &str| DeletableTopicResult {
        name: asked.name.clone(),
        topic_id: asked.topic_id,
        error_code,
        error_message: Some(message.to_owned()),
    };
    if !broker.info().delete_enabled {
        let code = if call.version() >= DISABLED_VERSION {
            ErrorCode::TOPIC_DELETION_DISABLED
        } else {
            ErrorCode::INVALID_REQUEST
        };
        return failed(code, "delete.topic.enable is false");
    }
    if is_twice {
        return failed(
            ErrorCode::INVALID_REQUEST,
            "the topic stands twice in the request",
        );
    }
    let topic = match (&asked.name, asked.topic_id) {
        (Some(name), TopicId::ZERO) => TopicRef::Name(name.clone()),
        (None, id) if id != TopicId::ZERO => TopicRef::Id(id),
        _ => {
            return failed(
                ErrorCode::INVALID_REQUEST,
                "a topic needs either a name or an id",
            );
        }
    };
    // An answer by id tells the name as well, and the other way round.
    let found = match &topic {
        TopicRef::Name(name) => broker.shared().topic(name),
        TopicRef::Id(id) => broker.shared().topic_by_id(*id),
    };
    match in_time.wait(broker.delete_topic(topic)).await {
        None => failed(ErrorCode::REQUEST_TIMED_OUT, TOO_LATE),
        Some(Err(error)) => failed(error.code(), &error.to_string()),
        Some(Ok(())) => DeletableTopicResult {
            name: match &found {
                Some(topic) => Some(topic.name.as_ref().to_owned()),
                None => asked.name.clone(),
            },
            topic_id: found.map_or(asked.topic_id, |topic| topic.id),
            ..DeletableTopicResult::default()
        },
    }
}

//! AlterConfigs and IncrementalAlterConfigs, of topics.

use broker::metadata::{AlterConfigRequest, AlterOp, ConfigChange, ConfigOp, TopicRef, check_name};

use super::Call;
use super::in_time::{InTime, TOO_LATE};
use super::join::{join_all, pieces};
use super::mention::{firsts, mentions};
use super::resource::{ResourceType, no_settings};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    AlterConfigsRequest, AlterConfigsResourceResponse, AlterConfigsResponse,
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, IncrementalAlterableConfig,
};

/// A resource and what to change of it.
struct Change {
    resource_type: i8,
    resource_name: String,
    change: Result<ConfigChange, Refusal>,
}

type Refusal = (ErrorCode, String);

/// Sets what is named and lets the broker say the rest.
pub(super) async fn replace(call: &Call, request: AlterConfigsRequest) -> AlterConfigsResponse {
    let resources = request.resources.into_iter();
    let changes = resources.map(|resource| {
        let configs = resource.configs.into_iter();
        let configs = configs.map(|config| (config.name, config.value)).collect();
        Change {
            resource_type: resource.resource_type,
            resource_name: resource.resource_name,
            change: Ok(ConfigChange::Replace(configs)),
        }
    });
    AlterConfigsResponse {
        responses: alter(call, changes.collect(), request.validate_only).await,
        ..AlterConfigsResponse::default()
    }
}

/// Changes what is named and leaves the rest (KIP-339).
pub(super) async fn change(
    call: &Call,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let resources = request.resources.into_iter();
    let changes = resources.map(|resource| Change {
        resource_type: resource.resource_type,
        resource_name: resource.resource_name,
        change: resource
            .configs
            .into_iter()
            .map(to_op)
            .collect::<Result<_, _>>()
            .map(ConfigChange::Incremental),
    });
    IncrementalAlterConfigsResponse {
        responses: alter(call, changes.collect(), request.validate_only).await,
        ..IncrementalAlterConfigsResponse::default()
    }
}

fn to_op(config: IncrementalAlterableConfig) -> Result<ConfigOp, Refusal> {
    let Some(op) = AlterOp::from_number(config.config_operation) else {
        let message = format!("there is no operation {}", config.config_operation);
        return Err((ErrorCode::INVALID_REQUEST, message));
    };
    Ok(ConfigOp {
        name: config.name,
        op,
        value: config.value,
    })
}

async fn alter(
    call: &Call,
    changes: Vec<Change>,
    validate_only: bool,
) -> Vec<AlterConfigsResourceResponse> {
    let mentions = mentions(&changes, |change| {
        (change.resource_type, change.resource_name.as_str())
    });
    let in_time = InTime::usual();
    let mut answers = Vec::new();
    for changes in pieces(firsts(changes, mentions).collect()) {
        let altered = changes.into_iter().map(async |(mut change, is_twice)| {
            if is_twice {
                let message = "the resource stands twice in the request".to_owned();
                change.change = Err((ErrorCode::INVALID_REQUEST, message));
            }
            alter_one(call, change, validate_only, in_time).await
        });
        answers.extend(join_all(altered).await);
    }
    answers
}

async fn alter_one(
    call: &Call,
    change: Change,
    validate_only: bool,
    in_time: InTime,
) -> AlterConfigsResourceResponse {
    let mut response = AlterConfigsResourceResponse {
        error_message: None,
        resource_type: change.resource_type,
        resource_name: change.resource_name.clone(),
        ..AlterConfigsResourceResponse::default()
    };
    if let Err((code, message)) = apply(call, change, validate_only, in_time).await {
        response.error_code = code;
        response.error_message = Some(message);
    }
    response
}

async fn apply(
    call: &Call,
    change: Change,
    validate_only: bool,
    in_time: InTime,
) -> Result<(), Refusal> {
    match ResourceType::from(change.resource_type) {
        ResourceType::Topic => {
            let named = check_name(&change.resource_name);
            named.map_err(|error| (error.code(), error.to_string()))?;
        }
        ResourceType::Broker => {
            let message = "settings of the node change by its configuration and a restart";
            return Err((ErrorCode::INVALID_REQUEST, message.to_owned()));
        }
        ResourceType::Other => {
            let message = no_settings(change.resource_type);
            return Err((ErrorCode::INVALID_REQUEST, message));
        }
    }
    let request = AlterConfigRequest {
        topic: TopicRef::Name(change.resource_name),
        change: change.change?,
    };
    let altered = call.session.broker().alter_config(request, validate_only);
    match in_time.wait(altered).await {
        Some(altered) => altered.map_err(|error| (error.code(), error.to_string())),
        None => Err((ErrorCode::REQUEST_TIMED_OUT, TOO_LATE.to_owned())),
    }
}

//! DescribeConfigs, of topics and of the node.

use std::collections::BTreeSet;

use broker::metadata::check_name;
use broker::topic_config::{self, ConfigEntry};

use super::Call;
use super::mention::{Mention, mentions};
use super::resource::{ResourceType, no_settings};
use crate::config::{BrokerSetting, SettingSource};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};

/// A value from the node's configuration.
const STATIC: i8 = 4;
/// A value that nobody set.
const DEFAULT: i8 = 5;

pub(super) async fn run(call: &Call, request: DescribeConfigsRequest) -> DescribeConfigsResponse {
    let shown = Shown {
        synonyms: request.include_synonyms,
        documentation: request.include_documentation,
    };
    let mut results = Vec::new();
    for resource in distinct(request.resources) {
        results.push(describe(call, resource, shown));
        tokio::task::consume_budget().await;
    }
    DescribeConfigsResponse {
        results,
        ..DescribeConfigsResponse::default()
    }
}

/// Each resource once, with all keys that are asked for.
fn distinct(
    resources: Vec<DescribeConfigsResource>,
) -> impl Iterator<Item = DescribeConfigsResource> {
    let mentions = mentions(&resources, |resource| {
        (resource.resource_type, resource.resource_name.as_str())
    });
    let mut distinct: Vec<_> = resources.into_iter().map(Some).collect();
    for (at, mention) in mentions.into_iter().enumerate() {
        let Mention::Again(first) = mention else {
            continue;
        };
        let again = distinct.get_mut(at).and_then(Option::take);
        if let (Some(again), Some(Some(first))) = (again, distinct.get_mut(first)) {
            add_keys(&mut first.configuration_keys, again.configuration_keys);
        }
    }
    distinct.into_iter().flatten()
}

/// Asks for more keys; none stand for all.
fn add_keys(keys: &mut Option<Vec<String>>, more: Option<Vec<String>>) {
    match (keys.as_mut(), more) {
        (Some(keys), Some(more)) if !keys.is_empty() && !more.is_empty() => keys.extend(more),
        _ => *keys = None,
    }
}

/// What is told beside names and values.
#[derive(Clone, Copy, Debug)]
struct Shown {
    synonyms: bool,
    documentation: bool,
}

type Described = Result<Vec<DescribeConfigsResourceResult>, (ErrorCode, String)>;

fn describe(call: &Call, resource: DescribeConfigsResource, shown: Shown) -> DescribeConfigsResult {
    let described = match ResourceType::from(resource.resource_type) {
        ResourceType::Topic => of_topic(call, &resource.resource_name, shown),
        ResourceType::Broker => of_node(call, &resource.resource_name, shown),
        ResourceType::Other => Err((
            ErrorCode::INVALID_REQUEST,
            no_settings(resource.resource_type),
        )),
    };
    let mut result = DescribeConfigsResult {
        error_message: None,
        resource_type: resource.resource_type,
        resource_name: resource.resource_name,
        ..DescribeConfigsResult::default()
    };
    match described {
        Ok(mut configs) => {
            let keys = resource.configuration_keys.unwrap_or_default();
            let keys: BTreeSet<_> = keys.into_iter().collect();
            if !keys.is_empty() {
                configs.retain(|config| keys.contains(&config.name));
            }
            result.configs = configs;
        }
        Err((code, message)) => {
            result.error_code = code;
            result.error_message = Some(message);
        }
    }
    result
}

fn of_topic(call: &Call, name: &str, shown: Shown) -> Described {
    let broker = call.session.broker();
    check_name(name).map_err(|error| (error.code(), error.to_string()))?;
    let Some(topic) = broker.shared().topic(name) else {
        let message = "there is no such topic".to_owned();
        return Err((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message));
    };
    let entries = topic_config::describe(&topic.configs, &broker.info().defaults);
    Ok(entries
        .into_iter()
        .map(|entry| from_entry(entry, shown))
        .collect())
}

fn from_entry(entry: ConfigEntry, shown: Shown) -> DescribeConfigsResourceResult {
    let synonyms = entry.synonyms.into_iter().filter(|_| shown.synonyms);
    DescribeConfigsResourceResult {
        name: entry.name.to_owned(),
        value: (!entry.sensitive).then_some(entry.value),
        read_only: entry.read_only,
        config_source: entry.source.number(),
        is_sensitive: entry.sensitive,
        synonyms: synonyms
            .map(|synonym| DescribeConfigsSynonym {
                name: synonym.name,
                value: Some(synonym.value),
                source: synonym.source.number(),
            })
            .collect(),
        config_type: entry.config_type.number(),
        documentation: shown.documentation.then(|| entry.documentation.to_owned()),
    }
}

/// The node is named by its id; an empty name means what all nodes were told at run time, which
/// is nothing.
fn of_node(call: &Call, name: &str, shown: Shown) -> Described {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let node_id = call.session.broker().info().node_id;
    if name != node_id.to_string() {
        let message = format!("this is node {node_id}");
        return Err((ErrorCode::INVALID_REQUEST, message));
    }
    let settings = call.session.node().config.broker_settings.iter();
    Ok(settings
        .map(|setting| from_setting(setting, shown))
        .collect())
}

fn from_setting(setting: &BrokerSetting, shown: Shown) -> DescribeConfigsResourceResult {
    let visible = |value: &Option<String>| value.clone().filter(|_| !setting.sensitive);
    let synonym = |value, source| DescribeConfigsSynonym {
        name: setting.name.clone(),
        value,
        source,
    };
    let source = match setting.source {
        SettingSource::Static => STATIC,
        SettingSource::Default => DEFAULT,
    };
    let mut synonyms = Vec::new();
    if shown.synonyms {
        if setting.source == SettingSource::Static {
            synonyms.push(synonym(visible(&setting.value), STATIC));
        }
        if setting.default.is_some() {
            synonyms.push(synonym(visible(&setting.default), DEFAULT));
        }
    }
    DescribeConfigsResourceResult {
        name: setting.name.clone(),
        value: visible(&setting.value),
        // Nothing of the node changes while it runs.
        read_only: true,
        config_source: source,
        is_sensitive: setting.sensitive,
        synonyms,
        config_type: setting.setting_type as i8,
        documentation: shown.documentation.then(|| setting.documentation.clone()),
    }
}

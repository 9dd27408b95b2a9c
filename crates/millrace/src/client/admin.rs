//! Topics and their settings.

use kafka::wire::ApiKey;
use kafka::wire::messages::{
    CreatableTopic, CreatableTopicConfig, CreatePartitionsRequest, CreatePartitionsTopic,
    CreateTopicsRequest, DeleteTopicState, DeleteTopicsRequest, DescribeConfigsRequest,
    DescribeConfigsResource, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResource,
    IncrementalAlterableConfig,
};

use super::cluster::Client;
use super::error::ClientError;

const TOPIC: i8 = 2;
const TIMEOUT_MS: i32 = 30_000;

/// A topic to make; numbers that are missing are the broker's defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewTopic {
    pub(crate) name: String,
    pub(crate) partitions: Option<i32>,
    pub(crate) replication_factor: Option<i16>,
    pub(crate) configs: Vec<(String, String)>,
}

/// A setting of a topic.
#[derive(Clone, Debug)]
pub(crate) struct ConfigEntry {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    /// Set for this topic, not inherited.
    pub(crate) own: bool,
}

/// A change of one setting: a new value, or none to inherit it again.
pub(crate) type ConfigChange = (String, Option<String>);

impl Client {
    /// Makes a topic.
    pub(crate) async fn create_topic(&self, topic: &NewTopic) -> Result<(), ClientError> {
        let config = |(name, value): &(String, String)| CreatableTopicConfig {
            name: name.clone(),
            value: Some(value.clone()),
        };
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: topic.name.clone(),
                num_partitions: topic.partitions.unwrap_or(-1),
                replication_factor: topic.replication_factor.unwrap_or(-1),
                assignments: Vec::new(),
                configs: topic.configs.iter().map(config).collect(),
            }],
            timeout_ms: TIMEOUT_MS,
            validate_only: false,
        };
        let answer = self.any().call(&request).await?;
        let result = first(ApiKey::CreateTopics, answer.topics)?;
        let what = || format!("cannot create topic {}", topic.name);
        ClientError::check(result.error_code, result.error_message, what)
    }

    /// Deletes a topic.
    pub(crate) async fn delete_topic(&self, name: &str) -> Result<(), ClientError> {
        let request = DeleteTopicsRequest {
            topics: vec![DeleteTopicState {
                name: Some(name.to_owned()),
                ..DeleteTopicState::default()
            }],
            topic_names: vec![name.to_owned()],
            timeout_ms: TIMEOUT_MS,
        };
        let answer = self.any().call(&request).await?;
        let result = first(ApiKey::DeleteTopics, answer.responses)?;
        let what = || format!("cannot delete topic {name}");
        ClientError::check(result.error_code, result.error_message, what)
    }

    /// Raises the number of a topic's partitions.
    pub(crate) async fn set_partitions(&self, name: &str, count: i32) -> Result<(), ClientError> {
        let topic = CreatePartitionsTopic {
            name: name.to_owned(),
            count,
            assignments: None,
        };
        let request = CreatePartitionsRequest {
            topics: vec![topic],
            timeout_ms: TIMEOUT_MS,
            validate_only: false,
        };
        let answer = self.any().call(&request).await?;
        let result = first(ApiKey::CreatePartitions, answer.results)?;
        let what = || format!("cannot set the partitions of topic {name} to {count}");
        ClientError::check(result.error_code, result.error_message, what)
    }

    /// All settings of a topic.
    pub(crate) async fn topic_configs(&self, name: &str) -> Result<Vec<ConfigEntry>, ClientError> {
        const OF_TOPIC: i8 = 1;
        let resource = DescribeConfigsResource {
            resource_type: TOPIC,
            resource_name: name.to_owned(),
            configuration_keys: None,
        };
        let request = DescribeConfigsRequest {
            resources: vec![resource],
            ..DescribeConfigsRequest::default()
        };
        let answer = self.any().call(&request).await?;
        let result = first(ApiKey::DescribeConfigs, answer.results)?;
        let what = || format!("cannot describe the settings of topic {name}");
        ClientError::check(result.error_code, result.error_message, what)?;
        let entries = result.configs.into_iter().map(|config| ConfigEntry {
            name: config.name,
            value: config.value,
            own: config.config_source == OF_TOPIC,
        });
        Ok(entries.collect())
    }

    /// Changes settings of a topic.
    pub(crate) async fn alter_topic(
        &self,
        name: &str,
        changes: &[ConfigChange],
    ) -> Result<(), ClientError> {
        const SET: i8 = 0;
        const DELETE: i8 = 1;
        let change = |(name, value): &ConfigChange| IncrementalAlterableConfig {
            name: name.clone(),
            config_operation: if value.is_some() { SET } else { DELETE },
            value: value.clone(),
        };
        let resource = IncrementalAlterConfigsResource {
            resource_type: TOPIC,
            resource_name: name.to_owned(),
            configs: changes.iter().map(change).collect(),
        };
        let request = IncrementalAlterConfigsRequest {
            resources: vec![resource],
            validate_only: false,
        };
        let answer = self.any().call(&request).await?;
        let result = first(ApiKey::IncrementalAlterConfigs, answer.responses)?;
        let what = || format!("cannot alter topic {name}");
        ClientError::check(result.error_code, result.error_message, what)
    }
}

/// The one result of a request about one thing.
fn first<T>(api: ApiKey, results: Vec<T>) -> Result<T, ClientError> {
    let missing = || ClientError::Missing {
        api,
        what: "a result".into(),
    };
    results.into_iter().next().ok_or_else(missing)
}

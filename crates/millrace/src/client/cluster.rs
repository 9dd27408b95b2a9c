//! A cluster as a client sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kafka::wire::messages::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic,
};
use kafka::wire::{ApiKey, ErrorCode};

use super::connection::Connection;
use super::error::ClientError;
use super::offsets::LATEST;

/// How long a command repeats what is refused for a reason that passes by itself.
const PASSING_ERROR_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// A cluster, reached through any of its brokers.
#[derive(Debug)]
pub(crate) struct Client {
    bootstrap: Arc<Connection>,
    timeout: Duration,
    brokers: tokio::sync::Mutex<Brokers>,
}

#[derive(Debug, Default)]
struct Brokers {
    addresses: BTreeMap<i32, String>,
    connections: BTreeMap<i32, Arc<Connection>>,
}

impl Client {
    /// Connects to the first of some servers that answers.
    pub(crate) async fn connect(
        servers: &[String],
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let mut last = None;
        for server in servers {
            match Connection::open(server, timeout).await {
                Ok(connection) => {
                    let bootstrap = Arc::new(connection);
                    return Ok(Self {
                        bootstrap,
                        timeout,
                        brokers: Default::default(),
                    });
                }
                Err(error) => last = Some(error),
            }
        }
        let none = std::io::ErrorKind::InvalidInput.into();
        Err(last.unwrap_or(ClientError::Connect {
            server: "no server".into(),
            source: none,
        }))
    }

    /// The connection to the server that was named; for requests that any broker answers.
    pub(crate) fn any(&self) -> &Connection {
        &self.bootstrap
    }

    /// Asks for topics, for all of them if none is named.
    pub(crate) async fn metadata(
        &self,
        topics: Option<&[String]>,
        create: bool,
    ) -> Result<MetadataResponse, ClientError> {
        let topic = |name: &String| MetadataRequestTopic {
            name: Some(name.clone()),
            ..MetadataRequestTopic::default()
        };
        let request = MetadataRequest {
            topics: topics.map(|names| names.iter().map(topic).collect()),
            allow_auto_topic_creation: create,
            ..MetadataRequest::default()
        };
        let answer = self.bootstrap.call(&request).await?;
        ClientError::check(answer.error_code, None, || "metadata".into())?;
        let address = |host: &str, port: i32| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let known = answer
            .brokers
            .iter()
            .map(|b| (b.node_id, address(&b.host, b.port)));
        self.brokers.lock().await.addresses = known.collect();
        Ok(answer)
    }

    /// One topic, once all its partitions have leaders that serve them; waits for that a while.
    pub(crate) async fn topic(
        &self,
        name: &str,
        create: bool,
    ) -> Result<MetadataResponseTopic, ClientError> {
        let passing = |code| {
            code == ErrorCode::LEADER_NOT_AVAILABLE
                || code == ErrorCode::NOT_LEADER_OR_FOLLOWER
                || (create && code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
        };
        retry(passing, async || {
            let topic = self.topic_now(name, create).await?;
            let errors = topic.partitions.iter().map(|p| p.error_code);
            for code in std::iter::once(topic.error_code).chain(errors) {
                ClientError::check(code, None, || format!("topic {name}"))?;
            }
            // Metadata names a leader a moment before that broker serves the partition.
            let all: Vec<_> = topic.partitions.iter().map(|p| p.partition_index).collect();
            self.offsets(&topic, &all, LATEST).await?;
            Ok(topic)
        })
        .await
    }

    async fn topic_now(
        &self,
        name: &str,
        create: bool,
    ) -> Result<MetadataResponseTopic, ClientError> {
        let answer = self.metadata(Some(&[name.to_owned()]), create).await?;
        let missing = || ClientError::Missing {
            api: ApiKey::Metadata,
            what: format!("topic {name}"),
        };
        answer.topics.into_iter().next().ok_or_else(missing)
    }

    /// The address of a broker that the last metadata named.
    pub(crate) async fn address(&self, node_id: i32) -> Result<String, ClientError> {
        let brokers = self.brokers.lock().await;
        let missing = || ClientError::Missing {
            api: ApiKey::Metadata,
            what: format!("broker {node_id}"),
        };
        brokers.addresses.get(&node_id).cloned().ok_or_else(missing)
    }

    /// A connection to a broker that the last metadata named.
    pub(crate) async fn broker(&self, node_id: i32) -> Result<Arc<Connection>, ClientError> {
        let address = self.address(node_id).await?;
        let mut brokers = self.brokers.lock().await;
        if let Some(connection) = brokers.connections.get(&node_id) {
            return Ok(connection.clone());
        }
        let connection = if address == self.bootstrap.server() {
            self.bootstrap.clone()
        } else {
            Arc::new(Connection::open(&address, self.timeout).await?)
        };
        brokers.connections.insert(node_id, connection.clone());
        Ok(connection)
    }
}

/// Does something until it is no longer refused for a reason that passes by itself.
pub(super) async fn retry<T>(
    passing: impl Fn(ErrorCode) -> bool,
    mut attempt: impl AsyncFnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut left = PASSING_ERROR_TIMEOUT;
    loop {
        match attempt().await {
            Err(error) if !left.is_zero() && error.code().is_some_and(&passing) => {}
            other => return other,
        }
        pause(RETRY_PAUSE).await;
        left = left.saturating_sub(RETRY_PAUSE);
    }
}

/// Waits between two questions to a broker.
#[expect(
    clippy::disallowed_methods,
    reason = "a broker has no event for what is waited for"
)]
async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

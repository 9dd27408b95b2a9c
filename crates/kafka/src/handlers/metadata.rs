//! Metadata: the node, topics and partitions; topics that are asked for first are made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use broker::Topic;
use broker::metadata::{CreateTopicRequest, check_name, is_internal};
use types::TopicId;

use super::create_topics::{PARTITIONS_MAX, TOPICS_MAX};
use super::in_time::InTime;
use super::join::{join_all, pieces};
use super::mention::{firsts, mentions};
use super::{Call, operations};
use crate::error_code::ToCode;
use crate::wire::ErrorCode;
use crate::wire::messages::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseBroker,
    MetadataResponsePartition, MetadataResponseTopic,
};

/// Up to this version an empty list stands for all topics.
const EMPTY_IS_ALL_VERSION: i16 = 0;
/// From this version on topics are asked for by id.
const ID_VERSION: i16 = 12;

pub(super) async fn run(call: &Call, request: MetadataRequest) -> MetadataResponse {
    let broker = call.session.broker();
    let info = broker.info();
    let describe = Describe {
        node_id: info.node_id,
        leader_epoch: broker.shared().leader_epoch().0,
        authorized_operations: operations::on_topic(request.include_topic_authorized_operations),
    };
    let is_all = |topics: &Vec<_>| topics.is_empty() && call.version() <= EMPTY_IS_ALL_VERSION;
    let topics = match request.topics.filter(|topics| !is_all(topics)) {
        Some(topics) => {
            let create = request.allow_auto_topic_creation && info.auto_create;
            let create = create.then(|| Creation::new(info.partitions_default));
            let mentions = mentions(&topics, |topic| key(topic, call.version()));
            let topics = firsts(topics, mentions).map(|(topic, _)| topic).collect();
            let mut described = Vec::new();
            for topics in pieces(topics) {
                let topics = topics.into_iter();
                let asked = topics.map(|topic| asked(call, &describe, topic, create.as_ref()));
                described.extend(join_all(asked).await);
            }
            described
        }
        None => {
            let mut described = Vec::new();
            for topic in broker.shared().topics() {
                described.push(describe.topic(&topic));
                tokio::task::consume_budget().await;
            }
            described
        }
    };
    let asks_operations = request.include_cluster_authorized_operations;
    MetadataResponse {
        brokers: vec![this_node(call)],
        cluster_id: Some(info.cluster_id.clone()),
        controller_id: info.node_id,
        topics,
        cluster_authorized_operations: operations::on_cluster(asks_operations),
        ..MetadataResponse::default()
    }
}

fn this_node(call: &Call) -> MetadataResponseBroker {
    let endpoint = call.session.endpoint();
    MetadataResponseBroker {
        node_id: call.session.broker().info().node_id,
        host: endpoint.host,
        port: endpoint.port,
        rack: None,
    }
}

/// What a topic is asked for by.
fn key(asked: &MetadataRequestTopic, version: i16) -> (Option<&str>, TopicId) {
    if is_by_id(asked, version) {
        (None, asked.topic_id)
    } else {
        (asked.name.as_deref(), TopicId::ZERO)
    }
}

fn is_by_id(asked: &MetadataRequestTopic, version: i16) -> bool {
    asked.topic_id != TopicId::ZERO && version >= ID_VERSION
}

/// The topics that a request makes by asking for them.
struct Creation {
    in_time: InTime,
    /// How many more it may make.
    left: AtomicUsize,
}

impl Creation {
    fn new(partitions: i32) -> Self {
        let partitions = usize::try_from(partitions).unwrap_or(0).max(1);
        let most = (PARTITIONS_MAX / partitions).clamp(1, TOPICS_MAX);
        Self {
            // A client that asks for metadata asks again anyway.
            in_time: InTime::of_request(0),
            left: AtomicUsize::new(most),
        }
    }

    /// Whether one more may be made; it counts.
    fn is_allowed(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        let updated = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        updated.is_ok()
    }
}

/// A topic that is asked for by name or id.
async fn asked(
    call: &Call,
    describe: &Describe,
    asked: MetadataRequestTopic,
    create: Option<&Creation>,
) -> MetadataResponseTopic {
    let shared = call.session.broker().shared();
    if is_by_id(&asked, call.version()) {
        return match shared.topic_by_id(asked.topic_id) {
            Some(topic) => describe.topic(&topic),
            None => MetadataResponseTopic {
                name: None,
                topic_id: asked.topic_id,
                ..describe.error(String::new(), ErrorCode::UNKNOWN_TOPIC_ID)
            },
        };
    }
    let Some(name) = asked.name else {
        return describe.error(String::new(), ErrorCode::INVALID_TOPIC_EXCEPTION);
    };
    if let Some(topic) = shared.topic(&name) {
        return describe.topic(&topic);
    }
    if let Err(error) = check_name(&name) {
        return describe.error(name, error.code());
    }
    let Some(create) = create.filter(|_| !is_internal(&name)) else {
        return describe.error(name, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    match make(call, &name, create).await {
        Ok(topic) => describe.topic(&topic),
        Err(code) => describe.error(name, code),
    }
}

/// Makes a topic with the broker's defaults. It is there when this ends.
async fn make(call: &Call, name: &str, create: &Creation) -> Result<Arc<Topic>, ErrorCode> {
    if !create.is_allowed() {
        return Err(ErrorCode::POLICY_VIOLATION);
    }
    let broker = call.session.broker();
    let made = broker.create_topic(CreateTopicRequest::with_defaults(name), false);
    let code = match create.in_time.wait(made).await {
        None | Some(Ok(_)) => ErrorCode::LEADER_NOT_AVAILABLE,
        Some(Err(error)) => match error.code() {
            // Somebody else is making it: clients ask again after this.
            ErrorCode::TOPIC_ALREADY_EXISTS => ErrorCode::LEADER_NOT_AVAILABLE,
            code => code,
        },
    };
    broker.shared().topic(name).ok_or(code)
}

/// What is the same for all topics of an answer.
struct Describe {
    node_id: i32,
    leader_epoch: i32,
    authorized_operations: i32,
}

impl Describe {
    fn topic(&self, topic: &Topic) -> MetadataResponseTopic {
        let partitions = topic.partitions.iter();
        MetadataResponseTopic {
            name: Some(topic.name.as_ref().to_owned()),
            topic_id: topic.id,
            is_internal: is_internal(&topic.name),
            partitions: partitions
                .map(|partition| self.partition(partition.number))
                .collect(),
            topic_authorized_operations: self.authorized_operations,
            ..MetadataResponseTopic::default()
        }
    }

    fn partition(&self, number: i32) -> MetadataResponsePartition {
        MetadataResponsePartition {
            partition_index: number,
            leader_id: self.node_id,
            leader_epoch: self.leader_epoch,
            replica_nodes: vec![self.node_id],
            isr_nodes: vec![self.node_id],
            ..MetadataResponsePartition::default()
        }
    }

    fn error(&self, name: String, error_code: ErrorCode) -> MetadataResponseTopic {
        MetadataResponseTopic {
            error_code,
            is_internal: is_internal(&name),
            name: Some(name),
            ..MetadataResponseTopic::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_makes_as_many_topics_as_one_that_says_so() {
        let made = |partitions| {
            let creation = Creation::new(partitions);
            (0..2 * TOPICS_MAX)
                .filter(|_| creation.is_allowed())
                .count()
        };
        assert_eq!(made(1), TOPICS_MAX);
        assert_eq!(made(1_000), PARTITIONS_MAX / 1_000);
        assert_eq!(made(i32::MAX), 1);
    }
}

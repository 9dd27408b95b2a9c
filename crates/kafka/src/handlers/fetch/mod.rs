//! Fetch: whole batches as they are stored, as soon as there are enough of them.
//!
//! There are no sessions yet: every request names all partitions, and the answer's session id is
//! 0 (KIP-227 allows that).

mod partition;
mod wait;

use std::collections::BTreeSet;
use std::time::Duration;

use broker::{LogPosition, Spans};
use record::Codec;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use types::limits::{
    BATCH_BYTES_DEFAULT, KAFKA_FETCH_ANSWER_BYTES, KAFKA_FETCH_SHARE_BYTES, KAFKA_FETCH_STEP,
    KAFKA_LARGE_FETCH_WAIT_MS_MAX, KAFKA_TRUSTED_FRAME_BYTES_MAX,
};

use self::partition::{Asked, Found};
use super::{Call, Closed, Node, Outcome};
use crate::server::Answer;
use crate::wire::messages::{
    FetchRequest, FetchResponse, FetchTopic, FetchableTopicResponse, NodeEndpoint, PartitionData,
};
use crate::wire::{ErrorCode, encode_response};

/// From this version on there are sessions.
const SESSION_VERSION: i16 = 7;
/// Below this version zstd is not known to clients.
const ZSTD_VERSION: i16 = 10;
/// From this version on topics are named by id.
const ID_VERSION: i16 = 13;
/// From this version on an answer tells where the leader listens.
const ENDPOINTS_VERSION: i16 = 16;

pub(super) async fn run(
    call: Call,
    mut request: FetchRequest,
    bytes: usize,
) -> Result<Outcome, Closed> {
    if let Some(code) = session_error(&request, call.version()) {
        let error_code = code;
        return call.answer(&FetchResponse {
            error_code,
            ..FetchResponse::default()
        });
    }
    if bytes > KAFKA_TRUSTED_FRAME_BYTES_MAX {
        // It holds memory that all large requests share.
        request.max_wait_ms = request.max_wait_ms.min(KAFKA_LARGE_FETCH_WAIT_MS_MAX);
    }
    forget_repeats(&mut request.topics);
    let fetch = Fetch::new(&call, &request);
    let (response, charge) = fetch.run().await;
    let header = &call.header;
    let chunks = encode_response(header.version, header.correlation_id, &response)?;
    Ok(Some(Answer::charged(chunks, charge)))
}

/// Whether the client goes on with a session. It was never given one, so it is told to begin
/// anew with a full request.
fn session_error(request: &FetchRequest, version: i16) -> Option<ErrorCode> {
    if version < SESSION_VERSION || request.session_epoch <= 0 {
        return None;
    }
    Some(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)
}

/// Leaves each partition where it is named first: a reader waits in it once, and is told once.
fn forget_repeats(topics: &mut [FetchTopic]) {
    let mut seen = BTreeSet::new();
    for topic in topics {
        let FetchTopic {
            topic: name,
            topic_id,
            partitions,
            ..
        } = topic;
        let (name, id) = (name.as_str(), *topic_id);
        partitions.retain(|partition| seen.insert((name, id, partition.partition)));
    }
}

/// One request while it is served.
struct Fetch<'a> {
    call: &'a Call,
    request: &'a FetchRequest,
    /// The partitions asked for, topic by topic.
    asked: Vec<Vec<Asked>>,
    bytes_min: usize,
    bytes_max: usize,
}

/// What one look at the partitions gave.
struct Look {
    found: Vec<Vec<Found>>,
    bytes: usize,
    /// Waiting would not help: a partition has something to say other than records or more of them
    /// than it gave, or memory allowed no more.
    is_final: bool,
    charge: Option<OwnedSemaphorePermit>,
}

impl<'a> Fetch<'a> {
    fn new(call: &'a Call, request: &'a FetchRequest) -> Self {
        let config = &call.session.node().config;
        let asked = request
            .topics
            .iter()
            .map(|topic| resolve(call, topic))
            .collect();
        let bytes_max = unsigned(request.max_bytes).min(config.fetch_bytes_max);
        Self {
            call,
            request,
            asked,
            bytes_min: unsigned(request.min_bytes).min(bytes_max),
            bytes_max,
        }
    }

    async fn run(&self) -> (FetchResponse, Option<OwnedSemaphorePermit>) {
        let idle_max = self.call.session.node().config.idle_max;
        let max_wait = Duration::from_millis(unsigned(self.request.max_wait_ms) as u64);
        let deadline = Instant::now() + max_wait.min(idle_max);
        loop {
            let look = self.look_for_enough().await;
            let is_final = look.is_final || self.partitions().next().is_none();
            if is_final || look.bytes >= self.bytes_min || self.is_over(deadline) {
                return self.answer(look);
            }
            wait::for_more(self, look, deadline).await;
        }
    }

    /// Whether it is time to answer with what there is.
    fn is_over(&self, deadline: Instant) -> bool {
        self.call.session.node().is_closing() || deadline <= Instant::now()
    }

    fn partitions(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().flatten()
    }

    /// Looks at what stands together in the log; where that is not what the client wants at least,
    /// at all that there is.
    async fn look_for_enough(&self) -> Look {
        let begins = self.partitions().map(Asked::begin);
        let positions = self.call.session.broker().positions(begins).await;
        let spans = Spans::of(positions.iter().copied().flatten());
        let look = self.look(&positions, &spans).await;
        if spans.is_empty() || look.bytes >= self.bytes_min {
            return look;
        }
        drop(look);
        self.look(&positions, &Spans::default()).await
    }

    /// Reads the partitions in the order in which they are asked for, those that begin at a
    /// position up to the end of its span.
    async fn look(&self, positions: &[Option<LogPosition>], spans: &Spans) -> Look {
        let node = self.call.session.node();
        // Batches are whole: what is wanted at least may end in the middle of one.
        let enough = KAFKA_FETCH_ANSWER_BYTES.max(self.bytes_min + BATCH_BYTES_DEFAULT);
        let wanted = self.bytes_max.min(enough).min(self.available_bytes());
        let (memory, charge) = node.fetch_memory(wanted);
        let mut look = Look {
            found: Vec::with_capacity(self.asked.len()),
            bytes: 0,
            is_final: memory < wanted,
            charge,
        };
        let mut unyielded = 0;
        let mut waiting = self.partitions().filter(|asked| asked.has_more()).count();
        let mut positions = positions.iter().copied();
        for topic in &self.asked {
            let mut partitions = Vec::with_capacity(topic.len());
            for asked in topic {
                let left = memory.saturating_sub(look.bytes);
                let parts = if spans.is_empty() { 1 } else { waiting.max(1) };
                let share = (left / parts).max(KAFKA_FETCH_SHARE_BYTES).min(left);
                waiting = waiting.saturating_sub(usize::from(asked.has_more()));
                let limits = spans.limits(positions.next().flatten(), share, look.bytes == 0);
                let found = asked.read(self.call, limits).await;
                look.bytes += found.records.len();
                look.is_final |= found.is_final();
                partitions.push(found);
                unyielded += 1;
                if unyielded == KAFKA_FETCH_STEP {
                    unyielded = 0;
                    tokio::task::consume_budget().await;
                }
            }
            look.found.push(partitions);
        }
        Node::trim_fetch_memory(&mut look.charge, look.bytes);
        look
    }

    /// Bytes that the partitions which have any may give, at most.
    fn available_bytes(&self) -> usize {
        let limits = self.partitions().map(Asked::available_bytes);
        limits.fold(0, usize::saturating_add)
    }

    fn answer(&self, look: Look) -> (FetchResponse, Option<OwnedSemaphorePermit>) {
        let broker = self.call.session.broker();
        let leader_epoch = broker.shared().leader_epoch();
        let isolation_level = self.request.isolation_level;
        let mut response = FetchResponse::default();
        let mut names_leader = false;
        let mut found = look.found.into_iter();
        for topic in &self.request.topics {
            let partitions = found.next().unwrap_or_default().into_iter();
            let partitions: Vec<PartitionData> = partitions
                .map(|found| found.into_data(self.call, leader_epoch, isolation_level))
                .collect();
            names_leader |= partitions
                .iter()
                .any(|data| data.current_leader.leader_id >= 0);
            response.responses.push(FetchableTopicResponse {
                topic: topic.topic.clone(),
                topic_id: topic.topic_id,
                partitions,
            });
        }
        if names_leader && self.call.version() >= ENDPOINTS_VERSION {
            response.node_endpoints.push(this_node(self.call));
        }
        (response, look.charge)
    }
}

fn this_node(call: &Call) -> NodeEndpoint {
    let endpoint = call.session.endpoint();
    NodeEndpoint {
        node_id: call.session.broker().info().node_id,
        host: endpoint.host,
        port: endpoint.port,
        rack: None,
    }
}

fn resolve(call: &Call, asked: &FetchTopic) -> Vec<Asked> {
    let shared = call.session.broker().shared();
    let (topic, unknown) = if call.version() >= ID_VERSION {
        (
            shared.topic_by_id(asked.topic_id),
            ErrorCode::UNKNOWN_TOPIC_ID,
        )
    } else {
        (
            shared.topic(&asked.topic),
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        )
    };
    let topic = match topic.as_deref() {
        None => Err(unknown),
        // What producers pack with zstd in other topics is theirs to agree on with readers.
        Some(topic)
            if topic.settings.codec == Some(Codec::Zstd) && call.version() < ZSTD_VERSION =>
        {
            Err(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE)
        }
        Some(topic) => Ok(topic),
    };
    let partitions = asked.partitions.iter();
    partitions
        .map(|partition| Asked::new(topic, partition))
        .collect()
}

/// What a client asks for; a negative number asks for nothing.
fn unsigned(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

//! Produce: batches are checked here, on the connection's own task, and proposed to the owner.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use broker::metadata::is_internal;
use broker::owner::{AppendPart, AppendResults, Appended};
use broker::{AppendError, Partition, Stopped, Topic};
use bytes::Bytes;
use record::{BatchError, CheckedBatch, Rules};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;
use types::PartitionId;
use types::limits::{
    CHECK_STEP_US, KAFKA_CHANGE_MS_MIN, KAFKA_REFUSALS_MAX, UNPACKED_BATCH_BYTES_MAX,
};

use super::{Call, Closed, Outcome};
use crate::error_code::{ToCode, for_version};
use crate::wire::messages::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, ProduceRequest, ProduceResponse,
    TopicProduceData, TopicProduceResponse,
};
use crate::wire::{ApiKey, ErrorCode};

/// Below this version zstd is not known to clients.
const ZSTD_VERSION: i16 = 7;
/// From this version on an answer tells which records were at fault.
const RECORD_ERRORS_VERSION: i16 = 8;
/// How long batches are checked before others get their turn.
const CHECK_STEP: Duration = Duration::from_micros(CHECK_STEP_US);
/// Acknowledged by all replicas.
const ACKS_ALL: i16 = -1;
/// The one client that may write to the broker's own topics.
const ADMIN_CLIENT: &str = "__admin_client";

/// What a Produce request is after its start.
#[derive(Debug)]
pub(crate) enum Started {
    /// Its batches are proposed.
    Appending(Appending),
    /// It is done already.
    Done(Outcome),
}

/// A Produce request whose batches are proposed.
#[derive(Debug)]
pub(crate) struct Appending {
    call: Call,
    response: ProduceResponse,
    /// Where in the response the result of each batch goes: topic and partition.
    places: Vec<(usize, usize)>,
    results: oneshot::Receiver<AppendResults>,
    /// When it is answered though its batches are not safe yet.
    deadline: Option<Instant>,
    /// The client wants no answer: only a closed connection says that something was refused.
    is_silent: bool,
}

/// Does all of a request that could not begin early.
pub(super) async fn run(
    call: Call,
    request: ProduceRequest,
    bytes: usize,
) -> Result<Outcome, Closed> {
    match start(call, request, bytes).await? {
        Started::Done(outcome) => Ok(outcome),
        Started::Appending(mut appending) => poll_fn(|cx| appending.poll(cx)).await,
    }
}

/// Checks the batches and proposes those that passed.
pub(super) async fn start(
    call: Call,
    request: ProduceRequest,
    bytes: usize,
) -> Result<Started, Closed> {
    let deadline = deadline(&request);
    let admitted = admit(&call, bytes, deadline).await;
    let acks = request.acks;
    let mut checking = Checking::new(&call, &request);
    if admitted.is_none() {
        checking.refused = Some(TIMED_OUT);
    }
    let checked = checking.check(request.topic_data).await;
    // Without a permit the node closes; then the owner says so.
    let permit = admitted.flatten();
    let Checked {
        parts,
        places,
        response,
    } = checked;
    let is_silent = acks == 0;
    if parts.is_empty() {
        return Ok(Started::Done(outcome(&call, &response, is_silent)?));
    }
    let results = call.session.broker().append(parts, permit);
    Ok(Started::Appending(Appending {
        call,
        response,
        places,
        results,
        deadline,
        is_silent,
    }))
}

/// What a client hears of its batches.
fn outcome(call: &Call, response: &ProduceResponse, is_silent: bool) -> Result<Outcome, Closed> {
    if !is_silent {
        return call.answer(response);
    }
    let topics = response.responses.iter();
    let mut partitions = topics.flat_map(|topic| &topic.partition_responses);
    let refused = partitions.find(|partition| !partition.error_code.is_none());
    refused.map_or(Ok(None), |partition| {
        let name = partition.error_code.name();
        Err(Closed::Unanswered(name.unwrap_or("an error")))
    })
}

/// Until when a request waits. As in Apache Kafka, the client's time counts where it asks for all
/// replicas; otherwise an answer says what became of the batches, whenever that is known. It never
/// counts there while the leader appends: what leaves no time for a sync could not succeed.
fn deadline(request: &ProduceRequest) -> Option<Instant> {
    let asked = u64::try_from(request.timeout_ms).unwrap_or(0);
    let wait = Duration::from_millis(asked.max(KAFKA_CHANGE_MS_MIN));
    (request.acks == ACKS_ALL).then(|| Instant::now() + wait)
}

/// Waits for the memory of a request; `None` when its time is up before.
async fn admit(
    call: &Call,
    bytes: usize,
    deadline: Option<Instant>,
) -> Option<Option<OwnedSemaphorePermit>> {
    let mut admission = pin!(call.session.broker().admit(bytes));
    poll_fn(|cx| match (admission.as_mut().poll(cx), deadline) {
        (Poll::Ready(permit), _) => Poll::Ready(Some(permit)),
        (Poll::Pending, Some(deadline)) => {
            let timer = call.session.produce_timer();
            timer.poll_until(deadline, cx).map(|()| None)
        }
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}

impl Appending {
    /// The answer, once the owner has decided and the log is as safe as the topics want it, or the
    /// client's time is up.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Outcome, Closed>> {
        match Pin::new(&mut self.results).poll(cx) {
            Poll::Ready(results) => self.fill(results.unwrap_or_default()),
            Poll::Pending if self.is_late(cx) => self.fill_late(),
            Poll::Pending => return Poll::Pending,
        }
        Poll::Ready(outcome(&self.call, &self.response, self.is_silent))
    }

    /// Whether the client's time is up; if not, the task is woken when it is.
    fn is_late(&self, cx: &mut Context<'_>) -> bool {
        let timer = self.call.session.produce_timer();
        self.deadline
            .is_some_and(|deadline| timer.poll_until(deadline, cx).is_ready())
    }

    fn fill(&mut self, results: AppendResults) {
        let stopped = || Err(AppendError::Stopped(Stopped));
        let results = results.into_iter().map(Some);
        let results = results.chain(std::iter::repeat_with(|| None));
        let version = self.call.version();
        for ((topic, partition), result) in self.places.iter().zip(results) {
            if let Some(place) = place(&mut self.response, *topic, *partition) {
                fill(place, result.unwrap_or_else(stopped), version);
            }
        }
    }

    /// The batches may still be appended: the client only knows that it does not know.
    fn fill_late(&mut self) {
        let version = self.call.version();
        let mut refusals = Refusals::default();
        for (topic, partition) in &self.places {
            if let Some(place) = place(&mut self.response, *topic, *partition) {
                refuse(place, &TIMED_OUT, &mut refusals, version);
            }
        }
    }
}

fn place(
    response: &mut ProduceResponse,
    topic: usize,
    partition: usize,
) -> Option<&mut PartitionProduceResponse> {
    let topic = response.responses.get_mut(topic)?;
    topic.partition_responses.get_mut(partition)
}

/// Puts a result into its place in the response.
fn fill(place: &mut PartitionProduceResponse, result: Result<Appended, AppendError>, version: i16) {
    match result {
        Ok(appended) => {
            place.base_offset = appended.base_offset.0;
            place.log_append_time_ms = appended.log_append_time_ms.unwrap_or(-1);
            place.log_start_offset = appended.log_start.0;
        }
        Err(error) => {
            place.error_code = for_version(error.code(), ApiKey::Produce, version);
            place.error_message = Some(error.to_string());
        }
    }
}

/// The batches of one request while they are looked at.
struct Checking<'a> {
    call: &'a Call,
    /// What all partitions are refused with.
    refused: Option<Refusal>,
    now_ms: i64,
    /// Partitions seen so far.
    seen: Vec<PartitionId>,
    refusals: Refusals,
    checked: Checked,
    /// Since when others had no turn.
    since: Instant,
}

#[derive(Default)]
struct Checked {
    parts: Vec<AppendPart>,
    places: Vec<(usize, usize)>,
    response: ProduceResponse,
}

/// Why a batch is not proposed.
#[derive(Clone, Debug)]
enum Refusal {
    /// A code says it all.
    Code(ErrorCode, &'static str),
    /// The batch is wrong.
    Batch(BatchError),
}

const TRANSACTIONS: Refusal = Refusal::Code(
    ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "this version has no transactions",
);
const UNKNOWN: Refusal = Refusal::Code(
    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    "there is no such partition",
);
const INTERNAL: Refusal = Refusal::Code(
    ErrorCode::INVALID_TOPIC_EXCEPTION,
    "the topic is the broker's own",
);
const TIMED_OUT: Refusal = Refusal::Code(
    ErrorCode::REQUEST_TIMED_OUT,
    "the batch was not on disk within the request's time",
);
const TWICE: Refusal = Refusal::Code(
    ErrorCode::INVALID_REQUEST,
    "the partition stands twice in the request",
);

impl<'a> Checking<'a> {
    fn new(call: &'a Call, request: &ProduceRequest) -> Self {
        let refused = if !matches!(request.acks, -1..=1) {
            Some(Refusal::Code(
                ErrorCode::INVALID_REQUIRED_ACKS,
                "acks must be -1, 0 or 1",
            ))
        } else if request.transactional_id.is_some() {
            Some(TRANSACTIONS)
        } else {
            None
        };
        Self {
            call,
            refused,
            now_ms: call.session.broker().clock().now_ms(),
            seen: Vec::new(),
            refusals: Refusals::default(),
            checked: Checked::default(),
            since: Instant::now(),
        }
    }

    async fn check(mut self, topics: Vec<TopicProduceData>) -> Checked {
        for data in topics {
            let topic = self.call.session.broker().shared().topic(&data.name);
            self.checked.response.responses.push(TopicProduceResponse {
                name: data.name,
                topic_id: data.topic_id,
                partition_responses: Vec::with_capacity(data.partition_data.len()),
            });
            for partition in data.partition_data {
                let records = partition.records.unwrap_or_default();
                self.partition(topic.as_deref(), partition.index, records);
                self.give_way().await;
            }
        }
        self.checked
    }

    /// Checking is the connection's own work, but not at the cost of all others. What counts is time:
    /// a few packed bytes may be many.
    async fn give_way(&mut self) {
        if self.since.elapsed() > CHECK_STEP {
            tokio::task::yield_now().await;
            self.since = Instant::now();
        }
    }

    fn partition(&mut self, topic: Option<&Topic>, index: i32, records: Bytes) {
        let batch = self.accept(topic, index, records);
        let Some(topic) = self.checked.response.responses.last_mut() else {
            return;
        };
        let mut place = PartitionProduceResponse {
            index,
            base_offset: -1,
            ..PartitionProduceResponse::default()
        };
        match batch {
            Ok(part) => {
                self.checked.parts.push(part);
                let partition = topic.partition_responses.len();
                let topic = self.checked.response.responses.len() - 1;
                self.checked.places.push((topic, partition));
            }
            Err(refusal) => {
                let version = self.call.version();
                refuse(&mut place, &refusal, &mut self.refusals, version);
            }
        }
        if let Some(topic) = self.checked.response.responses.last_mut() {
            topic.partition_responses.push(place);
        }
    }

    /// The part to propose for one partition.
    fn accept(
        &mut self,
        topic: Option<&Topic>,
        index: i32,
        records: Bytes,
    ) -> Result<AppendPart, Refusal> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let topic = topic.ok_or(UNKNOWN)?;
        let partition = topic.partition(index).ok_or(UNKNOWN)?;
        let is_admin = self.call.header.client_id.as_deref() == Some(ADMIN_CLIENT);
        if is_internal(&topic.name) && !is_admin {
            return Err(INTERNAL);
        }
        self.note(partition)?;
        let batch = record::check(&records, &self.rules(topic)).map_err(Refusal::Batch)?;
        if batch.header.attributes.is_transactional() {
            return Err(TRANSACTIONS);
        }
        Ok(part(partition, batch))
    }

    /// The owner takes one batch for each partition.
    fn note(&mut self, partition: &Partition) -> Result<(), Refusal> {
        match self.seen.binary_search(&partition.id) {
            Ok(_) => Err(TWICE),
            Err(at) => {
                self.seen.insert(at, partition.id);
                Ok(())
            }
        }
    }

    fn rules(&self, topic: &Topic) -> Rules {
        let settings = &topic.settings;
        Rules {
            max_bytes: settings.max_message_bytes,
            unpacked_bytes_max: UNPACKED_BATCH_BYTES_MAX,
            timestamp_type: settings.timestamp_type,
            before_max_ms: settings.before_max_ms,
            after_max_ms: settings.after_max_ms,
            now_ms: self.now_ms,
            // This version compacts no topic.
            keys_required: false,
            codec: settings.codec,
            levels: settings.levels,
            zstd_allowed: self.call.version() >= ZSTD_VERSION,
        }
    }
}

fn part(partition: &Partition, batch: CheckedBatch) -> AppendPart {
    AppendPart {
        partition: partition.id,
        batch,
        origin: broker::Origin::Kafka,
    }
}

/// What an answer may still say of refused batches beside their codes: a refused batch takes a few
/// bytes of a request.
struct Refusals {
    messages_left: usize,
    records_left: usize,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            messages_left: KAFKA_REFUSALS_MAX,
            records_left: KAFKA_REFUSALS_MAX,
        }
    }
}

fn refuse(
    place: &mut PartitionProduceResponse,
    refusal: &Refusal,
    refusals: &mut Refusals,
    version: i16,
) {
    place.error_code = match refusal {
        Refusal::Code(code, _) => *code,
        Refusal::Batch(error) => error.code(),
    };
    if refusals.messages_left > 0 {
        refusals.messages_left -= 1;
        place.error_message = Some(match refusal {
            Refusal::Code(_, message) => (*message).to_owned(),
            Refusal::Batch(error) => error.to_string(),
        });
    }
    if let (Refusal::Batch(error), true) = (refusal, version >= RECORD_ERRORS_VERSION) {
        place.record_errors = record_errors(error, refusals.records_left);
        refusals.records_left -= place.record_errors.len();
    }
}

fn record_errors(error: &BatchError, most: usize) -> Vec<BatchIndexAndErrorMessage> {
    let faulty = error.record_errors().iter().take(most);
    let errors = faulty.map(|faulty| BatchIndexAndErrorMessage {
        batch_index: faulty.index,
        batch_index_error_message: Some(faulty.flaw.to_string()),
    });
    errors.collect()
}

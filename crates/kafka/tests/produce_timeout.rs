//! Produce requests whose batches are not safe in time.

mod support;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use disk::{Disk, Op, Operation, Phase, RealDisk, RecordingDisk};
use millrace_kafka::wire::ErrorCode;
use millrace_kafka::wire::messages::*;
use support::{Client, Settings, TestNode, batch, eventually, fetch, produce, values};
use tokio::time::Instant;
use types::limits::{KAFKA_CHANGE_MS_MIN, QUICK_SYNC_MS_MAX};

/// A disk whose syncs wait while it is shut.
#[derive(Debug, Default)]
struct Gate {
    is_shut: Mutex<bool>,
    opened: Condvar,
    /// Each sync takes so long at least.
    takes: Duration,
}

impl Gate {
    fn disk(self: &Arc<Self>) -> Arc<dyn Disk> {
        let gate = Arc::clone(self);
        let observer = move |operation: &Operation, phase: Phase| {
            if matches!((operation.op, phase), (Op::SyncData, Phase::Start)) {
                gate.pass();
            }
        };
        Arc::new(RecordingDisk::new(Arc::new(RealDisk::new()), observer))
    }

    fn pass(&self) {
        let is_shut = self.is_shut.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.opened.wait_while(is_shut, |is_shut| *is_shut);
        let opened = waited.unwrap_or_else(PoisonError::into_inner);
        let taken = self.opened.wait_timeout_while(opened, self.takes, |_| true);
        drop(taken);
    }

    fn set(&self, is_shut: bool) {
        *self.is_shut.lock().unwrap_or_else(PoisonError::into_inner) = is_shut;
        self.opened.notify_all();
    }
}

async fn start(gate: &Arc<Gate>, admission_bytes: usize) -> TestNode {
    let settings = Settings {
        disk: gate.disk(),
        admission_bytes,
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    node.topic("t", 1, &[]).await;
    node
}

/// A request for `acks` that may take `timeout_ms`.
fn within(timeout_ms: i32, acks: i16, value: &str) -> ProduceRequest {
    ProduceRequest {
        timeout_ms,
        ..produce(acks, "t", 0, batch(&[value]))
    }
}

fn result(response: &ProduceResponse) -> (ErrorCode, i64) {
    let partition = &response.responses[0].partition_responses[0];
    (partition.error_code, partition.base_offset)
}

async fn receive(client: &mut Client) -> (ErrorCode, i64) {
    result(&client.receive::<ProduceRequest>(9).await.1)
}

const LATE: (ErrorCode, i64) = (ErrorCode::REQUEST_TIMED_OUT, -1);

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_hangs_holds_up_who_makes_it_and_times_out_who_asked_for_all() {
    let gate = Arc::new(Gate::default());
    let node = start(&gate, 64 << 20).await;
    let (mut client, mut patient) = (node.connect().await, node.connect().await);
    let in_time = client.call(9, &within(60_000, -1, "in time")).await;
    assert_eq!(result(&in_time), (ErrorCode::NONE, 0));

    gate.set(true);
    patient.send(9, &within(1, 1, "patient")).await;
    let partition = node.broker.shared().topic("t").expect("made");
    let partition = partition.partition(0).expect("made").clone();
    eventually(|| partition.has_pending()).await;
    for (timeout_ms, value) in [(20, "late"), (1_060, "late again")] {
        let sent = Instant::now();
        let late = client.call(9, &within(timeout_ms, -1, value)).await;
        assert_eq!(result(&late), LATE);
        let asked = timeout_ms.try_into().expect("positive");
        let least = Duration::from_millis(KAFKA_CHANGE_MS_MIN.max(asked));
        assert!(sent.elapsed() >= least, "{:?}", sent.elapsed());
    }
    gate.set(false);

    // Its time was up long ago, but who does not ask for all replicas is told what became of it.
    assert_eq!(receive(&mut patient).await, (ErrorCode::NONE, 1));
    let again = client.call(9, &within(60_000, -1, "again")).await;
    assert_eq!(result(&again), (ErrorCode::NONE, 4));
    assert_eq!(
        values(&client.fetch("t", 0, 0).await),
        ["in time", "patient", "late", "late again", "again"]
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_no_time_has_the_time_that_a_sync_takes() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    for (timeout_ms, offset) in [(0, 0), (-1, 1)] {
        let response = client.call(9, &within(timeout_ms, -1, "v")).await;
        assert_eq!(result(&response), (ErrorCode::NONE, offset));
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_waits_at_an_offset_that_was_answered_and_cannot_be_read_yet() {
    let gate = Arc::new(Gate::default());
    let node = start(&gate, 64 << 20).await;
    let (mut reader, mut patient) = (node.connect().await, node.connect().await);
    gate.set(true);
    patient.send(9, &within(60_000, 1, "patient")).await;
    let topics = node.broker.shared();
    let partition = topics.topic("t").expect("made");
    let partition = partition.partition(0).expect("made").clone();
    eventually(|| partition.has_pending()).await;
    let far = fetch("t", 0, 2);
    let response = reader.call(12, &far).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!(data.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    let mut at_the_end = fetch("t", 0, 1);
    at_the_end.max_wait_ms = 20;
    let response = reader.call(12, &at_the_end).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!((data.error_code, data.high_watermark), (ErrorCode::NONE, 0));
    gate.set(false);
    assert_eq!(receive(&mut patient).await, (ErrorCode::NONE, 0));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_not_on_disk_in_time_is_told_so_and_made_all_the_same() {
    let gate = Arc::new(Gate::default());
    let node = start(&gate, 64 << 20).await;
    let (mut client, mut patient) = (node.connect().await, node.connect().await);
    gate.set(true);
    // Whoever makes the sync that hangs waits for it.
    patient.send(9, &within(1, 1, "patient")).await;
    let partition = node.broker.shared().topic("t").expect("made");
    let partition = partition.partition(0).expect("made").clone();
    eventually(|| partition.has_pending()).await;
    let create = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: "made".to_owned(),
            num_partitions: 1,
            replication_factor: -1,
            ..CreatableTopic::default()
        }],
        timeout_ms: 1,
        ..CreateTopicsRequest::default()
    };
    let late = client.call(7, &create).await;
    assert_eq!(late.topics[0].error_code, ErrorCode::REQUEST_TIMED_OUT);
    let asked = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some("asked".to_owned()),
            ..MetadataRequestTopic::default()
        }]),
        ..MetadataRequest::default()
    };
    let late = client.call(12, &asked).await;
    assert_eq!(late.topics[0].error_code, ErrorCode::LEADER_NOT_AVAILABLE);
    gate.set(false);
    let is_made = |name| node.broker.shared().topic(name).is_some();
    eventually(|| is_made("made") && is_made("asked")).await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_requests_in_flight_has_its_own_time_and_answers_keep_their_order() {
    // Where syncs are slow, no connection waits for one by its own thread.
    let gate = Arc::new(Gate {
        takes: Duration::from_millis(QUICK_SYNC_MS_MAX + 1),
        ..Gate::default()
    });
    let node = start(&gate, 64 << 20).await;
    let mut client = node.connect().await;
    gate.set(true);
    let mut sent = Vec::new();
    for (timeout_ms, value) in [(50, "a"), (1, "b"), (80, "c"), (60_000, "d")] {
        sent.push(client.send(9, &within(timeout_ms, -1, value)).await);
    }
    for correlation_id in &sent[..3] {
        let (answered, response) = client.receive::<ProduceRequest>(9).await;
        assert_eq!((answered, result(&response)), (*correlation_id, LATE));
    }
    gate.set(false);
    assert_eq!(receive(&mut client).await, (ErrorCode::NONE, 3));
    assert_eq!(values(&client.fetch("t", 0, 0).await), ["a", "b", "c", "d"]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_finds_no_memory_in_time_appends_nothing() {
    let gate = Arc::new(Gate::default());
    let node = start(&gate, 1024).await;
    let (mut first, mut second) = (node.connect().await, node.connect().await);
    gate.set(true);
    first.send(9, &within(60_000, -1, "first")).await;
    eventually(|| node.broker.admitted_bytes() > 0).await;
    let mut request = within(30, -1, "second");
    request.topic_data[0]
        .partition_data
        .push(PartitionProduceData {
            index: 5,
            records: None,
        });
    let response = second.call(9, &request).await;
    let partitions = &response.responses[0].partition_responses;
    let codes: Vec<_> = partitions.iter().map(|of| of.error_code).collect();
    assert_eq!(codes, [ErrorCode::REQUEST_TIMED_OUT; 2]);
    gate.set(false);
    assert_eq!(receive(&mut first).await, (ErrorCode::NONE, 0));
    let third = second.call(9, &within(60_000, -1, "third")).await;
    assert_eq!(result(&third), (ErrorCode::NONE, 1));
    assert_eq!(values(&second.fetch("t", 0, 0).await), ["first", "third"]);
    node.stop().await;
}

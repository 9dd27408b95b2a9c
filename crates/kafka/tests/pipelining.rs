//! Clients that keep several produce requests in flight.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use disk::{Op, Operation, Phase, RealDisk, RecordingDisk};
use millrace_kafka::wire::ErrorCode;
use millrace_kafka::wire::messages::*;
use support::{Client, Settings, TestNode, batch, produce};

const ROUNDS: i64 = 200;
const IN_FLIGHT: i64 = 5;

/// A node with a topic, and its first client.
async fn start(settings: Settings) -> (TestNode, Client) {
    let node = TestNode::start_with(settings).await;
    node.topic("t", 1, &[]).await;
    let client = node.connect().await;
    (node, client)
}

/// Answers arrive in the order of the requests; each tells the offset of its one record.
async fn receive(client: &mut Client, offset: &mut i64) {
    let response = client.receive::<ProduceRequest>(9).await.1;
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(partition.error_code, ErrorCode::NONE);
    assert_eq!(partition.base_offset, *offset);
    *offset += 1;
}

async fn send(client: &mut Client, number: i64) {
    client.send(9, &request(number)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_flight_together_is_answered_in_order_with_fewer_syncs() {
    let syncs = Arc::new(AtomicI64::new(0));
    let counted = Arc::clone(&syncs);
    let observer = move |operation: &Operation, phase: Phase| {
        if matches!((operation.op, phase), (Op::SyncData, Phase::Start)) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    };
    let settings = Settings {
        disk: Arc::new(RecordingDisk::new(Arc::new(RealDisk::new()), observer)),
        ..Settings::default()
    };
    let (_node, mut client) = start(settings).await;
    let (mut sent, mut offset) = (0, 0);
    for round in 0..ROUNDS {
        // Now and then it sends less than before, and the rest only when it has its answers.
        let ahead = if round % 10 == 9 { 1 } else { IN_FLIGHT };
        while sent < offset + ahead {
            send(&mut client, sent).await;
            sent += 1;
        }
        receive(&mut client, &mut offset).await;
    }
    while offset < sent {
        receive(&mut client, &mut offset).await;
    }
    let syncs = syncs.load(Ordering::Relaxed);
    assert!(syncs < sent, "{syncs} syncs for {sent} requests");
}

fn request(number: i64) -> ProduceRequest {
    let value = format!("record {number}");
    produce(-1, "t", 0, batch(&[&value]))
}

/// Has the node see that this client keeps several requests in flight.
async fn burst(client: &mut Client, offset: &mut i64) {
    for _ in 0..10 {
        let mut frames = Vec::new();
        for ahead in 0..3 {
            let request = request(*offset + ahead);
            frames.extend_from_slice(&client.encoded(9, "test", &request));
        }
        client.write(&frames).await;
        for _ in 0..3 {
            receive(client, offset).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_complete_is_answered_while_the_next_request_is_not() {
    let (_node, mut client) = start(Settings::default()).await;
    let mut offset = 0;
    for _ in 0..20 {
        burst(&mut client, &mut offset).await;
        client.send(9, &request(offset)).await;
        let begun = client.encoded(9, "test", &request(offset + 1));
        let (first, rest) = begun.split_at(begun.len() / 2);
        client.write(first).await;
        receive(&mut client, &mut offset).await;
        client.write(rest).await;
        receive(&mut client, &mut offset).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_requests_between_them_are_answered_in_their_place() {
    let (_node, mut client) = start(Settings::default()).await;
    let mut offset = 0;
    for _ in 0..20 {
        burst(&mut client, &mut offset).await;
        send(&mut client, offset).await;
        client.send(9, &MetadataRequest::default()).await;
        send(&mut client, offset + 1).await;
        receive(&mut client, &mut offset).await;
        client.receive::<MetadataRequest>(9).await;
        receive(&mut client, &mut offset).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_come_after_busy_ones_left_are_served_alike() {
    let (node, mut client) = start(Settings::default()).await;
    let mut offset = 0;
    for _ in 0..20 {
        burst(&mut client, &mut offset).await;
        client = node.connect().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_busy_clients_are_served_in_order() {
    let node = TestNode::start_with(Settings::default()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..4 {
        let topic = format!("t{number}");
        node.topic(&topic, 1, &[]).await;
        let mut client = node.connect().await;
        tasks.spawn(async move {
            let (mut sent, mut offset) = (0, 0);
            while offset < ROUNDS {
                while sent < ROUNDS && sent < offset + IN_FLIGHT {
                    let value = format!("record {sent}");
                    let request = produce(-1, &topic, 0, batch(&[&value]));
                    client.send(9, &request).await;
                    sent += 1;
                }
                receive(&mut client, &mut offset).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

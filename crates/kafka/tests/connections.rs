//! Frames, pipelining, bounds and ends of connections.

mod support;

use std::time::Duration;

use millrace_kafka::KafkaConfig;
use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ErrorCode, encode_request};
use support::{Client, PATIENCE, Settings, TestNode, batch, eventually, fetch, produce, values};
use tokio::io::AsyncWriteExt;

fn with(kafka: KafkaConfig) -> Settings {
    Settings {
        kafka,
        ..Settings::default()
    }
}

fn all_topics() -> MetadataRequest {
    MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_in_the_order_of_the_requests_however_many_are_under_way() {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    let mut client = node.connect().await;
    const REQUESTS: i32 = 1_000;
    let mut sent = Vec::new();
    for number in 0..REQUESTS {
        let id = if number % 50 == 49 {
            client.send(9, &all_topics()).await
        } else {
            let value = number.to_string();
            client
                .send(9, &produce(-1, "t", number % 2, batch(&[&value])))
                .await
        };
        sent.push(id);
    }
    for (number, sent) in (0..REQUESTS).zip(sent) {
        let id = if number % 50 == 49 {
            client.receive::<MetadataRequest>(9).await.0
        } else {
            let (id, response) = client.receive::<ProduceRequest>(9).await;
            let code = response.responses[0].partition_responses[0].error_code;
            assert_eq!(code, ErrorCode::NONE);
            id
        };
        assert_eq!(id, sent);
    }
    for partition in 0..2 {
        let data = client.fetch("t", partition, 0).await;
        let numbers = (0..REQUESTS).filter(|number| number % 2 == partition && number % 50 != 49);
        let expected: Vec<_> = numbers.map(|number| number.to_string()).collect();
        assert_eq!(values(&data), expected);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_produce_behind_a_waiting_fetch_is_begun_and_answered_after_it() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let mut waiting = fetch("t", 0, 0);
    waiting.max_wait_ms = 60_000;
    client.send(12, &waiting).await;
    client.send(9, &produce(-1, "t", 0, batch(&["v"]))).await;
    let (_, response) = client.receive::<FetchRequest>(12).await;
    assert_eq!(values(&response.responses[0].partitions[0]), ["v"]);
    let (_, response) = client.receive::<ProduceRequest>(9).await;
    assert_eq!(
        response.responses[0].partition_responses[0].error_code,
        ErrorCode::NONE
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_produce_behind_the_making_of_its_topic_finds_it() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let create = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: "t".to_owned(),
            num_partitions: 1,
            replication_factor: 1,
            ..CreatableTopic::default()
        }],
        ..CreateTopicsRequest::default()
    };
    client.send(7, &create).await;
    for value in ["a", "b"] {
        client.send(9, &produce(-1, "t", 0, batch(&[value]))).await;
    }
    client.send(11, &fetch("t", 0, 0)).await;
    client.receive::<CreateTopicsRequest>(7).await;
    for offset in 0..2 {
        let (_, response) = client.receive::<ProduceRequest>(9).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(
            (partition.error_code, partition.base_offset),
            (ErrorCode::NONE, offset)
        );
    }
    let (_, response) = client.receive::<FetchRequest>(11).await;
    assert_eq!(values(&response.responses[0].partitions[0]), ["a", "b"]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_arrives_in_whatever_pieces() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let one = produce(-1, "t", 0, batch(&["v"]));
    let frame = encode_request(9, 1, Some("test"), &one)
        .expect("a request")
        .to_bytes();
    for byte in frame.iter() {
        client.stream.write_all(&[*byte]).await.expect("sent");
    }
    let twice = [frame.as_ref(), frame.as_ref()].concat();
    client.stream.write_all(&twice).await.expect("sent");
    for offset in 0..3 {
        let (_, response) = client.receive::<ProduceRequest>(9).await;
        assert_eq!(
            response.responses[0].partition_responses[0].base_offset,
            offset
        );
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_far_larger_than_a_read_arrive_whole() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("max.message.bytes", "4000000")])
        .await;
    let mut client = node.connect().await;
    for (offset, size) in (0..).zip([100_000, 3_000_000, 40_000, 3_000_000, 10]) {
        let value = "x".repeat(size);
        let appended = client.produce("t", 0, batch(&[&value])).await;
        assert_eq!(
            (appended.error_code, appended.base_offset),
            (ErrorCode::NONE, offset)
        );
        assert_eq!(values(&client.fetch("t", 0, offset).await), [value]);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_that_no_request_may_have_closes_the_connection() {
    let settings = with(KafkaConfig {
        request_bytes_max: 1_000,
        ..KafkaConfig::default()
    });
    let node = TestNode::start_with(settings).await;
    for length in [1_001, i32::MAX, -1, i32::MIN] {
        let mut client = node.connect().await;
        client.stream.write_i32(length).await.expect("sent");
        assert!(client.is_closed().await, "{length}");
    }
    let mut client = node.connect().await;
    let response = client.call(9, &all_topics()).await;
    assert_eq!(response.error_code, ErrorCode::NONE);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_none_closes_the_connection() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    client.call(9, &all_topics()).await;
    client.stream.write_i32(12).await.expect("sent");
    client
        .stream
        .write_all(&[0, 3, 0, 9, 0, 0, 0, 1, 255, 255, 0, 255])
        .await
        .expect("sent");
    assert!(client.is_closed().await);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_before_the_client_left_still_counts() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    for acks in [0, -1, 0] {
        client.send(9, &produce(acks, "t", 0, batch(&["v"]))).await;
    }
    drop(client);
    let topic = node.broker.shared().topic("t").expect("there");
    let partition = topic.partition(0).expect("there");
    eventually(|| partition.end().0 == 3).await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_without_traffic_is_closed_and_one_that_waits_for_us_is_answered_first() {
    let settings = with(KafkaConfig {
        idle_max: Duration::from_millis(300),
        ..KafkaConfig::default()
    });
    let node = TestNode::start_with(settings).await;
    node.topic("t", 1, &[]).await;
    let (mut idle, mut waiting) = (node.connect().await, node.connect().await);
    let mut request = fetch("t", 0, 0);
    request.max_wait_ms = 60_000;
    waiting.send(12, &request).await;
    assert!(idle.is_closed().await);
    // It would have waited for longer than a connection may be silent.
    let (_, response) = waiting.receive::<FetchRequest>(12).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!((data.error_code, values(data).len()), (ErrorCode::NONE, 0));
    assert!(waiting.is_closed().await);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_for_before_a_request_that_closes_the_connection_is_answered() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let refused = produce(0, "nowhere", 0, batch(&["v"]));
    for (count, ending) in [(1, None), (2, Some(&refused))] {
        let mut client = node.connect().await;
        let mut bytes = client
            .encoded(9, "test", &produce(-1, "t", 0, batch(&["v"])))
            .to_vec();
        match ending {
            // A length that no request has.
            None => bytes.extend_from_slice(&i32::MAX.to_be_bytes()),
            Some(request) => bytes.extend_from_slice(&client.encoded(9, "test", request)),
        }
        // What stands behind it is not done.
        bytes.extend_from_slice(&client.encoded(9, "test", &produce(-1, "t", 0, batch(&["v"]))));
        client.write(&bytes).await;
        let (_, response) = client.receive::<ProduceRequest>(9).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(partition.base_offset, count - 1);
        assert!(client.is_closed().await);
        let end = client_end(&node).await;
        assert_eq!(end, count);
    }
    node.stop().await;
}

/// Where the one partition ends, as another client sees it.
async fn client_end(node: &TestNode) -> i64 {
    let data = node.connect().await.fetch("t", 0, 0).await;
    data.high_watermark
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_allowed_wait_for_one_to_end() {
    let settings = with(KafkaConfig {
        connections_max: 1,
        ..KafkaConfig::default()
    });
    let node = TestNode::start_with(settings).await;
    let mut first = node.connect().await;
    first.call(9, &all_topics()).await;
    let mut second = node.connect().await;
    second.send(9, &all_topics()).await;
    first.call(9, &all_topics()).await;
    drop(first);
    second.receive::<MetadataRequest>(9).await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_what_is_under_way_and_closes_every_connection() {
    let mut node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let (mut idle, mut waiting) = (node.connect().await, node.connect().await);
    idle.call(9, &all_topics()).await;
    let mut request = fetch("t", 0, 0);
    request.max_wait_ms = 60_000;
    waiting.send(12, &request).await;
    let mut writer = node.connect().await;
    writer.produce("t", 0, batch(&["v"])).await;
    waiting.receive::<FetchRequest>(12).await;
    request.topics[0].partitions[0].fetch_offset = 1;
    waiting.send(12, &request).await;
    // The fetch is under way when a later request of the same connection is, too.
    waiting.send(9, &produce(-1, "t", 0, batch(&["v"]))).await;
    waiting.receive::<FetchRequest>(12).await;
    waiting.receive::<ProduceRequest>(9).await;
    request.topics[0].partitions[0].fetch_offset = 2;
    waiting.send(12, &request).await;
    tokio::time::timeout(PATIENCE, node.stop_serving())
        .await
        .expect("stopped in time");
    if let Some(frame) = waiting.frame().await {
        assert!(!frame.is_empty());
        assert!(waiting.is_closed().await);
    }
    assert!(idle.is_closed().await);
    assert!(writer.is_closed().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_larger_than_the_memory_for_requests_go_one_by_one() {
    let settings = Settings {
        admission_bytes: 64 << 10,
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    node.topic("t", 1, &[]).await;
    let value = "x".repeat(200_000);
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut client = node.connect().await;
        for _ in 0..3 {
            client.send(9, &produce(-1, "t", 0, batch(&[&value]))).await;
        }
        clients.push(client);
    }
    for client in &mut clients {
        for _ in 0..3 {
            let (_, response) = client.receive::<ProduceRequest>(9).await;
            let code = response.responses[0].partition_responses[0].error_code;
            assert_eq!(code, ErrorCode::NONE);
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_requests_that_do_not_end_hold_up_large_ones_only() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("max.message.bytes", "4000000")])
        .await;
    let mut claims = Vec::new();
    for _ in 0..2 {
        let mut client = node.connect().await;
        client.stream.write_i32(90 << 20).await.expect("sent");
        client.stream.write_all(&[0; 100_000]).await.expect("sent");
        claims.push(client);
    }
    // One of the two has memory for its 90 MiB, and no third has any until one ends.
    let large = "x".repeat(3_000_000);
    let mut blocked = node.connect().await;
    let mut client = node.connect().await;
    for number in 0..50 {
        let appended = client.produce("t", 0, batch(&["small"])).await;
        assert_eq!(appended.base_offset, number);
    }
    let request = produce(-1, "t", 0, batch(&[&large]));
    tokio::join!(blocked.send(9, &request), async { drop(claims) });
    let (_, response) = blocked.receive::<ProduceRequest>(9).await;
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(
        (partition.error_code, partition.base_offset),
        (ErrorCode::NONE, 50)
    );
    node.stop().await;
}

fn idle_after(idle_max: Duration) -> Settings {
    with(KafkaConfig {
        idle_max,
        ..KafkaConfig::default()
    })
}

/// Claims a large request and sends a byte of it at a time, until the connection is closed.
async fn trickle(mut client: Client) {
    let mut pause = tokio::time::interval(Duration::from_millis(50));
    let mut sent = client.stream.write_i32(64 << 20).await;
    while sent.is_ok() {
        pause.tick().await;
        sent = client.stream.write_all(&[0]).await;
    }
}

// Two such clients have all the memory for large requests, and each byte makes their connections
// look busy.
#[tokio::test(flavor = "multi_thread")]
async fn large_requests_that_hardly_come_are_closed_and_others_get_their_memory() {
    let node = TestNode::start_with(idle_after(Duration::from_secs(1))).await;
    node.topic("t", 1, &[("max.message.bytes", "4000000")])
        .await;
    let (one, other) = (node.connect().await, node.connect().await);
    let mut trickling = [tokio::spawn(trickle(one)), tokio::spawn(trickle(other))];
    let large = "x".repeat(3_000_000);
    let appended = node.connect().await.produce("t", 0, batch(&[&large])).await;
    assert_eq!(appended.error_code, ErrorCode::NONE);
    for trickling in &mut trickling {
        let ended = tokio::time::timeout(PATIENCE, trickling).await;
        ended.expect("closed in time").expect("no panic");
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_request_that_comes_slowly_and_steadily_is_answered() {
    let idle_max = Duration::from_secs(2);
    let node = TestNode::start_with(idle_after(idle_max)).await;
    node.topic("t", 1, &[("max.message.bytes", "4000000")])
        .await;
    let large = "x".repeat(3_000_000);
    let mut client = node.connect().await;
    let frame = client.encoded(9, "test", &produce(-1, "t", 0, batch(&[&large])));
    let mut pause = tokio::time::interval(idle_max / 8);
    for piece in frame.chunks(frame.len() / 12) {
        pause.tick().await;
        client.write(piece).await;
    }
    let (_, response) = client.receive::<ProduceRequest>(9).await;
    let code = response.responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::NONE);
    node.stop().await;
}

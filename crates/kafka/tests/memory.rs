//! What connections cost: printed and asserted. One test, since all that is allocated counts.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod live_bytes;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use live_bytes::live_bytes;
use millrace_kafka::KafkaConfig;
use millrace_kafka::wire::encode_request;
use millrace_kafka::wire::messages::*;
use support::{Settings, TestNode, batch, eventually, fetch};
use tokio::io::AsyncWriteExt;
use types::limits::READ_BUFFER_BYTES;

const IDLE_CONNECTIONS: usize = 10_000;
const IDLE_BYTES_MAX: usize = 16 << 10;
const CLAIMS: usize = 50;
const CLAIM_BYTES_MAX: usize = 64 << 10;
const SLOW_READER_BYTES_MAX: usize = 4 << 20;
/// What may be left of connections that have just ended.
const SETTLED_BYTES: usize = 128 << 10;
/// Tells the child process where to connect to.
const ADDRESS: &str = "MILLRACE_TEST_ADDRESS";

/// One request and its answer, so that a connection has been at work before it is idle.
fn greet(stream: &mut TcpStream) {
    let request = ApiVersionsRequest::default();
    let frame = encode_request(0, 1, Some("idle"), &request).expect("a request");
    stream.write_all(&frame.to_bytes()).expect("sent");
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("an answer");
    let length = usize::try_from(i32::from_be_bytes(length)).expect("a length");
    stream.read_exact(&mut vec![0; length]).expect("an answer");
}

/// The other side of the idle connections: a process of its own, for the sake of descriptors.
#[test]
fn idle_clients() {
    let Ok(address) = std::env::var(ADDRESS) else {
        return;
    };
    let connect = || {
        let mut stream = TcpStream::connect(&address).expect("connected");
        greet(&mut stream);
        stream
    };
    let streams: Vec<_> = std::iter::repeat_with(connect)
        .take(IDLE_CONNECTIONS)
        .collect();
    let mut out = std::io::stderr();
    writeln!(out, "connected {}", streams.len()).expect("told");
    // Until the parent has measured.
    std::io::stdin()
        .read_to_end(&mut Vec::new())
        .expect("the end");
}

async fn measure_idle(node: &TestNode) -> usize {
    let before = live_bytes();
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["idle_clients", "--exact", "--nocapture"])
        .env(ADDRESS, node.address.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut said = child.stderr.take().expect("piped");
    let is_connected = tokio::task::block_in_place(|| {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(b"connected 10000\n") && said.read(&mut byte).expect("read") == 1 {
            text.push(byte[0]);
        }
        text.ends_with(b"connected 10000\n")
    });
    assert!(is_connected, "the clients could not connect");
    // Dropping the end of the pipe frees it as well; what is measured is before.
    let per_connection = live_bytes().saturating_sub(before) / IDLE_CONNECTIONS;
    drop(child.stdin.take());
    assert!(child.wait().expect("ended").success());
    per_connection
}

async fn measure_claims(node: &TestNode) -> usize {
    let before = live_bytes();
    let mut clients = Vec::new();
    for _ in 0..CLAIMS {
        let mut client = node.connect().await;
        client.stream.write_i32(i32::MAX).await.expect("sent");
        client.stream.write_all(&[0; 10]).await.expect("sent");
        clients.push(client);
    }
    // Each of them has a buffer in the end; then it must stay at that.
    let claimed = || live_bytes().saturating_sub(before) / CLAIMS;
    eventually(|| claimed() >= READ_BUFFER_BYTES).await;
    let mut most = 0;
    let mut other = node.connect().await;
    for _ in 0..200 {
        other.call(0, &ApiVersionsRequest::default()).await;
        most = most.max(claimed());
    }
    // What is measured next begins where this began.
    drop((clients, other));
    eventually(|| live_bytes() < before + SETTLED_BYTES).await;
    most
}

/// Many large answers asked for, none read.
async fn measure_slow_reader(node: &TestNode) -> usize {
    node.topic("large", 1, &[]).await;
    let mut client = node.connect().await;
    let value = "x".repeat(900_000);
    // As many as the tail holds: windows of files are no memory of a connection.
    for _ in 0..4 {
        client.produce("large", 0, batch(&[&value])).await;
    }
    let before = live_bytes();
    let mut slow = node.connect().await;
    let mut most = 0;
    for _ in 0..200 {
        slow.send(11, &fetch("large", 0, 0)).await;
        client.fetch("large", 0, 0).await;
        most = most.max(live_bytes().saturating_sub(before));
    }
    most
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cost_no_more_than_promised() {
    let settings = Settings {
        kafka: KafkaConfig {
            request_bytes_max: usize::try_from(i32::MAX).expect("fits"),
            ..KafkaConfig::default()
        },
        ..Settings::default()
    };
    let node = TestNode::start_with(settings).await;
    node.connect()
        .await
        .call(0, &ApiVersionsRequest::default())
        .await;
    let claim = measure_claims(&node).await;
    let idle = measure_idle(&node).await;
    let slow_reader = measure_slow_reader(&node).await;
    println!("idle connection: {idle} bytes (at most {IDLE_BYTES_MAX})");
    println!("claimed frame of 2 GiB: {claim} bytes (at most {CLAIM_BYTES_MAX})");
    println!("slow reader: {slow_reader} bytes (at most {SLOW_READER_BYTES_MAX})");
    assert!(idle <= IDLE_BYTES_MAX);
    assert!(claim <= CLAIM_BYTES_MAX);
    assert!(slow_reader <= SLOW_READER_BYTES_MAX);
    node.stop().await;
}

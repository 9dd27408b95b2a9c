//! Fetches of partitions whose records stand between each other in log files, and are no longer in
//! memory.

mod support;

use millrace_kafka::wire::messages::*;
use support::{Client, TestNode, batch, batches, fetch};
use types::limits::READ_SPAN_BYTES;

/// Bytes of a record: as many as fit in a batch, so that few of them fill a log file.
const VALUE_BYTES: usize = 1_000_000;
/// So many records are more than one read goes through.
const STRETCH: i64 = READ_SPAN_BYTES as i64 / VALUE_BYTES as i64 + 1;

/// Partition 0 has a stretch of records, then partition 1, then each of them again: both are in the
/// log file where the other is, further apart than one read goes.
async fn node() -> (TestNode, Client) {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    let mut client = node.connect().await;
    let (first, second) = (0..STRETCH, STRETCH..2 * STRETCH);
    for (partition, records) in [
        (0, first.clone()),
        (1, first),
        (0, second.clone()),
        (1, second),
    ] {
        for record in records {
            let made = client
                .produce("t", partition, batch(&[&value(record)]))
                .await;
            assert_eq!(made.base_offset, record);
        }
    }
    (node, client)
}

fn value(record: i64) -> String {
    format!("{record:0>8}").repeat(VALUE_BYTES / 8)
}

/// A fetch of both partitions.
fn both(from: [i64; 2], min_bytes: i32) -> FetchRequest {
    let mut request = fetch("t", 0, from[0]);
    let second = fetch("t", 1, from[1]).topics.remove(0).partitions.remove(0);
    request.topics[0].partitions.push(second);
    for partition in &mut request.topics[0].partitions {
        partition.partition_max_bytes = 50 << 20;
    }
    request.max_bytes = 50 << 20;
    request.min_bytes = min_bytes;
    // Longer than the test may take: nothing here is to be waited for.
    request.max_wait_ms = 600_000;
    request
}

/// Takes what an answer has, checks it, and gives how many records each partition gave.
fn take(response: &FetchResponse, next: &mut [i64; 2]) -> [usize; 2] {
    let partitions = &response.responses[0].partitions;
    std::array::from_fn(|index| {
        let found = batches(&partitions[index]);
        for (offset, values) in &found {
            assert_eq!(*offset, next[index]);
            assert!(values == &[value(*offset)], "other bytes at {offset}");
            next[index] += 1;
        }
        found.len()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_that_are_behind_are_read_first_and_nobody_is_left_out() {
    let (node, mut client) = node().await;
    let mut next = [0, 0];
    let first = client.call(11, &both(next, 1)).await;
    let [behind, ahead] = take(&first, &mut next);
    let is_part = (1..STRETCH).contains(&(behind as i64));
    assert!(is_part, "{behind} records in one span");
    assert_eq!(ahead, 0, "what stands further on waits");
    while next != [2 * STRETCH; 2] {
        let response = client.call(11, &both(next, 1)).await;
        let taken = take(&response, &mut next);
        assert_ne!(taken, [0, 0], "nothing behind {next:?}");
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_the_least_that_it_wants_wherever_it_stands() {
    let (node, mut client) = node().await;
    let mut next = [0, 0];
    let min_bytes = 9_000_000;
    let response = client.call(11, &both(next, min_bytes)).await;
    let taken = take(&response, &mut next);
    assert!(taken.iter().sum::<usize>() >= 9, "{taken:?} records");
    node.stop().await;
}

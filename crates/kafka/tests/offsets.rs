//! ListOffsets, OffsetForLeaderEpoch and DeleteRecords.

mod support;

use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ApiKey, ErrorCode};
use support::{Client, TestNode, batch, delete_records, values};

/// Offset and timestamp found.
async fn look(client: &mut Client, version: i16, timestamp: i64) -> (i64, i64, i16) {
    let response = client.call(version, &list(&[(0, timestamp)], -1)).await;
    let found = &response.topics[0].partitions[0];
    (found.offset, found.timestamp, found.error_code.0)
}

fn list(asked: &[(i32, i64)], epoch: i32) -> ListOffsetsRequest {
    let partitions = asked
        .iter()
        .map(|(partition_index, timestamp)| ListOffsetsPartition {
            partition_index: *partition_index,
            current_leader_epoch: epoch,
            timestamp: *timestamp,
        });
    ListOffsetsRequest {
        topics: vec![ListOffsetsTopic {
            name: "t".to_owned(),
            partitions: partitions.collect(),
        }],
        ..ListOffsetsRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_are_found_by_time_and_by_name() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    for version in ApiKey::ListOffsets.served() {
        assert_eq!(look(&mut client, version, -1).await, (0, -1, 0));
        assert_eq!(
            look(&mut client, version, 5).await,
            (-1, -1, 0),
            "an empty partition"
        );
    }
    // Timestamps 1000, 1001, 1002; 1000, 1001; 1000.
    for values in [&["a", "b", "c"][..], &["d", "e"], &["f"]] {
        client.produce("t", 0, batch(values)).await;
    }
    for version in ApiKey::ListOffsets.served() {
        assert_eq!(look(&mut client, version, -1).await, (6, -1, 0));
        assert_eq!(look(&mut client, version, -2).await, (0, -1, 0));
        assert_eq!(look(&mut client, version, 0).await, (0, 1_000, 0));
        assert_eq!(look(&mut client, version, 1_001).await, (1, 1_001, 0));
        assert_eq!(look(&mut client, version, 1_002).await, (2, 1_002, 0));
        assert_eq!(look(&mut client, version, 1_003).await, (-1, -1, 0));
    }
    assert_eq!(
        look(&mut client, 7, -3).await,
        (2, 1_002, 0),
        "the record, not its batch"
    );
    assert_eq!(look(&mut client, 8, -4).await, (0, -1, 0));
    assert_eq!(look(&mut client, 9, -5).await, (-1, -1, 0));
    assert_eq!(look(&mut client, 6, -3).await, (-1, -1, 35));
    assert_eq!(look(&mut client, 10, -6).await, (-1, -1, 35));
    client.call(2, &delete_records(2)).await;
    assert_eq!(look(&mut client, 9, -2).await, (2, -1, 0));
    assert_eq!(
        look(&mut client, 9, 0).await,
        (2, 1_002, 0),
        "what is trimmed is not found"
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn list_offsets_checks_epochs_and_names_partitions_once() {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    let mut client = node.connect().await;
    let epoch = node.broker.shared().leader_epoch().0;
    let codes = |response: ListOffsetsResponse| -> Vec<_> {
        let partitions = response.topics[0].partitions.iter();
        partitions
            .map(|of| (of.error_code.0, of.leader_epoch))
            .collect()
    };
    let response = client
        .call(6, &list(&[(0, -1), (1, -1), (9, -1)], epoch))
        .await;
    assert_eq!(codes(response), [(0, epoch), (0, epoch), (3, -1)]);
    let response = client.call(6, &list(&[(0, -1)], epoch + 1)).await;
    assert_eq!(codes(response), [(75, -1)]);
    let response = client
        .call(6, &list(&[(0, -1), (1, -1), (0, -2)], -1))
        .await;
    assert_eq!(codes(response), [(42, -1), (0, epoch), (42, -1)]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_current_epoch_is_the_end_of_the_log() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    client.produce("t", 0, batch(&["a", "b"])).await;
    let epoch = node.broker.shared().leader_epoch().0;
    let ask = |partition, current_leader_epoch, leader_epoch| OffsetForLeaderEpochRequest {
        topics: vec![OffsetForLeaderTopic {
            topic: "t".to_owned(),
            partitions: vec![OffsetForLeaderPartition {
                partition,
                current_leader_epoch,
                leader_epoch,
            }],
        }],
        ..OffsetForLeaderEpochRequest::default()
    };
    for version in ApiKey::OffsetForLeaderEpoch.served() {
        for (asked, expected) in [
            (ask(0, epoch, epoch), (0, epoch, 2)),
            (ask(0, -1, epoch + 1), (0, -1, -1)),
            (ask(0, epoch + 1, epoch), (75, -1, -1)),
            (ask(1, -1, epoch), (3, -1, -1)),
        ] {
            let response = client.call(version, &asked).await;
            let found = &response.topics[0].partitions[0];
            let found = (found.error_code.0, found.leader_epoch, found.end_offset);
            assert_eq!(found, expected, "{asked:?}");
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_deleted_up_to_an_offset_or_the_end() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    for value in ["a", "b", "c"] {
        client.produce("t", 0, batch(&[value])).await;
    }
    for (version, offset, expected) in [
        (0, 1, (1, 0)),
        (1, 0, (1, 0)),
        (2, 4, (-1, 1)),
        (2, -2, (-1, 1)),
        (2, 2, (2, 0)),
    ] {
        let response = client.call(version, &delete_records(offset)).await;
        let trimmed = &response.topics[0].partitions[0];
        assert_eq!(
            (trimmed.low_watermark, trimmed.error_code.0),
            expected,
            "to {offset}"
        );
    }
    assert_eq!(values(&client.fetch("t", 0, 2).await), ["c"]);
    let before = client.fetch("t", 0, 1).await;
    assert_eq!(before.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(before.log_start_offset, 2);
    let response = client.call(2, &delete_records(-1)).await;
    assert_eq!(response.topics[0].partitions[0].low_watermark, 3);
    let mut unknown = delete_records(0);
    unknown.topics[0].partitions[0].partition_index = 5;
    let response = client.call(2, &unknown).await;
    assert_eq!(response.topics[0].partitions[0].error_code.0, 3);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_group_has_committed_anything() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    let topics = Some(vec![OffsetFetchTopic {
        name: "t".to_owned(),
        partition_indexes: vec![0, 3],
    }]);
    let group = |member_epoch| OffsetFetchGroup {
        group_id: "g".to_owned(),
        member_epoch,
        topics: topics.clone(),
        ..OffsetFetchGroup::default()
    };
    let request = OffsetFetchRequest {
        group_id: "g".to_owned(),
        topics: topics.clone(),
        groups: vec![group(-1), group(2)],
        require_stable: true,
    };
    for version in ApiKey::OffsetFetch.served() {
        let response = client.call(version, &request).await;
        let topics = if version < 8 {
            response.topics
        } else {
            response.groups[0].topics.clone()
        };
        let partitions = topics[0].partitions.iter();
        let found: Vec<_> = partitions
            .map(|of| (of.partition_index, of.committed_offset, of.error_code.0))
            .collect();
        assert_eq!(found, [(0, -1, 0), (3, -1, 0)], "version {version}");
        if version >= 9 {
            assert_eq!(response.groups[1].error_code, ErrorCode::UNKNOWN_MEMBER_ID);
        }
    }
    let all = OffsetFetchRequest {
        topics: None,
        ..request
    };
    assert_eq!(client.call(2, &all).await.topics, []);
    let too_many = OffsetFetchRequest {
        groups: vec![OffsetFetchGroup {
            topics: Some(vec![OffsetFetchTopic {
                name: "t".to_owned(),
                partition_indexes: vec![0; 100_001],
            }]),
            ..group(-1)
        }],
        ..OffsetFetchRequest::default()
    };
    let refused = client.call(8, &too_many).await.groups;
    assert_eq!(refused[0].error_code, ErrorCode::INVALID_REQUEST);
    assert_eq!(refused[0].topics, []);
    node.stop().await;
}

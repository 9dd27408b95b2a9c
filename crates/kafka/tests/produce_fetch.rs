//! Produce, InitProducerId and Fetch.

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ApiKey, ErrorCode};
use record::{BatchBuilder, Codec};
use support::{
    Client, TestNode, batch, batches, built, delete_records, fetch, packed, produce, values,
};
use types::limits::KAFKA_REFUSALS_MAX;
use types::{ProducerEpoch, ProducerId, Sequence, TopicId};

fn producing(id: i64, epoch: i16, sequence: i32, values: &[&str]) -> Bytes {
    let builder =
        BatchBuilder::new().producer(ProducerId(id), ProducerEpoch(epoch), Sequence(sequence));
    built(builder, values, Codec::None)
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_come_back_byte_for_byte_through_every_version() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let id = node.broker.shared().topic("t").expect("made").id;
    let mut client = node.connect().await;
    let mut sent = Vec::new();
    for (offset, version) in (0..).step_by(2).zip(ApiKey::Produce.served()) {
        let codec = if version < 7 {
            Codec::Gzip
        } else {
            Codec::Zstd
        };
        let bytes = packed(&["one", "two"], codec);
        let acks = if version % 2 == 0 { 1 } else { -1 };
        let response = client
            .call(version, &produce(acks, "t", 0, bytes.clone()))
            .await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(partition.error_code, ErrorCode::NONE, "version {version}");
        assert_eq!(partition.base_offset, offset);
        assert_eq!(partition.log_append_time_ms, -1);
        if version >= 5 {
            assert_eq!(partition.log_start_offset, 0);
        }
        sent.push(bytes);
    }
    for version in ApiKey::Fetch.served() {
        let mut request = fetch("t", 0, 0);
        request.topics[0].topic_id = id;
        let response = client.call(version, &request).await;
        let data = &response.responses[0].partitions[0];
        assert_eq!(data.error_code, ErrorCode::NONE, "version {version}");
        let end = 2 * i64::try_from(sent.len()).expect("small");
        assert_eq!((data.high_watermark, data.last_stable_offset), (end, end));
        let log_start = if version < 5 { -1 } else { 0 };
        assert_eq!(data.log_start_offset, log_start);
        assert_eq!(data.aborted_transactions, None);
        request.isolation_level = 1;
        let committed = client.call(version, &request).await;
        let data_committed = &committed.responses[0].partitions[0];
        assert_eq!(data_committed.aborted_transactions, Some(Vec::new()));
        let stored = data.records.as_ref().expect("records").0.concat();
        let mut rest = stored.as_slice();
        for bytes in &sent {
            // Base offset and leader epoch are the broker's, the rest the producer's.
            assert_eq!(rest[8..12], bytes[8..12]);
            assert_eq!(rest[16..bytes.len()], bytes[16..]);
            rest = &rest[bytes.len()..];
        }
        assert!(rest.is_empty());
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_clients_may_neither_write_zstd_nor_read_topics_that_are_packed_with_it() {
    let node = TestNode::start().await;
    node.topic("mixed", 1, &[]).await;
    node.topic("zstd", 1, &[("compression.type", "zstd")]).await;
    let mut client = node.connect().await;
    for topic in ["mixed", "zstd"] {
        client.produce(topic, 0, packed(&["v"], Codec::Zstd)).await;
    }
    for (topic, version, code) in [("mixed", 4, 0), ("zstd", 9, 76), ("zstd", 10, 0)] {
        let response = client.call(version, &fetch(topic, 0, 0)).await;
        let data = &response.responses[0].partitions[0];
        assert_eq!(
            data.error_code,
            ErrorCode(code),
            "{topic} version {version}"
        );
        let found = values(data);
        assert_eq!(found.len(), usize::from(code == 0));
    }
    let request = produce(1, "mixed", 0, packed(&["v"], Codec::Zstd));
    let response = client.call(6, &request).await;
    let code = response.responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_acks_there_is_no_answer_and_an_error_closes_the_connection() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    client
        .send(9, &produce(0, "t", 0, batch(&["silent"])))
        .await;
    client
        .send(9, &produce(0, "t", 0, batch(&["silent"])))
        .await;
    // The next answer is that of the next request, and it finds both.
    let appended = client.produce("t", 0, batch(&["loud"])).await;
    assert_eq!(appended.base_offset, 2);
    // A sequence that does not fit is found by the owner, one partition that is not there at once.
    let late = produce(0, "t", 0, producing(1_000, 0, 0, &["first"]));
    client.send(9, &late).await;
    let late = produce(0, "t", 0, producing(1_000, 0, 7, &["gap"]));
    client.send(9, &late).await;
    assert!(client.is_closed().await);
    let mut client = node.connect().await;
    client
        .send(9, &produce(0, "nowhere", 0, batch(&["v"])))
        .await;
    assert!(client.is_closed().await);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_tells_of_each_partition_once_and_of_none_at_once() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    client.produce("t", 0, batch(&["v"])).await;
    let mut request = fetch("t", 0, 0);
    let topic = request.topics[0].clone();
    request.topics[0].partitions = vec![topic.partitions[0].clone(); 1_000];
    request.topics.push(topic);
    let response = client.call(12, &request).await;
    let told = response.responses.iter().map(|of| of.partitions.len());
    assert_eq!(told.collect::<Vec<_>>(), [1, 0]);
    assert_eq!(values(&response.responses[0].partitions[0]), ["v"]);
    let nothing = FetchRequest {
        topics: Vec::new(),
        max_wait_ms: i32::MAX,
        min_bytes: 1,
        ..request
    };
    assert!(client.call(12, &nothing).await.responses.is_empty());
    node.stop().await;
}

async fn refused(client: &mut Client, request: &ProduceRequest) -> i16 {
    let response = client.call(9, request).await;
    let partition = &response.responses[0].partition_responses[0];
    if !partition.error_code.is_none() {
        assert_eq!(partition.base_offset, -1);
        assert!(partition.error_message.is_some());
    }
    partition.error_code.0
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_has_its_code_and_appends_nothing() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("max.message.bytes", "100")]).await;
    node.topic("__consumer_offsets", 1, &[]).await;
    let mut client = node.connect().await;
    let good = batch(&["v"]);
    let mut bad_crc = good.to_vec();
    bad_crc[17] ^= 1;
    let two = Bytes::from([good.as_ref(), good.as_ref()].concat());
    let control = built(BatchBuilder::new().control(), &["v"], Codec::None);
    let long = "x".repeat(200);
    let future = i64::MAX / 2;
    let mut builder = BatchBuilder::new();
    builder.append(future, None, Some(b"v"), &[]).expect("fits");
    let future = builder.build(Codec::None).expect("packed");
    let cases = [
        (produce(2, "t", 0, good.clone()), 21),
        (produce(1, "t", 1, good.clone()), 3),
        (produce(1, "t", -1, good.clone()), 3),
        (produce(1, "nowhere", 0, good.clone()), 3),
        (produce(1, "__consumer_offsets", 0, good.clone()), 17),
        (produce(1, "t", 0, bad_crc.into()), 2),
        (produce(1, "t", 0, two), 87),
        (produce(1, "t", 0, control), 87),
        (produce(1, "t", 0, Bytes::new()), 87),
        (produce(1, "t", 0, batch(&[&long])), 10),
        (produce(1, "t", 0, future), 32),
    ];
    for (request, code) in &cases {
        assert_eq!(refused(&mut client, request).await, *code, "{request:?}");
    }
    let mut null = produce(1, "t", 0, good.clone());
    null.topic_data[0].partition_data[0].records = None;
    assert_eq!(refused(&mut client, &null).await, 87);
    let mut transactional = produce(-1, "t", 0, good.clone());
    transactional.transactional_id = Some("tx".to_owned());
    assert_eq!(refused(&mut client, &transactional).await, 53);
    let builder = BatchBuilder::new().producer(ProducerId(1), ProducerEpoch(0), Sequence(0));
    let in_transaction = built(builder.transactional(), &["v"], Codec::None);
    assert_eq!(
        refused(&mut client, &produce(-1, "t", 0, in_transaction)).await,
        53
    );
    let data = client.fetch("t", 0, 0).await;
    assert_eq!(data.high_watermark, 0);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_client_may_write_to_the_brokers_topics() {
    let node = TestNode::start().await;
    node.topic("__consumer_offsets", 1, &[]).await;
    let mut client = node.connect().await;
    let request = produce(1, "__consumer_offsets", 0, batch(&["v"]));
    client.send_as(9, "__admin_client", &request).await;
    let (_, response) = client.receive::<ProduceRequest>(9).await;
    assert_eq!(
        response.responses[0].partition_responses[0].error_code,
        ErrorCode::NONE
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_that_stands_twice_gets_one_batch() {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    let mut client = node.connect().await;
    let mut request = produce(1, "t", 0, batch(&["first"]));
    let again = request.topic_data[0].partition_data[0].clone();
    let other = PartitionProduceData {
        index: 1,
        records: Some(batch(&["other"])),
    };
    request.topic_data[0].partition_data.extend([again, other]);
    let response = client.call(9, &request).await;
    let partitions = &response.responses[0].partition_responses;
    let codes: Vec<_> = partitions
        .iter()
        .map(|of| (of.index, of.error_code.0))
        .collect();
    assert_eq!(codes, [(0, 0), (0, 42), (1, 0)]);
    assert_eq!(values(&client.fetch("t", 0, 0).await), ["first"]);
    assert_eq!(values(&client.fetch("t", 1, 0).await), ["other"]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_at_fault_are_named_from_version_8_on() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("message.timestamp.before.max.ms", "3600000")])
        .await;
    let mut client = node.connect().await;
    for version in [7, 8] {
        let response = client
            .call(version, &produce(1, "t", 0, batch(&["a", "b"])))
            .await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(partition.error_code, ErrorCode::INVALID_TIMESTAMP);
        let faulty: Vec<_> = partition
            .record_errors
            .iter()
            .map(|e| e.batch_index)
            .collect();
        if version == 7 {
            assert_eq!(faulty, []);
        } else {
            assert_eq!(faulty, [0, 1]);
            assert!(
                partition.record_errors[0]
                    .batch_index_error_message
                    .is_some()
            );
        }
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_append_time_is_told_and_stored() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("message.timestamp.type", "LogAppendTime")])
        .await;
    let mut client = node.connect().await;
    let appended = client.produce("t", 0, batch(&["v"])).await;
    assert!(appended.log_append_time_ms > 1_600_000_000_000);
    let data = client.fetch("t", 0, 0).await;
    let records = data.records.expect("records").0.concat();
    let header = record::verify_crc(&records).expect("a good batch");
    assert_eq!(header.max_timestamp_ms, appended.log_append_time_ms);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_with_a_codec_packs_batches_anew() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[("compression.type", "gzip")]).await;
    let mut client = node.connect().await;
    client
        .produce("t", 0, packed(&["a", "b"], Codec::Lz4))
        .await;
    let data = client.fetch("t", 0, 0).await;
    assert_eq!(values(&data), ["a", "b"]);
    let records = data.records.expect("records").0.concat();
    let header = record::verify_crc(&records).expect("a good batch");
    assert_eq!(header.attributes.codec(), Some(Codec::Gzip));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotent_producer_appends_each_batch_once_and_in_order() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    let mut ids = Vec::new();
    for version in ApiKey::InitProducerId.served() {
        let response = client
            .call(version, &InitProducerIdRequest::default())
            .await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        assert_eq!(response.producer_epoch, 0);
        ids.push(response.producer_id);
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let id = ids[0];
    let first = client
        .produce("t", 0, producing(id, 0, 0, &["a", "b"]))
        .await;
    let next = client.produce("t", 0, producing(id, 0, 2, &["c"])).await;
    let again = client
        .produce("t", 0, producing(id, 0, 0, &["a", "b"]))
        .await;
    assert_eq!(
        [first.base_offset, next.base_offset, again.base_offset],
        [0, 2, 0]
    );
    assert_eq!(again.error_code, ErrorCode::NONE);
    let gap = client.produce("t", 0, producing(id, 0, 9, &["z"])).await;
    assert_eq!(gap.error_code, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    client.produce("t", 0, producing(id, 1, 0, &["d"])).await;
    let fenced = client.produce("t", 0, producing(id, 0, 3, &["e"])).await;
    assert_eq!(fenced.error_code, ErrorCode::INVALID_PRODUCER_EPOCH);
    assert_eq!(values(&client.fetch("t", 0, 0).await), ["a", "b", "c", "d"]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_producer_is_known_after_its_records_are_deleted() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    client
        .produce("t", 0, producing(7, 0, 0, &["a", "b"]))
        .await;
    let deleted = client.call(2, &delete_records(-1)).await;
    assert_eq!(deleted.topics[0].partitions[0].low_watermark, 2);
    let behind_a_gap = client.produce("t", 0, producing(7, 0, 3, &["d"])).await;
    assert_eq!(
        behind_a_gap.error_code,
        ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
    );
    let again = client
        .produce("t", 0, producing(7, 0, 0, &["a", "b"]))
        .await;
    assert_eq!((again.error_code, again.base_offset), (ErrorCode::NONE, 0));
    let next = client.produce("t", 0, producing(7, 0, 2, &["c"])).await;
    assert_eq!((next.error_code, next.base_offset), (ErrorCode::NONE, 2));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transactional_id_is_refused() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for (id, code) in [("tx", 53), ("", 42)] {
        let request = InitProducerIdRequest {
            transactional_id: Some(id.to_owned()),
            transaction_timeout_ms: 1_000,
            ..InitProducerIdRequest::default()
        };
        let response = client.call(4, &request).await;
        assert_eq!(response.error_code, ErrorCode(code));
        assert_eq!((response.producer_id, response.producer_epoch), (-1, -1));
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_producer_names_its_id_and_epoch_or_neither() {
    let node = TestNode::start().await;
    let mut client = node.connect().await;
    for (producer_id, producer_epoch, code) in [(-1, -1, 0), (5, 1, 0), (5, -1, 42), (-1, 1, 42)] {
        let request = InitProducerIdRequest {
            producer_id,
            producer_epoch,
            ..InitProducerIdRequest::default()
        };
        let response = client.call(4, &request).await;
        assert_eq!(response.error_code, ErrorCode(code));
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_explained_up_to_a_bound() {
    let node = TestNode::start().await;
    let count = KAFKA_REFUSALS_MAX + 10;
    let partitions = i32::try_from(count).expect("small");
    let limit = [("message.timestamp.after.max.ms", "0")];
    node.topic("t", partitions, &limit).await;
    let mut client = node.connect().await;
    let mut builder = BatchBuilder::new();
    for _ in 0..2 {
        let far = 4_000_000_000_000;
        builder.append(far, None, Some(b"v"), &[]).expect("fits");
    }
    let bytes = builder.build(Codec::None).expect("built");
    let mut request = produce(-1, "t", 0, bytes.clone());
    request.topic_data[0].partition_data = (0..partitions)
        .map(|index| PartitionProduceData {
            index,
            records: Some(bytes.clone()),
        })
        .collect();
    let response = client.call(9, &request).await;
    let refused = &response.responses[0].partition_responses;
    assert_eq!(refused.len(), count);
    let is_refused = |of: &PartitionProduceResponse| of.error_code == ErrorCode::INVALID_TIMESTAMP;
    assert!(refused.iter().all(is_refused));
    let explained = refused.iter().filter(|of| of.error_message.is_some());
    assert_eq!(explained.count(), KAFKA_REFUSALS_MAX);
    let named: usize = refused.iter().map(|of| of.record_errors.len()).sum();
    assert_eq!(named, KAFKA_REFUSALS_MAX);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_waits_for_records_and_no_longer() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let (mut reader, mut writer) = (node.connect().await, node.connect().await);
    let mut request = fetch("t", 0, 0);
    request.max_wait_ms = 60_000;
    reader.send(12, &request).await;
    writer.produce("t", 0, batch(&["woken"])).await;
    let (_, response) = reader.receive::<FetchRequest>(12).await;
    assert_eq!(values(&response.responses[0].partitions[0]), ["woken"]);

    request.topics[0].partitions[0].fetch_offset = 1;
    request.max_wait_ms = 100;
    #[expect(clippy::disallowed_methods, reason = "the client's time")]
    let began = Instant::now();
    let response = reader.call(12, &request).await;
    assert!(began.elapsed() >= Duration::from_millis(100));
    let data = &response.responses[0].partitions[0];
    assert_eq!(data.error_code, ErrorCode::NONE);
    assert_eq!(data.high_watermark, 1);
    assert!(
        data.records
            .as_ref()
            .is_some_and(|records| records.is_empty())
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_waits_until_there_is_as_much_as_it_wants() {
    let node = TestNode::start().await;
    node.topic("t", 2, &[]).await;
    let (mut reader, mut writer) = (node.connect().await, node.connect().await);
    let size = batch(&["v"]).len();
    let mut request = fetch("t", 0, 0);
    request.max_wait_ms = 60_000;
    request.min_bytes = i32::try_from(3 * size).expect("small");
    let other = FetchPartition {
        partition: 1,
        ..request.topics[0].partitions[0].clone()
    };
    request.topics[0].partitions.push(other);
    writer.produce("t", 0, batch(&["v"])).await;
    reader.send(12, &request).await;
    writer.produce("t", 1, batch(&["v"])).await;
    writer.produce("t", 0, batch(&["v"])).await;
    let (_, response) = reader.receive::<FetchRequest>(12).await;
    let partitions = &response.responses[0].partitions;
    let counts: Vec<_> = partitions.iter().map(|data| values(data).len()).collect();
    assert_eq!(counts, [2, 1]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_partition_with_records_gives_one_whole_batch_whatever_the_limits() {
    let node = TestNode::start().await;
    node.topic("t", 3, &[]).await;
    let mut client = node.connect().await;
    let long = "x".repeat(5_000);
    for partition in [1, 2] {
        for value in [&long, "last"] {
            client.produce("t", partition, batch(&[value])).await;
        }
    }
    let mut request = fetch("t", 0, 0);
    request.max_bytes = 10;
    request.topics[0].partitions = (0..3)
        .map(|partition| FetchPartition {
            partition,
            partition_max_bytes: 10,
            ..FetchPartition::default()
        })
        .collect();
    let response = client.call(12, &request).await;
    let partitions = &response.responses[0].partitions;
    let found: Vec<_> = partitions.iter().map(|data| batches(data).len()).collect();
    assert_eq!(found, [0, 1, 0]);
    // A fetch from within a batch begins with the batch.
    client.produce("t", 0, batch(&["a", "b", "c"])).await;
    let data = client.fetch("t", 0, 2).await;
    assert_eq!(batches(&data)[0].0, 0);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_cannot_be_has_the_code_that_says_why() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    client.produce("t", 0, batch(&["v"])).await;
    let epoch = node.broker.shared().leader_epoch().0;
    let case = |partition, from, claimed_epoch| {
        let mut request = fetch("t", partition, from);
        request.max_wait_ms = 60_000;
        request.topics[0].partitions[0].current_leader_epoch = claimed_epoch;
        request
    };
    for (request, code) in [
        (case(0, 2, -1), 1),
        (case(0, -1, -1), 1),
        (case(1, 0, -1), 3),
        (case(0, 0, epoch + 1), 75),
        (case(0, 0, epoch), 0),
    ] {
        let response = client.call(12, &request).await;
        let data = &response.responses[0].partitions[0];
        assert_eq!(data.error_code, ErrorCode(code), "{request:?}");
        assert!(data.records.is_some());
    }
    let mut unknown = case(0, 0, -1);
    unknown.topics[0].topic_id = TopicId([3; 16]);
    let response = client.call(13, &unknown).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!(data.error_code, ErrorCode::UNKNOWN_TOPIC_ID);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_never_given_is_not_found() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut client = node.connect().await;
    for (session_id, session_epoch, code) in [(0, 0, 0), (0, -1, 0), (5, 1, 70), (0, 1, 70)] {
        let request = FetchRequest {
            session_id,
            session_epoch,
            ..fetch("t", 0, 0)
        };
        let response = client.call(12, &request).await;
        assert_eq!(response.error_code, ErrorCode(code));
        assert_eq!(response.session_id, 0);
    }
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_ends_when_its_topic_is_deleted() {
    let node = TestNode::start().await;
    node.topic("t", 1, &[]).await;
    let mut reader = node.connect().await;
    let mut request = fetch("t", 0, 0);
    request.max_wait_ms = 60_000;
    reader.send(12, &request).await;
    let mut admin = node.connect().await;
    let delete = DeleteTopicsRequest {
        topic_names: vec!["t".to_owned()],
        ..DeleteTopicsRequest::default()
    };
    admin.call(5, &delete).await;
    let (_, response) = reader.receive::<FetchRequest>(12).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!(data.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    node.stop().await;
}

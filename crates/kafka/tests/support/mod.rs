//! A node in this process, and a client made of the codec.
#![expect(clippy::expect_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use broker::owner::OwnerConfig;
use broker::shell::Running;
use broker::topic_config::BrokerDefaults;
use broker::{Broker, BrokerParts, NodeConfig, NodeInfo, ReadPool};
use bytes::{Bytes, BytesMut};
use millrace_kafka::wire::messages::*;
use millrace_kafka::wire::{ApiRequest, ErrorCode, decode_response, encode_request};
use millrace_kafka::{KafkaConfig, Server};
use record::{BatchBuilder, Codec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{Clock, SystemClock, SystemRandom};

/// Longest that anything in these tests takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const NODE_ID: i32 = 7;

pub(crate) struct TestNode {
    pub(crate) address: SocketAddr,
    pub(crate) broker: Broker,
    shutdown: CancellationToken,
    server: JoinHandle<()>,
    running: Running,
    _dir: tempfile::TempDir,
}

/// What a test may want otherwise.
pub(crate) struct Settings {
    pub(crate) kafka: KafkaConfig,
    pub(crate) auto_create: bool,
    pub(crate) delete_enabled: bool,
    pub(crate) admission_bytes: usize,
    pub(crate) disk: Arc<dyn disk::Disk>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kafka: KafkaConfig::default(),
            auto_create: true,
            delete_enabled: true,
            admission_bytes: 64 << 20,
            disk: Arc::new(disk::RealDisk::new()),
        }
    }
}

fn node_config(root: &Path) -> NodeConfig {
    NodeConfig {
        root: root.to_path_buf(),
        log_file_bytes: 16 << 20,
        tail_bytes: 4 << 20,
        extents_bytes: 1 << 20,
        owner: OwnerConfig {
            defaults: BrokerDefaults::default(),
            retention_check: Duration::from_secs(300),
            producer_expiration_ms: 86_400_000,
            entry_bytes_max: 4 << 20,
            unsealed_bytes_max: 256 << 20,
            unsealed_batches_max: 1_000_000,
            checkpoint_bytes: 64 << 20,
            node_id: NODE_ID,
            partitions_default: 2,
        },
    }
}

impl TestNode {
    pub(crate) async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Box::new(SystemRandom::new());
        let config = node_config(dir.path());
        let machines =
            broker::open(&config, settings.disk, Arc::clone(&clock), random).expect("opened");
        let broker = Broker::new(BrokerParts {
            shared: Arc::clone(&machines.shared),
            inbox: Arc::clone(&machines.inbox),
            reader: Arc::clone(&machines.reader),
            log: Arc::clone(&machines.log),
            clock,
            admission_bytes: settings.admission_bytes,
            info: NodeInfo {
                node_id: NODE_ID,
                cluster_id: "the-cluster".to_owned(),
                defaults: BrokerDefaults::default(),
                partitions_default: 2,
                auto_create: settings.auto_create,
                delete_enabled: settings.delete_enabled,
            },
            pool: ReadPool::start(2).expect("threads"),
        });
        let running = Running::start(machines).expect("threads");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shutdown = CancellationToken::new();
        let server = Server::new(broker.clone(), settings.kafka);
        // Nobody comes to this one: it takes nothing away from the other.
        let idle = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = tokio::spawn(server.run(vec![idle, listener], shutdown.clone()));
        Self {
            address,
            broker,
            shutdown,
            server,
            running,
            _dir: dir,
        }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Tells the server to stop and waits until it has.
    pub(crate) async fn stop_serving(&mut self) {
        self.shutdown.cancel();
        let stopped = tokio::time::timeout(PATIENCE, &mut self.server).await;
        stopped.expect("stopped in time").expect("no panic");
    }

    pub(crate) async fn stop(mut self) {
        self.stop_serving().await;
        let running = self.running;
        tokio::task::block_in_place(|| running.stop()).expect("a clean stop");
    }

    /// Makes a topic.
    pub(crate) async fn topic(&self, name: &str, partitions: i32, configs: &[(&str, &str)]) {
        let request = broker::metadata::CreateTopicRequest {
            partitions,
            configs: configs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())))
                .collect(),
            ..broker::metadata::CreateTopicRequest::with_defaults(name)
        };
        self.broker
            .create_topic(request, false)
            .await
            .expect("made");
    }
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    correlation_id: i32,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connected");
        stream.set_nodelay(true).expect("set");
        Self {
            stream,
            correlation_id: 0,
        }
    }

    /// Sends a request and gives its correlation id.
    pub(crate) async fn send<R: ApiRequest>(&mut self, version: i16, request: &R) -> i32 {
        self.send_as(version, "test", request).await
    }

    pub(crate) async fn send_as<R: ApiRequest>(
        &mut self,
        version: i16,
        client_id: &str,
        request: &R,
    ) -> i32 {
        let bytes = self.encoded(version, client_id, request);
        self.write(&bytes).await;
        self.correlation_id
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("sent");
    }

    /// The frame of the next request, for those who send it themselves.
    pub(crate) fn encoded<R: ApiRequest>(
        &mut self,
        version: i16,
        client_id: &str,
        request: &R,
    ) -> Bytes {
        self.correlation_id += 1;
        let chunks = encode_request(version, self.correlation_id, Some(client_id), request);
        chunks.expect("a request").to_bytes()
    }

    /// The next frame; `None` when the connection is closed.
    pub(crate) async fn frame(&mut self) -> Option<Bytes> {
        let read = async {
            let length = self.stream.read_i32().await.ok()?;
            let mut frame = BytesMut::zeroed(usize::try_from(length).expect("a length"));
            self.stream.read_exact(&mut frame).await.ok()?;
            Some(frame.freeze())
        };
        tokio::time::timeout(PATIENCE, read)
            .await
            .expect("an answer or an end in time")
    }

    pub(crate) async fn receive<R: ApiRequest>(&mut self, version: i16) -> (i32, R::Response) {
        let frame = self.frame().await.expect("an answer");
        decode_response::<R>(version, &frame).expect("a response")
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn call<R: ApiRequest>(&mut self, version: i16, request: &R) -> R::Response {
        let sent = self.send(version, request).await;
        let (correlation_id, response) = self.receive::<R>(version).await;
        assert_eq!(correlation_id, sent);
        response
    }

    /// Whether the connection is closed without another byte.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.frame().await.is_none()
    }

    /// Produces one batch with acks=all and gives what became of it.
    pub(crate) async fn produce(
        &mut self,
        topic: &str,
        partition: i32,
        batch: Bytes,
    ) -> PartitionProduceResponse {
        let response = self.call(9, &produce(-1, topic, partition, batch)).await;
        response.responses[0].partition_responses[0].clone()
    }

    /// Fetches from one partition without waiting.
    pub(crate) async fn fetch(&mut self, topic: &str, partition: i32, from: i64) -> PartitionData {
        let response = self.call(11, &fetch(topic, partition, from)).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        response.responses[0].partitions[0].clone()
    }
}

/// A batch of records with these values, timestamps from 1000 on.
pub(crate) fn batch(values: &[&str]) -> Bytes {
    packed(values, Codec::None)
}

pub(crate) fn packed(values: &[&str], codec: Codec) -> Bytes {
    built(BatchBuilder::new(), values, codec)
}

pub(crate) fn built(mut builder: BatchBuilder, values: &[&str], codec: Codec) -> Bytes {
    for (i, value) in values.iter().enumerate() {
        let time = 1_000 + i64::try_from(i).expect("small");
        builder
            .append(time, None, Some(value.as_bytes()), &[])
            .expect("fits");
    }
    builder.build(codec).expect("packed")
}

/// A Produce request of one batch.
pub(crate) fn produce(acks: i16, topic: &str, partition: i32, batch: Bytes) -> ProduceRequest {
    ProduceRequest {
        acks,
        timeout_ms: 1_000,
        topic_data: vec![TopicProduceData {
            name: topic.to_owned(),
            partition_data: vec![PartitionProduceData {
                index: partition,
                records: Some(batch),
            }],
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    }
}

/// A Fetch request of one partition that does not wait.
pub(crate) fn fetch(topic: &str, partition: i32, from: i64) -> FetchRequest {
    FetchRequest {
        max_wait_ms: 0,
        min_bytes: 1,
        topics: vec![FetchTopic {
            topic: topic.to_owned(),
            partitions: vec![FetchPartition {
                partition,
                fetch_offset: from,
                partition_max_bytes: 1 << 20,
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    }
}

/// Deletes the records of partition 0 of "t" below `offset`; all of them for -1.
pub(crate) fn delete_records(offset: i64) -> DeleteRecordsRequest {
    DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: "t".to_owned(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: 0,
                offset,
            }],
        }],
        ..DeleteRecordsRequest::default()
    }
}

/// The batches in an answer to a fetch: their base offsets and the values in them.
pub(crate) fn batches(data: &PartitionData) -> Vec<(i64, Vec<String>)> {
    let records = data.records.as_ref().expect("records, if none");
    let mut rest = Bytes::from(records.0.concat());
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let length = record::BatchHeader::parse(&rest)
            .expect("a header")
            .total_bytes();
        let batch = rest.split_to(length);
        let header = record::verify_crc(&batch).expect("a good batch");
        let mut scratch = Vec::new();
        let records = record::Records::read(&batch, &mut scratch).expect("records");
        let value = |record: record::Record<'_>| {
            String::from_utf8(record.value.unwrap_or_default().to_vec()).expect("text")
        };
        let values = records.map(|record| value(record.expect("a record")));
        batches.push((header.base_offset.0, values.collect()));
    }
    batches
}

/// All values in an answer to a fetch.
pub(crate) fn values(data: &PartitionData) -> Vec<String> {
    batches(data)
        .into_iter()
        .flat_map(|(_, values)| values)
        .collect()
}

/// Waits until something is so.
pub(crate) async fn eventually(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("so in time");
}

//! The admin listener over real sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use millrace_admin::{Bounds, LogStatus, Status, StatusSource, router, serve_within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Longest that anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Source {
    ready: AtomicBool,
}

impl StatusSource for Source {
    fn status(&self) -> Status {
        let log = LogStatus {
            synced_frame: 7,
            ..LogStatus::default()
        };
        Status {
            version: "1.2.3".into(),
            log,
            ..Status::default()
        }
    }

    fn ready(&self) -> Result<(), String> {
        if self.ready.load(Ordering::SeqCst) {
            Ok(())
        } else {
            Err("recovering the log".into())
        }
    }
}

struct Server {
    address: std::net::SocketAddr,
    source: Arc<Source>,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

async fn start() -> Server {
    start_within(Bounds::default()).await
}

async fn start_within(bounds: Bounds) -> Server {
    let source = Arc::new(Source::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let router = router(source.clone());
    let task = tokio::spawn(serve_within(bounds, listener, router, async move {
        let _dropped_or_sent = stopped.await;
    }));
    Server {
        address,
        source,
        stop,
        task,
    }
}

async fn get(server: &Server, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    ask(&mut stream, path).await;
    read(&mut stream).await
}

/// The connection is to end after one answer although the client would keep it.
async fn ask(stream: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
}

async fn read(stream: &mut TcpStream) -> (u16, String) {
    let mut answer = String::new();
    let whole = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer));
    whole.await.unwrap().unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    (status, body)
}

#[tokio::test]
async fn readiness_follows_the_source_and_says_why_not() {
    let server = start().await;
    assert_eq!(
        get(&server, "/health/ready").await,
        (503, "recovering the log\n".into())
    );
    assert_eq!(get(&server, "/health/live").await.0, 200);
    server.source.ready.store(true, Ordering::SeqCst);
    assert_eq!(get(&server, "/health/ready").await, (200, "ready\n".into()));
}

#[tokio::test]
async fn status_is_json_even_when_not_ready() {
    let server = start().await;
    let (code, body) = get(&server, "/api/v1/status").await;
    assert_eq!(code, 200);
    let status: Status = serde_json::from_str(&body).unwrap();
    assert_eq!(status.version, "1.2.3");
    assert_eq!(status.log.synced_frame, 7);
    assert!(!status.ready);
    assert_eq!(
        status.not_ready_reason.as_deref(),
        Some("recovering the log")
    );
}

#[tokio::test]
async fn unknown_paths_are_not_found_and_the_server_stops_when_told() {
    let server = start().await;
    assert_eq!(get(&server, "/nope").await.0, 404);
    server.stop.send(()).unwrap();
    server.task.await.unwrap().unwrap();
}

/// Writes a header that never ends, a byte whenever nothing was read for a moment, until the server
/// has had enough.
async fn drip(stream: &mut TcpStream) {
    let start = b"GET /health/live HTTP/1.1\r\nHost: ";
    stream.write_all(start).await.unwrap();
    let mut byte = [0];
    let ended = async {
        loop {
            let moment = Duration::from_millis(5);
            match tokio::time::timeout(moment, stream.read(&mut byte)).await {
                Ok(Ok(0) | Err(_)) => return,
                Ok(Ok(_)) => panic!("half a request was answered"),
                Err(_) if stream.write_all(b"x").await.is_err() => return,
                Err(_) => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

#[tokio::test]
async fn a_client_that_never_ends_its_request_is_cut_off() {
    let connection = Duration::from_millis(150);
    let server = start_within(Bounds {
        connection,
        ..Bounds::default()
    })
    .await;
    for is_silent in [true, false] {
        let connected = Instant::now();
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        if is_silent {
            let silence = stream.read_u8();
            let ended = tokio::time::timeout(PATIENCE, silence).await.unwrap();
            assert!(ended.is_err());
        } else {
            drip(&mut stream).await;
        }
        assert!(connected.elapsed() >= connection);
        assert_eq!(get(&server, "/health/live").await.0, 200);
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_others_end() {
    let connections_max = 2;
    let server = start_within(Bounds {
        connections_max,
        ..Bounds::default()
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..connections_max {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"GET ").await.unwrap();
        held.push(stream);
    }
    let mut waiting = TcpStream::connect(server.address).await.unwrap();
    ask(&mut waiting, "/health/live").await;
    let moment = Duration::from_millis(100);
    let early = tokio::time::timeout(moment, waiting.readable()).await;
    assert!(early.is_err(), "a third of two connections was served");
    held.pop();
    assert_eq!(read(&mut waiting).await, (200, "live\n".into()));
    // Those that wait and those that are served end when the server does.
    server.stop.send(()).unwrap();
    drop(held);
    server.task.await.unwrap().unwrap();
}

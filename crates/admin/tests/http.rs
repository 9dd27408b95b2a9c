//! The admin listener over real sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millrace_admin::{LogStatus, Status, StatusSource, router, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

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
    let source = Arc::new(Source::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let router = router(source.clone());
    let task = tokio::spawn(serve(listener, router, async move {
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
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
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

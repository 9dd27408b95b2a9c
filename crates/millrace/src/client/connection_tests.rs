//! Against a server that answers as each test wants it.

use std::net::SocketAddr;

use kafka::wire::messages::{ApiVersion, MetadataRequest, MetadataResponse};
use kafka::wire::{Request, RequestHeader, Response, decode_any_request, encode_any_response};
use tokio::net::TcpListener;

use super::*;

const TIMEOUT: Duration = Duration::from_secs(10);

/// What the server does with a request.
enum Answer {
    With(i16, Response),
    /// In the version of the request, under another correlation id.
    Misnumbered(Response),
    Nothing,
    HangUp,
}

/// Serves one connection: `answer` is asked for each request.
async fn serve(
    mut answer: impl FnMut(&RequestHeader, &Request) -> Answer + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("accepted");
        let mut buffer = BytesMut::new();
        while let Ok(frame) = read_frame(&mut socket, &mut buffer).await {
            let (header, request) = decode_any_request(&frame).expect("a valid request");
            let (version, id, response) = match answer(&header, &request) {
                Answer::With(version, response) => (version, header.correlation_id, response),
                Answer::Misnumbered(response) => {
                    (header.version, header.correlation_id + 1, response)
                }
                Answer::Nothing => continue,
                Answer::HangUp => return,
            };
            let frame = encode_any_response(version, id, &response)
                .expect("encoded")
                .to_bytes();
            if socket.write_all(&frame).await.is_err() {
                return;
            }
        }
    });
    address
}

fn versions(of: &[ApiKey]) -> Response {
    let api_keys = of.iter().map(|&api| ApiVersion::advertised(api)).collect();
    ApiVersionsResponse {
        api_keys,
        ..ApiVersionsResponse::default()
    }
    .into()
}

fn usual() -> Response {
    versions(&[ApiKey::ApiVersions, ApiKey::Metadata])
}

fn metadata(cluster: &str) -> Response {
    MetadataResponse {
        cluster_id: Some(cluster.into()),
        ..MetadataResponse::default()
    }
    .into()
}

async fn open(address: SocketAddr) -> Result<Connection, ClientError> {
    Connection::open(&address.to_string(), TIMEOUT).await
}

#[tokio::test]
async fn an_old_broker_is_asked_again_in_version_0() {
    let mut asked = Vec::new();
    let (sender, seen) = std::sync::mpsc::sync_channel(10);
    let address = serve(move |header, _| {
        asked.push(header.version);
        sender.send(header.version).expect("room");
        if asked.len() == 1 {
            return Answer::With(0, ApiVersionsResponse::unsupported_version().into());
        }
        Answer::With(header.version, usual())
    })
    .await;
    let connection = open(address).await.expect("open");
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [3, 0]);
    assert_eq!(connection.version(ApiKey::Metadata, 7).expect("served"), 7);
}

#[tokio::test]
async fn answers_go_to_their_requests_in_order() {
    let mut count = 0;
    let address = serve(move |header, request| match request {
        Request::ApiVersions(_) => Answer::With(header.version, usual()),
        _ => {
            count += 1;
            Answer::With(header.version, metadata(&count.to_string()))
        }
    })
    .await;
    let connection = open(address).await.expect("open");
    let mut replies = Vec::new();
    for _ in 0..5 {
        let request = MetadataRequest::default();
        replies.push(connection.send(i16::MAX, &request).await.expect("sent"));
    }
    for (reply, expected) in replies.into_iter().zip(["1", "2", "3", "4", "5"]) {
        let answer = reply.wait().await.expect("answered");
        assert_eq!(answer.cluster_id.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn a_connection_that_ends_fails_who_waits_and_who_comes_later() {
    let address = serve(|header, request| match request {
        Request::ApiVersions(_) => Answer::With(header.version, usual()),
        _ => Answer::HangUp,
    })
    .await;
    let connection = open(address).await.expect("open");
    for _ in 0..2 {
        let failed = connection
            .call(&MetadataRequest::default())
            .await
            .expect_err("closed");
        let of_connection = matches!(
            failed,
            ClientError::Closed { .. } | ClientError::Connection { .. }
        );
        assert!(of_connection, "{failed}");
    }
}

#[tokio::test]
async fn an_answer_to_another_request_ends_the_connection() {
    let address = serve(|header, request| match request {
        Request::ApiVersions(_) => Answer::With(header.version, usual()),
        _ => Answer::Misnumbered(metadata("wrong")),
    })
    .await;
    let connection = open(address).await.expect("open");
    let failed = connection
        .call(&MetadataRequest::default())
        .await
        .expect_err("refused");
    assert!(matches!(failed, ClientError::Closed { .. }), "{failed}");
}

#[tokio::test]
async fn silence_and_missing_apis_are_errors_that_name_the_api() {
    let address = serve(|header, request| match request {
        Request::ApiVersions(_) => Answer::With(header.version, usual()),
        _ => Answer::Nothing,
    })
    .await;
    let mut connection = open(address).await.expect("open");
    connection.timeout = Duration::from_millis(20);
    let failed = connection
        .call(&MetadataRequest::default())
        .await
        .expect_err("silence");
    assert!(failed.to_string().contains("Metadata"), "{failed}");
    let request = kafka::wire::messages::FetchRequest::default();
    let failed = connection.call(&request).await.expect_err("not advertised");
    let expected = format!("{address} does not serve a version of Fetch that this client speaks");
    assert_eq!(failed.to_string(), expected);
}

#[tokio::test]
async fn a_request_that_the_broker_does_not_take_is_an_error_and_ends_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("an address");
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("accepted");
        let mut buffer = BytesMut::new();
        let frame = read_frame(&mut socket, &mut buffer).await.expect("a frame");
        let (header, _) = decode_any_request(&frame).expect("a valid request");
        let answer = versions(&[ApiKey::ApiVersions, ApiKey::Produce]);
        let frame = encode_any_response(header.version, header.correlation_id, &answer);
        let frame = frame.expect("encoded").to_bytes();
        socket.write_all(&frame).await.expect("sent");
        // Held open, never read again.
        socket
    });
    let mut connection = open(address).await.expect("open");
    connection.timeout = Duration::from_millis(50);
    let _held = served.await.expect("no panic");
    let batch = Bytes::from(vec![0; 64 << 20]);
    let sending = crate::client::send_batch(&connection, "t", 0, 0, batch.clone());
    let sent = tokio::time::timeout(TIMEOUT, sending).await.expect("ended");
    let failed = sent.expect_err("not taken");
    assert!(matches!(failed, ClientError::Stalled { .. }), "{failed}");
    for acks in [0, 1] {
        let sent = crate::client::send_batch(&connection, "t", 0, acks, batch.clone()).await;
        let failed = sent.expect_err("closed");
        assert!(matches!(failed, ClientError::Closed { .. }), "{failed}");
    }
}

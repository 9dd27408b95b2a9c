//! One connection to a broker.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use kafka::wire::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kafka::wire::{ApiKey, ApiRequest, Chunks, ErrorCode, decode_response, encode_request};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::ClientError;
use super::versions::Versions;

/// What this client calls itself.
pub(crate) const CLIENT_ID: &str = "millrace";
/// Longest time to connect, where the time-out of answers is not shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest answer that is taken; brokers send at most what a fetch asks for, plus one batch.
const FRAME_BYTES_MAX: i32 = 512 << 20;
const READ_AHEAD_BYTES: usize = 64 << 10;

/// One socket. Requests may be sent while others wait; answers come in their order.
#[derive(Debug)]
pub(crate) struct Connection {
    server: Arc<str>,
    versions: Versions,
    timeout: Duration,
    writer: tokio::sync::Mutex<Writer>,
    waiting: Arc<Mutex<Waiting>>,
    reader: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Writer {
    socket: OwnedWriteHalf,
    next_id: i32,
}

/// Requests without an answer yet, oldest first; none once the connection has ended.
#[derive(Debug)]
struct Waiting(Option<VecDeque<(i32, oneshot::Sender<Bytes>)>>);

/// The answer to a request that was sent.
#[derive(Debug)]
pub(crate) struct Reply<R> {
    server: Arc<str>,
    version: i16,
    timeout: Duration,
    /// Counted from the request on: however many are waited for, silence is told after one time-out.
    deadline: Instant,
    frame: oneshot::Receiver<Bytes>,
    request: PhantomData<fn() -> R>,
}

impl Connection {
    /// Connects and asks for the broker's versions.
    pub(crate) async fn open(server: &str, timeout: Duration) -> Result<Self, ClientError> {
        let server: Arc<str> = server.into();
        let failed = |source| ClientError::Connect {
            server: server.to_string(),
            source,
        };
        let longest = CONNECT_TIMEOUT.min(timeout);
        let connecting = tokio::time::timeout(longest, TcpStream::connect(&*server));
        let socket = match connecting.await {
            Ok(connected) => connected.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
        };
        socket.set_nodelay(true).map_err(failed)?;
        let (read, write) = socket.into_split();
        let waiting = Arc::new(Mutex::new(Waiting(Some(VecDeque::new()))));
        let reader = tokio::spawn(read_answers(read, waiting.clone()));
        let writer = tokio::sync::Mutex::new(Writer {
            socket: write,
            next_id: 1,
        });
        let versions = Versions::default();
        let mut connection = Self {
            server,
            versions,
            timeout,
            writer,
            waiting,
            reader,
        };
        connection.negotiate().await?;
        Ok(connection)
    }

    async fn negotiate(&mut self) -> Result<(), ClientError> {
        let request = ApiVersionsRequest {
            client_software_name: CLIENT_ID.into(),
            client_software_version: env!("CARGO_PKG_VERSION").into(),
        };
        let mut answer = self.ask_versions(3, &request).await?;
        if answer.error_code == ErrorCode::UNSUPPORTED_VERSION {
            // KIP-511: an older broker answers in version 0 and is asked again in it.
            answer = self.ask_versions(0, &request).await?;
        }
        ClientError::check(answer.error_code, None, || "the broker's versions".into())?;
        self.versions = Versions::new(&answer.api_keys);
        Ok(())
    }

    async fn ask_versions(
        &self,
        version: i16,
        request: &ApiVersionsRequest,
    ) -> Result<ApiVersionsResponse, ClientError> {
        self.send_version(version, request).await?.wait().await
    }

    /// The address that was connected to.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The version in which an API would be called, `cap` at most.
    pub(crate) fn version(&self, api: ApiKey, cap: i16) -> Result<i16, ClientError> {
        let unsupported = || ClientError::Unsupported {
            server: self.server.to_string(),
            api,
        };
        self.versions.pick(api, cap).ok_or_else(unsupported)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn call<R: ApiRequest>(
        &self,
        request: &R,
    ) -> Result<R::Response, ClientError> {
        self.call_up_to(i16::MAX, request).await
    }

    /// As [`Connection::call`], in version `cap` at most.
    pub(crate) async fn call_up_to<R: ApiRequest>(
        &self,
        cap: i16,
        request: &R,
    ) -> Result<R::Response, ClientError> {
        self.send(cap, request).await?.wait().await
    }

    /// Sends a request in version `cap` at most; the answer may be waited for later.
    pub(crate) async fn send<R: ApiRequest>(
        &self,
        cap: i16,
        request: &R,
    ) -> Result<Reply<R>, ClientError> {
        let version = self.version(R::API, cap)?;
        self.send_version(version, request).await
    }

    async fn send_version<R: ApiRequest>(
        &self,
        version: i16,
        request: &R,
    ) -> Result<Reply<R>, ClientError> {
        let (sender, frame) = oneshot::channel();
        self.write(version, request, Some(sender)).await?;
        let (server, timeout) = (self.server.clone(), self.timeout);
        Ok(Reply {
            server,
            version,
            timeout,
            deadline: Instant::now() + timeout,
            frame,
            request: PhantomData,
        })
    }

    /// Sends a request that has no answer (Produce with acks=0).
    pub(crate) async fn send_unanswered<R: ApiRequest>(
        &self,
        cap: i16,
        request: &R,
    ) -> Result<(), ClientError> {
        let version = self.version(R::API, cap)?;
        self.write(version, request, None).await
    }

    async fn write<R: ApiRequest>(
        &self,
        version: i16,
        request: &R,
        answer: Option<oneshot::Sender<Bytes>>,
    ) -> Result<(), ClientError> {
        let mut writer = self.writer.lock().await;
        let id = writer.next_id;
        writer.next_id = id.wrapping_add(1);
        let frame = encode_request(version, id, Some(CLIENT_ID), request)?;
        // Under the writer's lock: the order of waiting is the order on the wire.
        self.enqueue(id, answer)?;
        let server = || self.server.to_string();
        let writing = write_all(&mut writer.socket, frame);
        match tokio::time::timeout(self.timeout, writing).await {
            Ok(written) => written.map_err(|source| ClientError::Connection {
                server: server(),
                source,
            }),
            Err(_) => {
                // Part of a frame may be on the wire: nothing can follow it.
                self.waiting().0 = None;
                Err(ClientError::Stalled {
                    server: server(),
                    api: R::API,
                    after: self.timeout,
                })
            }
        }
    }

    /// Lets a request wait for its answer, if it has one; an error once the connection has ended.
    fn enqueue(&self, id: i32, answer: Option<oneshot::Sender<Bytes>>) -> Result<(), ClientError> {
        let mut waiting = self.waiting();
        let Some(queue) = waiting.0.as_mut() else {
            return Err(ClientError::Closed {
                server: self.server.to_string(),
            });
        };
        queue.extend(answer.map(|answer| (id, answer)));
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl<R: ApiRequest> Reply<R> {
    /// Waits for the answer.
    pub(crate) async fn wait(self) -> Result<R::Response, ClientError> {
        let server = self.server.to_string();
        let frame = match tokio::time::timeout_at(self.deadline, self.frame).await {
            Err(_) => {
                return Err(ClientError::TimedOut {
                    server,
                    api: R::API,
                    after: self.timeout,
                });
            }
            Ok(Err(_)) => return Err(ClientError::Closed { server }),
            Ok(Ok(frame)) => frame,
        };
        match decode_response::<R>(self.version, &frame) {
            Ok((_, response)) => Ok(response),
            Err(source) => Err(ClientError::Malformed {
                server,
                api: R::API,
                source,
            }),
        }
    }
}

async fn write_all(socket: &mut OwnedWriteHalf, mut frame: Chunks) -> std::io::Result<()> {
    while frame.has_remaining() {
        socket.write_buf(&mut frame).await?;
    }
    Ok(())
}

/// Hands each answer to whoever waits for it. Ends with the connection, and everybody who still
/// waits then learns it from the dropped sender.
async fn read_answers(mut socket: OwnedReadHalf, waiting: Arc<Mutex<Waiting>>) {
    let mut buffer = BytesMut::with_capacity(READ_AHEAD_BYTES);
    while let Ok(frame) = read_frame(&mut socket, &mut buffer).await {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.0.as_mut().and_then(VecDeque::pop_front);
        let fits = |id: i32| frame.starts_with(&id.to_be_bytes());
        match next {
            // Whoever gave up waiting does not take it: that is no fault of the connection.
            Some((id, answer)) if fits(id) => drop(answer.send(frame)),
            _ => break,
        }
    }
    waiting.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
}

async fn read_frame(
    socket: &mut (impl AsyncRead + Unpin),
    buffer: &mut BytesMut,
) -> std::io::Result<Bytes> {
    fill(socket, buffer, 4).await?;
    let announced = buffer.get_i32();
    let length = usize::try_from(announced)
        .ok()
        .filter(|_| announced <= FRAME_BYTES_MAX);
    let Some(length) = length else {
        return Err(std::io::ErrorKind::InvalidData.into());
    };
    fill(socket, buffer, length).await?;
    Ok(buffer.split_to(length).freeze())
}

/// Reads until the buffer holds `length` bytes; memory grows with what arrives.
async fn fill(
    socket: &mut (impl AsyncRead + Unpin),
    buffer: &mut BytesMut,
    length: usize,
) -> std::io::Result<()> {
    while buffer.len() < length {
        let missing = length - buffer.len();
        buffer.reserve(missing.clamp(READ_AHEAD_BYTES / 4, 4 << 20));
        if socket.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;

//! Requests to answers: one file per API. Handlers translate, they keep nothing.

mod alter_configs;
mod api_versions;
mod closed;
mod create_partitions;
mod create_topics;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod fetch;
mod find_coordinator;
mod in_time;
mod init_producer_id;
mod join;
mod leader_epoch;
mod list_offsets;
mod mention;
mod metadata;
mod node;
mod offset_fetch;
mod offset_for_leader_epoch;
mod operations;
mod produce;
mod produce_timer;
mod resource;

use bytes::Bytes;

use crate::server::Answer;
use crate::wire::{
    ApiKey, ApiResponse, DecodeError, Request, RequestHeader, decode_any_request, encode_response,
    messages::ApiVersionsResponse,
};

pub(crate) use closed::Closed;
pub(crate) use node::{Node, Session};
pub(crate) use produce::{Appending, Started};
pub(crate) use produce_timer::ProduceTimer;

/// What becomes of a request: its answer, if it has one.
pub(crate) type Outcome = Option<Answer>;

/// A request's header and the connection that it came on.
#[derive(Debug)]
struct Call {
    session: Session,
    header: RequestHeader,
}

impl Call {
    fn version(&self) -> i16 {
        self.header.version
    }

    fn answer<R: ApiResponse>(&self, response: &R) -> Result<Outcome, Closed> {
        let RequestHeader {
            version,
            correlation_id,
            ..
        } = self.header;
        Ok(Some(
            encode_response(version, correlation_id, response)?.into(),
        ))
    }
}

/// Checks and proposes the batches of a Produce request. Ends when they are with the owner.
pub(crate) async fn start_produce(session: Session, frame: Bytes) -> Result<Started, Closed> {
    match decode(&frame)? {
        Decoded::Request(header, Request::Produce(request)) => {
            produce::start(Call { session, header }, request, frame.len()).await
        }
        Decoded::Request(header, request) => {
            let outcome = dispatch(Call { session, header }, request, frame.len()).await?;
            Ok(Started::Done(outcome))
        }
        Decoded::Answer(answer) => Ok(Started::Done(Some(answer))),
    }
}

/// Does all of a request.
pub(crate) async fn run(session: Session, frame: Bytes) -> Result<Outcome, Closed> {
    let decoded = decode(&frame)?;
    let bytes = frame.len();
    // Of a request without batches nothing is used from there.
    drop(frame);
    match decoded {
        Decoded::Request(header, request) => {
            dispatch(Call { session, header }, request, bytes).await
        }
        Decoded::Answer(answer) => Ok(Some(answer)),
    }
}

enum Decoded {
    Request(RequestHeader, Request),
    /// An answer that needs no handler.
    Answer(Answer),
}

fn decode(frame: &Bytes) -> Result<Decoded, Closed> {
    match decode_any_request(frame) {
        Ok((header, request)) => Ok(Decoded::Request(header, request)),
        // KIP-511: whatever the version, the answer is one that every client reads.
        Err(DecodeError::UnsupportedVersion { header }) if header.api == ApiKey::ApiVersions => {
            let response = ApiVersionsResponse::unsupported_version();
            let chunks = encode_response(0, header.correlation_id, &response)?;
            Ok(Decoded::Answer(chunks.into()))
        }
        Err(error) => Err(error.into()),
    }
}

async fn dispatch(call: Call, request: Request, bytes: usize) -> Result<Outcome, Closed> {
    match request {
        Request::Produce(request) => produce::run(call, request, bytes).await,
        Request::Fetch(request) => fetch::run(call, request, bytes).await,
        Request::ListOffsets(request) => call.answer(&list_offsets::run(&call, request).await),
        Request::Metadata(request) => call.answer(&metadata::run(&call, request).await),
        Request::OffsetFetch(request) => call.answer(&offset_fetch::run(&call, request)),
        Request::FindCoordinator(request) => {
            call.answer(&find_coordinator::run(&call, request).await)
        }
        Request::ApiVersions(request) => call.answer(&api_versions::run(&call, &request)),
        Request::CreateTopics(request) => call.answer(&create_topics::run(&call, request).await),
        Request::DeleteTopics(request) => call.answer(&delete_topics::run(&call, request).await),
        Request::DeleteRecords(request) => call.answer(&delete_records::run(&call, request).await),
        Request::InitProducerId(request) => {
            call.answer(&init_producer_id::run(&call, &request).await)
        }
        Request::OffsetForLeaderEpoch(request) => {
            call.answer(&offset_for_leader_epoch::run(&call, request).await)
        }
        Request::DescribeConfigs(request) => {
            call.answer(&describe_configs::run(&call, request).await)
        }
        Request::AlterConfigs(request) => {
            call.answer(&alter_configs::replace(&call, request).await)
        }
        Request::IncrementalAlterConfigs(request) => {
            call.answer(&alter_configs::change(&call, request).await)
        }
        Request::CreatePartitions(request) => {
            call.answer(&create_partitions::run(&call, request).await)
        }
        Request::DescribeCluster(request) => call.answer(&describe_cluster::run(&call, &request)),
    }
}

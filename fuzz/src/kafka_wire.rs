//! What must hold for any bytes that the Kafka codec reads.

use bytes::Bytes;
use millrace_kafka::wire::{
    ApiKey, ErrorCode, Response, decode_any_request, decode_any_response, encode_any_request,
    encode_any_response,
};

/// Reading a request frame ends, and what was read comes back unchanged when written and read
/// again.
pub fn check_request(frame: &Bytes) {
    let Ok((header, request)) = decode_any_request(frame) else {
        return;
    };
    let client_id = header.client_id.as_deref();
    let encoded = encode_any_request(header.version, header.correlation_id, client_id, &request)
        .expect("what was decoded can be encoded");
    let again = decode_any_request(&encoded.to_bytes().slice(4..));
    assert_eq!(again, Ok((header, request)));
}

/// The same for a response frame, which comes after its key and version, one byte each.
pub fn check_response(input: &Bytes) {
    let Some((&[key, version], _)) = input.split_first_chunk() else {
        return;
    };
    let version = i16::from(version);
    let Some(api) = ApiKey::from_code(i16::from(key)).filter(|api| api.serves(version)) else {
        return;
    };
    let Ok((id, response)) = decode_any_response(api, version, &input.slice(2..)) else {
        return;
    };
    let version = if is_fallback(&response) { 0 } else { version };
    let encoded =
        encode_any_response(version, id, &response).expect("what was decoded can be encoded");
    let again = decode_any_response(api, version, &encoded.to_bytes().slice(4..));
    assert_eq!(again, Ok((id, response)));
}

/// An answer that came in version 0 because the broker does not know the version (KIP-511).
fn is_fallback(response: &Response) -> bool {
    matches!(response, Response::ApiVersions(answer)
        if answer.error_code == ErrorCode::UNSUPPORTED_VERSION)
}

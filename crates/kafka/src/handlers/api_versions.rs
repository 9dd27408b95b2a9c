//! ApiVersions: what the broker speaks.

use super::Call;
use crate::wire::messages::{ApiVersion, ApiVersionsRequest, ApiVersionsResponse};
use crate::wire::{ApiKey, ErrorCode};

/// From this version on clients say what they are.
const SOFTWARE_VERSION: i16 = 3;

/// No feature is named: a finalized one would promise what is not there, as `transaction.version`
/// does with transactions of the second kind.
pub(super) fn run(call: &Call, request: &ApiVersionsRequest) -> ApiVersionsResponse {
    let named = [
        &request.client_software_name,
        &request.client_software_version,
    ];
    if call.version() >= SOFTWARE_VERSION && !named.into_iter().all(|text| is_software(text)) {
        return ApiVersionsResponse {
            error_code: ErrorCode::INVALID_REQUEST,
            ..ApiVersionsResponse::default()
        };
    }
    ApiVersionsResponse {
        api_keys: ApiKey::ALL
            .iter()
            .copied()
            .map(ApiVersion::advertised)
            .collect(),
        ..ApiVersionsResponse::default()
    }
}

/// `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?` (KIP-511).
fn is_software(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let is_end = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().copied().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_names_begin_and_end_with_a_letter_or_digit() {
        for good in ["a", "7", "apache-kafka-java", "3.9.0", "a.-.b"] {
            assert!(is_software(good), "{good}");
        }
        for bad in ["", "-a", "a-", ".", "a b", "a/b", "é", "a\n"] {
            assert!(!is_software(bad), "{bad}");
        }
    }
}

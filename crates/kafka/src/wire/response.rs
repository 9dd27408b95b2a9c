use bytes::Bytes;

use super::api::for_each_api;
use super::header::{decode_response_header, encode_response_header};
use super::messages::*;
use super::request::ApiRequest;
use super::{ApiKey, Chunks, EncodeError, ErrorCode, Format, Malformed, Reader, Wire, Writer};

/// The body of a response of one API.
pub trait ApiResponse: Wire {
    /// The API.
    const API: ApiKey;
}

macro_rules! response {
    ($($name:ident = $key:literal: $advertised:expr, $served_from:literal, $flexible_from:literal,
        $request:ident, $response:ident;)+) => {
        /// The body of any response.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Response {
            $(
                #[doc = concat!("Of ", stringify!($name), ".")]
                $name($response),
            )+
        }

        impl Response {
            /// The API that is answered.
            #[must_use]
            pub fn api(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => ApiKey::$name,)+
                }
            }

            fn decode(api: ApiKey, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$name => $response::decode(reader).map(Self::$name),)+
                }
            }

            fn encode(&self, writer: &mut Writer) {
                match self {
                    $(Self::$name(body) => body.encode(writer),)+
                }
            }
        }

        $(
            impl ApiResponse for $response {
                const API: ApiKey = ApiKey::$name;
            }

            impl From<$response> for Response {
                fn from(body: $response) -> Self {
                    Self::$name(body)
                }
            }
        )+
    };
}

for_each_api!(response);

/// Writes any response.
pub fn encode_any_response(
    version: i16,
    correlation_id: i32,
    response: &Response,
) -> Result<Chunks, EncodeError> {
    let mut writer = start_response(response.api(), version, correlation_id)?;
    response.encode(&mut writer);
    writer.finish()
}

/// Writes a response of a known type.
pub fn encode_response<R: ApiResponse>(
    version: i16,
    correlation_id: i32,
    response: &R,
) -> Result<Chunks, EncodeError> {
    let mut writer = start_response(R::API, version, correlation_id)?;
    response.encode(&mut writer);
    writer.finish()
}

fn start_response(api: ApiKey, version: i16, correlation_id: i32) -> Result<Writer, EncodeError> {
    if !api.serves(version) {
        return Err(EncodeError::UnknownVersion(version));
    }
    let mut writer = Writer::new(Format {
        version,
        flexible: false,
    });
    encode_response_header(&mut writer, api, version, correlation_id);
    Ok(writer)
}

/// Reads the response to a request of any type, for clients: its correlation id and body. The
/// frame begins behind its length prefix.
pub fn decode_any_response(
    api: ApiKey,
    version: i16,
    frame: &Bytes,
) -> Result<(i32, Response), Malformed> {
    let (mut reader, correlation_id) = open_response(api, version, frame)?;
    Ok((correlation_id, Response::decode(api, &mut reader)?))
}

/// Reads the response to a request of a known type, for clients: its correlation id and body.
/// The frame begins behind its length prefix.
pub fn decode_response<R: ApiRequest>(
    version: i16,
    frame: &Bytes,
) -> Result<(i32, R::Response), Malformed> {
    let (mut reader, correlation_id) = open_response(R::API, version, frame)?;
    Ok((correlation_id, R::Response::decode(&mut reader)?))
}

fn open_response(api: ApiKey, version: i16, frame: &Bytes) -> Result<(Reader<'_>, i32), Malformed> {
    let mut reader = Reader::new(
        frame,
        Format {
            version,
            flexible: false,
        },
    );
    let correlation_id = decode_response_header(&mut reader, api, version)?;
    let unsupported = ErrorCode::UNSUPPORTED_VERSION.0.to_be_bytes();
    if api == ApiKey::ApiVersions && reader.peek().starts_with(&unsupported) {
        // The broker does not know the version and answers in version 0 (KIP-511).
        reader.set_format(api.format(0));
    }
    Ok((reader, correlation_id))
}

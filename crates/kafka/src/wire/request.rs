use bytes::Bytes;

use super::api::for_each_api;
use super::messages::*;
use super::response::ApiResponse;
use super::{
    ApiKey, Chunks, DecodeError, EncodeError, Format, Malformed, Reader, RequestHeader, Wire,
    Writer,
};

/// The body of a request of one API.
pub trait ApiRequest: Wire {
    /// The API.
    const API: ApiKey;
    /// What answers it.
    type Response: ApiResponse;
}

macro_rules! request {
    ($($name:ident = $key:literal: $advertised:expr, $served_from:literal, $flexible_from:literal,
        $request:ident, $response:ident;)+) => {
        /// The body of any request.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Request {
            $(
                #[doc = concat!("Of ", stringify!($name), ".")]
                $name($request),
            )+
        }

        impl Request {
            /// The API that is called.
            #[must_use]
            pub fn api(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => ApiKey::$name,)+
                }
            }

            fn decode(api: ApiKey, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                match api {
                    $(ApiKey::$name => $request::decode(reader).map(Self::$name),)+
                }
            }

            fn encode(&self, writer: &mut Writer) {
                match self {
                    $(Self::$name(body) => body.encode(writer),)+
                }
            }
        }

        $(
            impl ApiRequest for $request {
                const API: ApiKey = ApiKey::$name;
                type Response = $response;
            }

            impl From<$request> for Request {
                fn from(body: $request) -> Self {
                    Self::$name(body)
                }
            }
        )+
    };
}

for_each_api!(request);

/// Reads any request from a frame, which begins behind its length prefix. Total: whatever the
/// bytes, it ends in a request or an error, with bounded memory. Bytes behind the body are
/// ignored, as Kafka ignores them.
pub fn decode_any_request(frame: &Bytes) -> Result<(RequestHeader, Request), DecodeError> {
    let mut reader = Reader::new(
        frame,
        Format {
            version: 0,
            flexible: false,
        },
    );
    let header = RequestHeader::decode(&mut reader)?;
    match Request::decode(header.api, &mut reader) {
        Ok(request) => Ok((header, request)),
        Err(source) => Err(DecodeError::Malformed {
            header: Some(header),
            source,
        }),
    }
}

/// Writes any request, for clients.
pub fn encode_any_request(
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &Request,
) -> Result<Chunks, EncodeError> {
    let mut writer = start_request(request.api(), version, correlation_id, client_id)?;
    request.encode(&mut writer);
    writer.finish()
}

/// Writes a request of a known type, for clients.
pub fn encode_request<R: ApiRequest>(
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &R,
) -> Result<Chunks, EncodeError> {
    let mut writer = start_request(R::API, version, correlation_id, client_id)?;
    request.encode(&mut writer);
    writer.finish()
}

fn start_request(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
) -> Result<Writer, EncodeError> {
    if !api.serves(version) {
        return Err(EncodeError::UnknownVersion(version));
    }
    let client_id = client_id.map(str::to_owned);
    let mut writer = Writer::new(Format {
        version,
        flexible: false,
    });
    RequestHeader {
        api,
        version,
        correlation_id,
        client_id,
    }
    .encode(&mut writer);
    Ok(writer)
}

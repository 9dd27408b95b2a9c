use super::{ApiKey, DecodeError, Format, Malformed, Reader, Writer};

/// What stands before the body of every request (header versions 1 and 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHeader {
    /// The API that is called.
    pub api: ApiKey,
    /// Version of the body, and of the response to it.
    pub version: i16,
    /// Comes back in the response.
    pub correlation_id: i32,
    /// What the client calls itself.
    pub client_id: Option<String>,
}

impl RequestHeader {
    /// Reads a header and sets the reader to the layout of the body. The version may be one that
    /// is not served.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let key = reader.read_i16()?;
        let version = reader.read_i16()?;
        let correlation_id = reader.read_i32()?;
        let Some(api) = ApiKey::from_code(key) else {
            return Err(DecodeError::UnknownKey {
                key,
                version,
                correlation_id,
            });
        };
        let mut header = Self {
            api,
            version,
            correlation_id,
            client_id: None,
        };
        if !api.serves(version) {
            // What follows may have a layout of the future; a readable client id is a courtesy.
            header.client_id = reader.read_classic_string().unwrap_or(None);
            return Err(DecodeError::UnsupportedVersion { header });
        }
        reader.set_format(api.format(version));
        match Self::decode_rest(reader) {
            Ok(client_id) => Ok(Self {
                client_id,
                ..header
            }),
            Err(source) => Err(DecodeError::Malformed {
                header: Some(header),
                source,
            }),
        }
    }

    fn decode_rest(reader: &mut Reader<'_>) -> Result<Option<String>, Malformed> {
        // The client id keeps its 16-bit length in flexible headers (KIP-482).
        let client_id = reader.read_classic_string()?;
        reader.read_tags(|_, _| Ok(()))?;
        Ok(client_id)
    }

    /// Writes the header and sets the writer to the layout of the body.
    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.put_i16(self.api.code());
        writer.put_i16(self.version);
        writer.put_i32(self.correlation_id);
        writer.put_classic_string(self.client_id.as_deref());
        writer.set_format(self.api.format(self.version));
        writer.put_tags(|_| ());
    }
}

/// Reads a response header (version 0 or 1), sets the reader to the layout of the body and gives
/// the correlation id.
pub(super) fn decode_response_header(
    reader: &mut Reader<'_>,
    api: ApiKey,
    version: i16,
) -> Result<i32, Malformed> {
    let correlation_id = reader.read_i32()?;
    reader.set_format(response_header_format(api, version));
    reader.read_tags(|_, _| Ok(()))?;
    reader.set_format(api.format(version));
    Ok(correlation_id)
}

/// Writes a response header (version 0 or 1) and sets the writer to the layout of the body.
pub(super) fn encode_response_header(
    writer: &mut Writer,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
) {
    writer.put_i32(correlation_id);
    writer.set_format(response_header_format(api, version));
    writer.put_tags(|_| ());
    writer.set_format(api.format(version));
}

fn response_header_format(api: ApiKey, version: i16) -> Format {
    Format {
        version,
        flexible: api.response_header_is_flexible(version),
    }
}

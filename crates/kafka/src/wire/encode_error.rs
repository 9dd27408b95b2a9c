/// Why a message cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A field is null that may not be null in this version.
    #[error("a field is null that may not be in this version")]
    Null,
    /// A string, array or frame is longer than its length field can say.
    #[error("a length of {0} does not fit its field")]
    TooLong(usize),
    /// The version is none of those that the codec knows.
    #[error("version {0} of the message does not exist here")]
    UnknownVersion(i16),
}

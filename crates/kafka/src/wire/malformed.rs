/// Why bytes are not the message that they claim to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A field goes beyond the end of the message.
    #[error("a field needs {needed} bytes, {left} are left")]
    Truncated {
        /// Bytes that the field needs.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// An array claims more elements than the rest of the message can hold.
    #[error("an array claims {count} elements, {left} bytes are left")]
    ArrayBeyondEnd {
        /// Claimed number of elements.
        count: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// An array has more than [`types::limits::KAFKA_ARRAY_MAX`] elements.
    #[error("an array claims {count} elements, which is over the limit")]
    ArrayTooLong {
        /// Claimed number of elements.
        count: usize,
    },
    /// A structure has more than [`types::limits::KAFKA_TAGS_MAX`] tagged fields.
    #[error("a structure claims {count} tagged fields, which is over the limit")]
    TooManyTags {
        /// Claimed number of tagged fields.
        count: usize,
    },
    /// Decoded, the message takes more than [`types::limits::KAFKA_DECODED_BYTES_MAX`].
    #[error("the decoded message takes too much memory")]
    TooMuchMemory,
    /// A length is below -1.
    #[error("a length is {0}")]
    NegativeLength(i32),
    /// A field is null that may not be null in this version.
    #[error("a field is null that may not be")]
    Null,
    /// A string is not UTF-8.
    #[error("a string is not valid UTF-8")]
    NotUtf8,
    /// A variable-length number does not fit in 32 bits.
    #[error("a variable-length number does not fit in 32 bits")]
    VarintTooLong,
}

//! What the caller of a failed operation must do.

/// The kind of an error says what its receiver must do, not where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong; sending it again changes nothing.
    Invalid,
    /// What the request names does not exist.
    NotFound,
    /// The caller may not do this.
    Denied,
    /// The caller's view of who leads or owns is old: refresh it, then try again.
    Fenced,
    /// Not now: try again later.
    Unavailable,
    /// A bound is reached (disk, memory): try again when there is room.
    Full,
    /// Stored bytes are not what was written; an operator must decide.
    Corrupt,
    /// The component cannot go on until it is restarted.
    Fatal,
}

impl ErrorKind {
    /// Whether the same request may succeed later without anybody changing it.
    #[must_use]
    pub const fn retriable(self) -> bool {
        matches!(self, Self::Fenced | Self::Unavailable | Self::Full)
    }
}

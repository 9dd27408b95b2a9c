/// How one message is laid out: its version, and whether that version is flexible (KIP-482:
/// compact lengths and tagged fields).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Version of the message.
    pub version: i16,
    /// Whether lengths are compact and structures end in tagged fields.
    pub flexible: bool,
}

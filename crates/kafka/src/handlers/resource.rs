//! Resources that have settings, by their numbers in the protocol.

/// What has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResourceType {
    Topic,
    Broker,
    /// One that has none here.
    Other,
}

impl From<i8> for ResourceType {
    fn from(number: i8) -> Self {
        match number {
            2 => Self::Topic,
            4 => Self::Broker,
            _ => Self::Other,
        }
    }
}

/// Why a resource of a type without settings is refused.
pub(super) fn no_settings(number: i8) -> String {
    let name = match number {
        8 => "broker loggers",
        16 => "client metrics",
        32 => "groups",
        _ => return format!("there is no resource type {number}"),
    };
    format!("{name} have no settings in this version")
}

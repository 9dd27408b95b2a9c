//! Settings of the Kafka front end, as plain data.

use std::time::Duration;

/// Settings of the Kafka front end. Whether topics are made and may be deleted stands in
/// [`broker::NodeInfo`], where all protocols find it.
#[derive(Clone, Debug)]
pub struct KafkaConfig {
    /// `max.connections`: connections that may be open at once; more wait to be accepted.
    pub connections_max: usize,
    /// `connections.max.idle.ms`: a connection without traffic for this long is closed.
    pub idle_max: Duration,
    /// `socket.request.max.bytes`: a larger request closes its connection.
    pub request_bytes_max: usize,
    /// `fetch.max.bytes`: record bytes in one answer, one batch aside.
    pub fetch_bytes_max: usize,
    /// `kafka.advertise`: what clients are told; unset: where they reached us.
    pub advertised: Option<Advertised>,
    /// What the broker resource of `DescribeConfigs` lists, by name.
    pub broker_settings: Vec<BrokerSetting>,
}

impl Default for KafkaConfig {
    fn default() -> Self {
        Self {
            connections_max: usize::MAX,
            idle_max: Duration::from_secs(600),
            request_bytes_max: 100 << 20,
            fetch_bytes_max: 55 << 20,
            advertised: None,
            broker_settings: Vec::new(),
        }
    }
}

/// An address that clients are told instead of the one at which they reached us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// Host name or address.
    pub host: String,
    /// The port; that of the listener if unset.
    pub port: Option<u16>,
}

/// A setting of the node, as `DescribeConfigs` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerSetting {
    /// Its name.
    pub name: String,
    /// The value in force; `None` where there is none.
    pub value: Option<String>,
    /// The value that holds where nobody says otherwise.
    pub default: Option<String>,
    /// Who said so.
    pub source: SettingSource,
    /// What values it takes.
    pub setting_type: SettingType,
    /// Whether the value must not be shown.
    pub sensitive: bool,
    /// One line for people.
    pub documentation: String,
}

/// Who said what a setting of the node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// A file, the environment or the command line.
    Static,
    /// Nobody: it is the default.
    Default,
}

/// What values a setting of the node takes; the number is what `DescribeConfigs` sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum SettingType {
    /// True or false.
    Boolean = 1,
    /// Text.
    String = 2,
    /// A 32-bit number.
    Int = 3,
    /// A 64-bit number.
    Long = 5,
    /// A number with a point.
    Double = 6,
    /// Words with commas between.
    List = 7,
}

//! Addresses to listen at and to tell clients.

use std::fmt;
use std::net::IpAddr;

/// A listener: off, or at one or more addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    Off,
    At(Vec<Endpoint>),
}

/// One `host:port`; port 0 takes a free one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// `localhost`: 127.0.0.1, and ::1 where there is one.
    Loopbacks,
    Ip(IpAddr),
    /// Resolved when the listener is bound.
    Name(String),
}

/// What clients are told: a host, and a port unless it is that of the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advertise {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl Listen {
    /// Parses a list of `host:port`, or `off`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::Off);
        }
        let endpoints: Option<Vec<_>> =
            text.split(',').map(|e| Endpoint::parse(e.trim())).collect();
        endpoints.filter(|all| !all.is_empty()).map(Self::At)
    }
}

impl Endpoint {
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = split_port(text)?;
        let host = match host.parse::<IpAddr>() {
            Ok(ip) => Host::Ip(ip),
            Err(_) if host == "localhost" => Host::Loopbacks,
            Err(_) if is_name(host) => Host::Name(host.into()),
            Err(_) => return None,
        };
        Some(Self { host, port })
    }
}

impl Advertise {
    /// Parses `host:port` or `host`; port 0 cannot be told to anyone.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match split_port(text) {
            Some((_, 0)) => return None,
            Some((host, port)) => (host, Some(port)),
            None => (
                text.strip_prefix('[')
                    .and_then(|t| t.strip_suffix(']'))
                    .unwrap_or(text),
                None,
            ),
        };
        let valid = host.parse::<IpAddr>().is_ok_and(|ip| !ip.is_unspecified())
            || (is_name(host) && host.parse::<IpAddr>().is_err());
        valid.then(|| Self {
            host: host.into(),
            port,
        })
    }
}

/// Splits `host:port` or `[v6]:port`.
fn split_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').filter(|h| h.contains(':'))?,
        None if host.contains(':') => return None,
        None => host,
    };
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    digits
        .then(|| port.parse().ok())
        .flatten()
        .map(|port| (host, port))
}

/// RFC 1123's letters, digits, dots and hyphens, and the underscore that many networks use.
fn is_name(host: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    let letter = host.bytes().any(|b| b.is_ascii_alphabetic());
    letter && host.len() <= 253 && host.bytes().all(allowed)
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Loopbacks => write!(f, "localhost:{}", self.port),
            Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]:{}", self.port),
            Host::Ip(ip) => write!(f, "{ip}:{}", self.port),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_of_addresses() {
        let parsed = Listen::parse("localhost:9092, 10.0.0.1:0,[::1]:1,broker-1.example:65535");
        let Some(Listen::At(all)) = parsed else {
            panic!("{parsed:?}")
        };
        let said: Vec<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "localhost:9092",
                "10.0.0.1:0",
                "[::1]:1",
                "broker-1.example:65535"
            ]
        );
        assert_eq!(all[0].host, Host::Loopbacks);
        assert_eq!(Listen::parse("off"), Some(Listen::Off));
    }

    #[test]
    fn refuses_what_names_no_host_or_no_port() {
        for text in [
            "",
            "9092",
            ":9092",
            "a:",
            "a:65536",
            "a:+1",
            "::1:9092",
            "[a]:1",
            "a b:1",
            "a:1,",
            "300.1.1.1:1",
        ] {
            assert_eq!(Listen::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_advertised_address_may_leave_out_the_port() {
        let of = |host: &str, port| {
            Some(Advertise {
                host: host.into(),
                port,
            })
        };
        assert_eq!(Advertise::parse("b.example"), of("b.example", None));
        assert_eq!(Advertise::parse("b.example:1"), of("b.example", Some(1)));
        assert_eq!(Advertise::parse("[::1]:1"), of("::1", Some(1)));
        assert_eq!(Advertise::parse("[fe80::1]"), of("fe80::1", None));
        for text in ["0.0.0.0:9092", "b:0", "", "b:x", "[::]:1"] {
            assert_eq!(Advertise::parse(text), None, "{text}");
        }
    }
}

//! Binding of listeners.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::config::{Endpoint, Host, Listen, NodeConfig};

/// The system caps it at its own `somaxconn`.
const BACKLOG: i32 = 4_096;
/// Tries to find one port that is free on both loopbacks.
const FREE_PORT_TRIES: usize = 16;

/// All listeners of a node.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) kafka: Vec<TcpListener>,
    pub(crate) admin: Vec<TcpListener>,
}

impl Bound {
    /// Binds every listener that is on. Nothing is accepted yet.
    pub(crate) fn bind(config: &NodeConfig) -> anyhow::Result<Self> {
        Ok(Self {
            kafka: bind("kafka.listen", &config.kafka_listen)?,
            admin: bind("admin.listen", &config.admin_listen)?,
        })
    }
}

/// Binds one listener; `key` is named in errors.
fn bind(key: &str, listen: &Listen) -> anyhow::Result<Vec<TcpListener>> {
    let Listen::At(endpoints) = listen else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for endpoint in endpoints {
        let bound = bind_endpoint(endpoint)
            .with_context(|| format!("cannot listen at {key} = {endpoint}"))?;
        for listener in bound {
            let address = listener.local_addr()?;
            if !address.ip().is_loopback() {
                tracing::warn!(%address, "{key} is open beyond this machine, without authentication");
            }
            all.push(listener);
        }
    }
    Ok(all)
}

fn bind_endpoint(endpoint: &Endpoint) -> io::Result<Vec<TcpListener>> {
    match &endpoint.host {
        Host::Loopbacks => bind_loopbacks(endpoint.port),
        Host::Ip(ip) => Ok(vec![bind_address(SocketAddr::new(*ip, endpoint.port))?]),
        Host::Name(name) => {
            let addresses = (name.as_str(), endpoint.port).to_socket_addrs()?;
            addresses.map(bind_address).collect()
        }
    }
}

/// Both loopbacks at one port; a machine without IPv6 has only the first.
fn bind_loopbacks(port: u16) -> io::Result<Vec<TcpListener>> {
    for _ in 0..FREE_PORT_TRIES {
        let first = bind_address(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))?;
        let taken = first.local_addr()?.port();
        match bind_address(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), taken)) {
            Ok(second) => return Ok(vec![first, second]),
            Err(error) if lacks_ipv6(&error) => return Ok(vec![first]),
            // The free port of one family may be taken in the other.
            Err(error) if port == 0 && error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

fn lacks_ipv6(error: &io::Error) -> bool {
    /// "Address family not supported by protocol", which std has no kind for.
    const EAFNOSUPPORT: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(EAFNOSUPPORT)
}

fn bind_address(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A restarted broker takes its port although old connections linger.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // So that `0.0.0.0:p,[::]:p` means what it says.
        socket.set_only_v6(true)?;
    }
    // Accepted sockets inherit it.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> anyhow::Result<Vec<SocketAddr>> {
        let listen = Listen::parse(text).expect("a valid list");
        let bound = bind("kafka.listen", &listen)?;
        Ok(bound
            .iter()
            .map(|l| l.local_addr().expect("an address"))
            .collect())
    }

    #[tokio::test]
    async fn localhost_takes_one_free_port_on_every_loopback() {
        let bound = addresses("localhost:0").expect("bound");
        assert!(bound[0].is_ipv4() && bound[0].port() != 0, "{bound:?}");
        assert!(
            bound
                .iter()
                .all(|a| a.port() == bound[0].port() && a.ip().is_loopback())
        );
        let has_ipv6 = std::net::TcpListener::bind("[::1]:0").is_ok();
        assert_eq!(bound.len(), if has_ipv6 { 2 } else { 1 });
    }

    #[tokio::test]
    async fn a_port_in_use_names_the_setting() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let text = taken.local_addr().expect("an address").to_string();
        let said = format!("{:#}", addresses(&text).expect_err("in use"));
        assert!(
            said.contains("kafka.listen") && said.contains(&text),
            "{said}"
        );
    }

    #[tokio::test]
    async fn off_binds_nothing() {
        assert_eq!(addresses("off").expect("bound"), []);
    }
}

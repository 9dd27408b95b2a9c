//! The ready line on standard output, and the same for systemd.

use std::io;

use admin::Listener;
use sd_notify::NotifyState;

use crate::output;

/// `ready kafka=127.0.0.1:9092,[::1]:9092 admin=…`; listeners that are off are left out.
fn line(listeners: &[Listener]) -> String {
    let words = listeners
        .iter()
        .map(|l| format!(" {}={}", l.name, l.addresses.join(",")));
    format!("ready{}", words.collect::<String>())
}

/// Says that clients are served. `read_only` is why they can only read. The line and READY=1 come even
/// so: systemd would end a service that never says it, and what can be read would be out of reach.
pub(crate) fn announce(listeners: &[Listener], read_only: Option<&str>) -> io::Result<()> {
    if let Some(reason) = read_only {
        tracing::error!(reason, "clients can only read");
        let status = format!("read only: {reason}");
        notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
    } else {
        notify(&[NotifyState::Ready]);
    }
    let line = line(listeners);
    tracing::info!("{line}");
    output::line(line)
}

/// Says that the stop has begun.
pub(crate) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Without systemd this does nothing and succeeds.
fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot notify systemd");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_every_listener_with_its_addresses() {
        let listener = |name: &str, addresses: &[&str]| Listener {
            name: name.into(),
            addresses: addresses.iter().map(|a| (*a).into()).collect(),
        };
        let all = [
            listener("kafka", &["127.0.0.1:1", "[::1]:1"]),
            listener("admin", &["10.0.0.1:2"]),
        ];
        assert_eq!(
            line(&all),
            "ready kafka=127.0.0.1:1,[::1]:1 admin=10.0.0.1:2"
        );
        assert_eq!(line(&[]), "ready");
    }
}

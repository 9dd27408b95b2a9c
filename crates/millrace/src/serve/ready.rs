//! The ready line on standard output, and the same for systemd.

use std::io;

use admin::Listener;
use sd_notify::NotifyState;

use crate::output;

/// `ready kafka=127.0.0.1:9092,[::1]:9092 admin=…`; listeners that are off are left out.
pub(crate) fn line(listeners: &[Listener]) -> String {
    let words = listeners
        .iter()
        .map(|l| format!(" {}={}", l.name, l.addresses.join(",")));
    format!("ready{}", words.collect::<String>())
}

/// Says that clients are served.
pub(crate) fn announce(line: &str) -> io::Result<()> {
    notify(NotifyState::Ready);
    tracing::info!("{line}");
    output::line(line)
}

/// Says that the stop has begun.
pub(crate) fn stopping() {
    notify(NotifyState::Stopping);
}

/// Without systemd this does nothing and succeeds.
fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
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

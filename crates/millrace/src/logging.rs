//! Log events to standard error: text on a terminal, JSON otherwise.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// Starts logging for the rest of the process; `format` is a value of `log.format`.
pub(crate) fn start(levels: Targets, format: &str) {
    let terminal = io::stderr().is_terminal();
    if format == "text" || (format == "auto" && terminal) {
        let colour = terminal && std::env::var_os("NO_COLOR").is_none();
        let layer = fmt::layer().with_writer(io::stderr).with_ansi(colour);
        registry().with(layer.with_filter(levels)).init();
    } else {
        let layer = fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(io::stderr);
        registry().with(layer.with_filter(levels)).init();
    }
}

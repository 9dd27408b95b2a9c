//! Apache Kafka's own command-line tools, with their output asserted.

use anyhow::Result;

use crate::install::Clients;

pub(super) fn run(_installed: &Clients, _bootstrap: &str) -> Result<()> {
    anyhow::bail!("not written yet")
}

//! What a node of Millrace does behind its clients, as its data directory shows it: log files sealed and checkpoints
//! written. Their numbers only grow, whatever ends the node, so nothing is missed that came and went.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::broker::{Broker, Setup};
use crate::command::{command, run, until};

const LIMIT: Duration = Duration::from_secs(120);
/// A topic that is deleted once it lies in a sealed file: a checkpoint is due as soon as it would free something.
const TOPIC: &str = "deleted-under-load";

/// How many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Background {
    pub(super) seals: u64,
    pub(super) checkpoints: u64,
}

impl Background {
    /// Those of a data directory since it was made.
    pub(super) fn of(data: &Path) -> Result<Self> {
        Ok(Self {
            // Segments are numbered from 0, checkpoints from 1.
            seals: highest(&data.join("segments"), "footer")?.map_or(0, |number| number + 1),
            checkpoints: highest(&data.join("checkpoints"), "checkpoint")?.unwrap_or(0),
        })
    }

    pub(super) fn since(self, start: Self) -> Self {
        Self {
            seals: self.seals.saturating_sub(start.seals),
            checkpoints: self.checkpoints.saturating_sub(start.checkpoints),
        }
    }
}

/// Writes the topic that is to be deleted.
pub(super) fn prepare(setup: &Setup, broker: &Broker) -> Result<()> {
    let bootstrap = broker.bootstrap();
    let produce = [
        "bench",
        "produce",
        TOPIC,
        "--records",
        "1000",
        "--server",
        &bootstrap,
    ];
    run(command([&setup.millrace]).args(produce), LIMIT)?;
    Ok(())
}

/// Waits for a seal, deletes the topic and waits for the checkpoint that follows from it.
pub(super) fn provoke(setup: &Setup, broker: &Broker) -> Result<()> {
    let data = broker.data();
    let now = || Background::of(&data);
    until(LIMIT, || Ok((now()?.seals > 0).then_some(()))).context("no log file is sealed")?;
    let before = now()?;
    let bootstrap = broker.bootstrap();
    let delete = ["topic", "delete", TOPIC, "--server", &bootstrap];
    run(command([&setup.millrace]).args(delete), LIMIT)?;
    let has_come = || Ok((now()?.checkpoints > before.checkpoints).then_some(()));
    until(LIMIT, has_come).context("no checkpoint is written")
}

/// Says what there was between the first start and the end of the kills; none of either is an error.
pub(super) fn report(start: Background, end: Background) -> Result<()> {
    let Background { seals, checkpoints } = end.since(start);
    println!("meanwhile sealed log files: {seals}, checkpoints: {checkpoints}");
    ensure!(seals > 0, "no log file was sealed");
    ensure!(checkpoints > 0, "no checkpoint was written");
    Ok(())
}

/// The highest number that is a name in a folder, with this extension.
fn highest(folder: &Path, extension: &str) -> Result<Option<u64>> {
    let mut highest = None;
    for entry in std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        let number = path
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse().ok());
        if path.extension().is_some_and(|found| found == extension) {
            highest = highest.max(number);
        }
    }
    Ok(highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names_count_what_was_removed_as_well() {
        let dir = tempfile::tempdir().expect("a directory");
        for folder in ["segments", "checkpoints"] {
            std::fs::create_dir(dir.path().join(folder)).expect("made");
        }
        let touch = |name: &str| std::fs::write(dir.path().join(name), "").expect("written");
        touch("checkpoints/00000000000000000001.checkpoint");
        touch("checkpoints/next.checkpoint.new");
        let start = Background::of(dir.path()).expect("counted");
        let first = Background {
            seals: 0,
            checkpoints: 1,
        };
        assert_eq!(start, first);
        assert!(report(start, start).is_err());
        touch("checkpoints/00000000000000000004.checkpoint");
        touch("segments/00000000000000000006.footer");
        touch("segments/00000000000000000009.footer.new");
        let end = Background::of(dir.path()).expect("counted");
        let between = Background {
            seals: 7,
            checkpoints: 3,
        };
        assert_eq!(end.since(start), between);
        assert!(report(start, end).is_ok());
    }
}

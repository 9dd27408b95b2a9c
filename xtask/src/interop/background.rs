//! What a node of Millrace does behind its clients, as its data directory shows it: log files sealed and checkpoints
//! written. Their numbers only grow, whatever ends the node, so nothing is missed that came and went.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::broker::{Broker, Setup};
use crate::command::{command, run, until};

const LIMIT: Duration = Duration::from_secs(120);
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

/// Writes a topic that is to be deleted after the kill with the next number.
pub(super) fn write_topic(setup: &Setup, broker: &Broker, number: u32) -> Result<()> {
    let (topic, bootstrap) = (topic(number), broker.bootstrap());
    let produce = [
        "bench",
        "produce",
        &topic,
        "--records",
        "1000",
        "--server",
        &bootstrap,
    ];
    run(command([&setup.millrace]).args(produce), LIMIT)?;
    Ok(())
}

/// Has the load seal files, and a checkpoint become due, between the kill with this number and the next.
///
/// The first time it waits for both, so that the next kill comes after them. Later kills come while they may be under way.
pub(super) fn provoke(setup: &Setup, broker: &Broker, number: u32) -> Result<()> {
    let data = broker.data();
    let start = Background::of(&data)?;
    let since = || Background::of(&data).map(|now| now.since(start));
    if number == 1 {
        let has_sealed = || Ok((since()?.seals > 0).then_some(()));
        until(LIMIT, has_sealed).context("no log file is sealed between the kills")?;
    }
    write_topic(setup, broker, number)?;
    let (deleted, bootstrap) = (topic(number - 1), broker.bootstrap());
    let before = since()?.checkpoints;
    // The restart had the file sealed that it lies in: a checkpoint is due as soon as one would free something.
    let delete = ["topic", "delete", &deleted, "--server", &bootstrap];
    run(command([&setup.millrace]).args(delete), LIMIT)?;
    if number == 1 {
        let has_come = || Ok((since()?.checkpoints > before).then_some(()));
        until(LIMIT, has_come).context("no checkpoint is written between the kills")?;
    }
    Ok(())
}

/// Says what there was between the first kill and the last, as the data directory stood at each; none of either is an
/// error.
pub(super) fn report(at_kills: &[Background]) -> Result<()> {
    let [first, .., last] = at_kills else {
        println!("fewer than two kills: nothing can be sealed between them");
        return Ok(());
    };
    let Background { seals, checkpoints } = last.since(*first);
    println!(
        "between the first kill and the last, sealed log files: {seals}, checkpoints: {checkpoints}"
    );
    ensure!(seals > 0, "no log file was sealed between the kills");
    ensure!(
        checkpoints > 0,
        "no checkpoint was written between the kills"
    );
    Ok(())
}

fn topic(number: u32) -> String {
    format!("deleted-under-load-{number}")
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
        assert!(report(&[start, start]).is_err());
        touch("checkpoints/00000000000000000004.checkpoint");
        touch("segments/00000000000000000006.footer");
        touch("segments/00000000000000000009.footer.new");
        let end = Background::of(dir.path()).expect("counted");
        let between = Background {
            seals: 7,
            checkpoints: 3,
        };
        assert_eq!(end.since(start), between);
        assert!(report(&[start, end]).is_ok());
        // What came before the first kill or after the last does not count.
        assert!(report(&[end, end, end]).is_err());
    }
}

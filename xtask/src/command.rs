//! Running other programs: always with a time limit, and with their output at hand when they fail.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

const POLL: Duration = Duration::from_millis(20);
const SHOWN_LINES: usize = 30;

/// Builds a command from words.
pub(crate) fn command<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut words = words.into_iter();
    let mut command = Command::new(
        words
            .next()
            .map(|w| w.as_ref().to_owned())
            .unwrap_or_default(),
    );
    command.args(words);
    command
}

/// Runs a program that must succeed within the limit, and returns its standard output.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<String> {
    run_on(command, "", limit)
}

/// As [`run`], with a text on standard input.
pub(crate) fn run_on(command: &mut Command, input: &str, limit: Duration) -> Result<String> {
    run_watched(command, input, limit, |_| {})
}

/// As [`run_on`], and has somebody look at the process again and again while it runs.
pub(crate) fn run_watched(
    command: &mut Command,
    input: &str,
    limit: Duration,
    mut look: impl FnMut(u32),
) -> Result<String> {
    let given = tempfile::NamedTempFile::new()?;
    std::fs::write(given.path(), input)?;
    let out = tempfile::NamedTempFile::new()?;
    let err = tempfile::NamedTempFile::new()?;
    command
        .stdin(given.reopen()?)
        .stdout(out.reopen()?)
        .stderr(err.reopen()?);
    let mut child = command
        .spawn()
        .with_context(|| format!("start {command:?}"))?;
    let pid = child.id();
    let status = wait_watched(&mut child, limit, || look(pid));
    let stdout = String::from_utf8_lossy(&std::fs::read(out.path())?).into_owned();
    let said = || format!("{command:?}\n{}\n{}", tail(&stdout), tail_of(err.path()));
    let status = status.with_context(said)?;
    ensure!(status.success(), "{status}: {}", said());
    Ok(stdout)
}

/// Runs a program that must succeed, with its output on the terminal.
pub(crate) fn show(command: &mut Command, limit: Duration) -> Result<()> {
    let mut child = command
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("start {command:?}"))?;
    let status = wait(&mut child, limit).with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Waits for a child; one that is still alive at the limit is killed, and that is an error.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    wait_watched(child, limit, || {})
}

fn wait_watched(child: &mut Child, limit: Duration, mut look: impl FnMut()) -> Result<ExitStatus> {
    let ended = until(limit, || {
        look();
        child.try_wait().map_err(Into::into)
    });
    if ended.is_err() {
        child.kill().context("kill a program that took too long")?;
        child.wait()?;
    }
    ended
}

/// Asks again and again until there is an answer, or the limit is reached.
pub(crate) fn until<T>(limit: Duration, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if started.elapsed() > limit {
            bail!("gave up after {limit:?}");
        }
        std::thread::sleep(POLL);
    }
}

/// The end of a text, as much as helps.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines
        .get(lines.len().saturating_sub(SHOWN_LINES)..)
        .unwrap_or_default()
        .join("\n")
}

/// The end of a log file.
pub(crate) fn tail_of(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    tail(&String::from_utf8_lossy(&text))
}

/// Opens a log file for a program's output, appending.
pub(crate) fn log_file(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("open {}", path.display()))
}

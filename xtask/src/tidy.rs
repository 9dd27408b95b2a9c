//! The rules of the repository that no compiler checks.

mod corpora;
mod edges;
mod formats;
mod locks;
mod sizes;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command::{command, run as run_command};
use crate::paths;

pub(crate) use edges::with_those_below;

const LIMIT: Duration = Duration::from_secs(60);

/// A file under version control.
#[derive(Debug)]
struct SourceFile {
    /// From the root of the repository.
    path: PathBuf,
    text: String,
}

impl SourceFile {
    fn is_rust(&self) -> bool {
        self.path
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// Whether it holds nothing but tests.
    fn is_test(&self) -> bool {
        let folder = self
            .path
            .iter()
            .any(|part| part == "tests" || part == "benches");
        let name = self
            .path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        folder || name == "tests" || name.ends_with("_tests")
    }

    /// The text before the inline tests.
    fn code(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod tests {");
        end.and_then(|end| self.text.get(..end))
            .unwrap_or(&self.text)
    }
}

/// Checks all rules; every fault is listed before it fails.
pub(crate) fn run() -> Result<()> {
    let files = files()?;
    let mut faults = edges::check()?;
    faults.extend(formats::check(&files));
    faults.extend(locks::check(&files));
    faults.extend(corpora::check(&files));
    faults.extend(sizes::check(&files));
    faults.extend(words::check(&files));
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => bail!("{count} faults against the rules of the repository"),
    }
}

/// All text files that git knows and that are still there.
fn files() -> Result<Vec<SourceFile>> {
    let list = run_command(
        command(["git", "ls-files", "-z"]).current_dir(paths::root()),
        LIMIT,
    )?;
    let mut files = Vec::new();
    for name in list.split_terminator('\0') {
        let full = paths::root().join(name);
        if !full.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("read {name}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile {
                path: Path::new(name).to_owned(),
                text,
            });
        }
    }
    Ok(files)
}

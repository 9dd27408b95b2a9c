//! Every lock file tells what its manifests ask for: what builds with `--locked` goes on building.

use std::path::Path;
use std::time::Duration;

use super::SourceFile;
use crate::command::{command, run};
use crate::paths;

/// A machine that has no packages yet fetches those of the lock file.
const LIMIT: Duration = Duration::from_secs(600);

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let locks = files.iter().filter(|file| {
        file.path
            .file_name()
            .is_some_and(|name| name == "Cargo.lock")
    });
    let stale = |path: &Path| {
        let mut metadata = command(["cargo", "metadata", "--locked", "--format-version=1"]);
        let folder = paths::root().join(path.parent().unwrap_or(Path::new("")));
        let error = run(metadata.current_dir(folder), LIMIT).err()?;
        Some(format!("{}: {error:#}", path.display()))
    };
    locks.filter_map(|lock| stale(&lock.path)).collect()
}

//! Where things are: the repository, the cache of installed clients, the place for temporary data.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The root of the repository that `cargo xtask` was called in: two work trees may share a target directory.
pub(crate) fn root() -> PathBuf {
    let called = std::env::var_os("CARGO_MANIFEST_DIR");
    let manifest = called.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The folder of the interop programs.
pub(crate) fn interop() -> PathBuf {
    root().join("tests/interop")
}

/// What is installed for tests lives outside the repository: `XTASK_CACHE`, or `~/.cache/millrace`. Absolute, as
/// programs that use it run in other folders. Its name does not begin as those of Millrace's settings do, of which a
/// node refuses one that it does not know.
pub(crate) fn cache() -> Result<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|dir| !dir.is_empty());
    let dir = match named("XTASK_CACHE") {
        Some(dir) => dir.into(),
        None => {
            let home = named("HOME").context("neither XTASK_CACHE nor HOME is set")?;
            Path::new(&home).join(".cache/millrace")
        }
    };
    std::path::absolute(&dir).with_context(|| format!("the cache {}", dir.display()))
}

/// Cargo's target directory, as cargo sees it when it is called in the root.
pub(crate) fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR");
    root().join(named.unwrap_or_else(|| "target".into()))
}

/// A fresh directory on the disk of the target directory, removed when dropped.
///
/// The system's temporary directory may be in memory, where a sync costs nothing.
pub(crate) fn scratch(what: &str) -> Result<TempDir> {
    let parent = target().join("xtask");
    std::fs::create_dir_all(&parent).with_context(|| format!("create {}", parent.display()))?;
    Ok(tempfile::Builder::new()
        .prefix(&format!("{what}-"))
        .tempdir_in(parent)?)
}

//! The cache of installed clients.
//!
//! What is installed stands in a place that is named after all that went into it, so that work trees with other pins
//! do not disturb each other, and going back to an earlier pin costs nothing. A place counts once its stamp is there,
//! which is written last and in one piece: what an interrupted installation left is made anew. One installation runs
//! at a time; whoever comes later waits, and finds everything done.

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use rustix::io::{FdFlags, fcntl_setfd};

/// Changed when what the steps do changes, so that nothing done the old way counts.
const RECIPES: &str = "recipes 1";
/// What nobody asked for in this time goes when another one of its kind is installed.
const KEPT: Duration = Duration::from_secs(60 * 24 * 3600);

/// The cache, held by one installation.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) dir: PathBuf,
    /// Unlocked when all that have it have closed it, however that comes about.
    _lock: File,
}

/// What went into an installation.
#[derive(Debug)]
pub(super) struct Inputs(Vec<u8>);

impl Inputs {
    pub(super) fn new() -> Self {
        Self(format!("{RECIPES}\n").into_bytes())
    }

    /// The files, their names included.
    pub(super) fn files(mut self, files: &[PathBuf]) -> Result<Self> {
        for file in files {
            let bytes = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
            let name = file.file_name().unwrap_or_default().display();
            self = self.text(&format!("{name} {}", bytes.len()));
            self.0.extend(bytes);
        }
        Ok(self)
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.extend(text.as_bytes());
        self.0.push(b'\n');
        self
    }

    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}

impl Cache {
    /// Waits until no other installation is under way.
    pub(super) fn open(dir: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
        let path = dir.join("lock");
        let lock = File::create(&path).with_context(|| format!("create {}", path.display()))?;
        // Programs that outlive an installation that was killed hold it until they end as well.
        fcntl_setfd(&lock, FdFlags::empty()).context("let programs inherit the lock")?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                println!("waiting for another installation into {}", dir.display());
                lock.lock()
                    .with_context(|| format!("lock {}", path.display()))?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("lock {}", path.display()));
            }
        }
        Ok(Self { dir, _lock: lock })
    }

    /// The folder of what `work` makes of these inputs in an empty one; made unless it is there already.
    pub(super) fn place(
        &self,
        name: &str,
        inputs: &Inputs,
        work: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let place = self.dir.join(format!("{name}-{:016x}", inputs.digest()));
        let stamp = place.with_extension("stamp");
        if place.is_dir() && std::fs::read(&stamp).is_ok_and(|found| found == inputs.0) {
            // Its age is told by it; where that cannot be noted it is made anew too early.
            File::options()
                .append(true)
                .open(&stamp)
                .and_then(|file| file.set_modified(SystemTime::now()))
                .ok();
            return Ok(place);
        }
        println!("install {name}");
        remove(&stamp)?;
        remove(&place)?;
        std::fs::create_dir(&place).with_context(|| format!("create {}", place.display()))?;
        work(&place).with_context(|| format!("install {name}"))?;
        let unfinished = place.with_extension("new");
        std::fs::write(&unfinished, &inputs.0)
            .and_then(|()| std::fs::rename(&unfinished, &stamp))
            .with_context(|| format!("write {}", stamp.display()))?;
        self.forget_old(name, &place)?;
        Ok(place)
    }

    /// Removes places of this name that were not asked for in a long time.
    fn forget_old(&self, name: &str, newest: &Path) -> Result<()> {
        for entry in std::fs::read_dir(&self.dir)? {
            let place = entry?.path();
            let is_of_name = place
                .file_name()
                .and_then(|found| found.to_str())
                .is_some_and(|found| {
                    let digest = found
                        .strip_prefix(name)
                        .and_then(|rest| rest.strip_prefix('-'));
                    digest.is_some_and(|digest| u64::from_str_radix(digest, 16).is_ok())
                });
            let stamp = place.with_extension("stamp");
            let used = std::fs::metadata(&stamp).and_then(|stamp| stamp.modified());
            let is_old = used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > KEPT));
            if is_of_name && is_old && place != newest {
                remove(&stamp)?;
                remove(&place)?;
            }
        }
        Ok(())
    }
}

/// Removes a file or a folder that may be missing.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn inputs(text: &str) -> Inputs {
        Inputs::new().text(text)
    }

    fn write(place: &Path, text: &str) -> Result<()> {
        assert_eq!(std::fs::read_dir(place)?.count(), 0, "it begins empty");
        Ok(std::fs::write(place.join("product"), text)?)
    }

    #[test]
    fn what_is_there_is_not_made_again_and_another_pin_disturbs_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = Cache::open(dir.path().join("new/cache")).expect("opened");
        let one = cache.place("client", &inputs("1"), |place| write(place, "1"));
        let two = cache.place("client", &inputs("2"), |place| write(place, "2"));
        let (one, two) = (one.expect("made"), two.expect("made"));
        for (pin, place) in [("1", &one), ("2", &two)] {
            let again = cache.place("client", &inputs(pin), |_| bail!("made again"));
            assert_eq!(&again.expect("found"), place);
            let product = std::fs::read_to_string(place.join("product"));
            assert_eq!(product.expect("a product"), pin);
        }
    }

    #[test]
    fn what_was_interrupted_or_taken_away_is_made_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = Cache::open(dir.path().to_owned()).expect("opened");
        let half = cache.place("client", &inputs("1"), |place| {
            write(place, "half")?;
            bail!("interrupted")
        });
        assert!(format!("{:#}", half.expect_err("failed")).contains("install client: interrupted"));
        let make = || cache.place("client", &inputs("1"), |place| write(place, "whole"));
        let place = make().expect("made");
        let product = place.join("product");
        assert_eq!(
            std::fs::read_to_string(&product).expect("a product"),
            "whole"
        );
        remove(&place).expect("removed");
        make().expect("made");
        assert!(product.exists());
        // A stamp that was cut is none.
        std::fs::write(place.with_extension("stamp"), "recipes").expect("written");
        std::fs::write(&product, "suspect").expect("written");
        make().expect("made");
        assert_eq!(
            std::fs::read_to_string(&product).expect("a product"),
            "whole"
        );
    }

    #[test]
    fn what_nobody_asked_for_in_a_long_time_goes_with_the_next_of_its_kind() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = Cache::open(dir.path().to_owned()).expect("opened");
        let place = |name: &str, pin: &str| {
            let made = cache.place(name, &inputs(pin), |place| write(place, pin));
            made.expect("made")
        };
        let (old, used, other) = (
            place("java", "1"),
            place("java", "2"),
            place("java-jars", "1"),
        );
        for place in [&old, &used, &other] {
            let stamp = File::options()
                .append(true)
                .open(place.with_extension("stamp"));
            let long_ago = SystemTime::now() - 2 * KEPT;
            stamp.expect("a stamp").set_modified(long_ago).expect("set");
        }
        assert_eq!(place("java", "2"), used);
        let new = place("java", "3");
        let are_there = [&old, &used, &other, &new].map(|place| place.exists());
        assert_eq!(are_there, [false, true, true, true]);
    }

    #[test]
    fn one_installation_runs_at_a_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = Cache::open(dir.path().to_owned()).expect("opened");
        let lock = File::open(dir.path().join("lock")).expect("opened");
        let mut program = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a program of the installation");
        let is_held = || matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        assert!(is_held());
        drop(cache);
        assert!(is_held(), "a program of it still runs");
        drop(program.stdin.take());
        program.wait().expect("ended");
        // Programs of other tests may have it for a moment.
        lock.lock().expect("free");
    }
}

//! What the tests with real clients need, at pinned versions, in the cache directory.
//!
//! Every step leaves a stamp with all that went into it; a step whose stamp matches is done. A step that cannot be
//! done is an error: nothing is skipped.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::command::{command, run};
use crate::paths;

const LIMIT: Duration = Duration::from_secs(1800);

/// The installed clients.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    pub python: PathBuf,
    /// Java's class path: our programs, then Apache Kafka's client, tools and broker.
    pub class_path: OsString,
    pub go: PathBuf,
    pub node_path: PathBuf,
    pub rskafka: PathBuf,
    pub rskafka_tests: PathBuf,
}

/// Installs whatever is missing, and says where everything is.
pub(crate) fn install() -> Result<Clients> {
    let cache = paths::cache()?;
    std::fs::create_dir_all(&cache).with_context(|| format!("create {}", cache.display()))?;
    kcat()?;
    let class_path = java(&cache)?;
    Ok(Clients {
        python: python(&cache)?,
        class_path,
        node_path: node(&cache)?,
        go: go(&cache)?,
        rskafka: rskafka(&cache)?,
        rskafka_tests: rskafka_tests(&cache)?,
    })
}

/// Runs a step unless its stamp holds the same inputs already.
fn step(
    cache: &Path,
    name: &str,
    inputs: &[PathBuf],
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut wanted = Vec::new();
    for input in inputs {
        wanted.extend(std::fs::read(input).with_context(|| format!("read {}", input.display()))?);
    }
    let stamp = cache.join(format!("{name}.stamp"));
    if std::fs::read(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    println!("install {name}");
    work().with_context(|| format!("install {name}"))?;
    std::fs::write(&stamp, wanted).with_context(|| format!("write {}", stamp.display()))
}

/// The files with an extension in a folder of the interop programs, in order.
fn sources(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|e| extensions.iter().any(|x| e == *x))
        {
            files.push(path);
        }
    }
    files.sort();
    ensure!(
        !files.is_empty(),
        "no {extensions:?} file in {}",
        folder.display()
    );
    Ok(files)
}

fn kcat() -> Result<()> {
    if run(command(["kcat", "-V"]).env("LC_ALL", "C"), LIMIT).is_ok() {
        return Ok(());
    }
    println!("install kcat");
    let apt = |words: &[&str]| {
        run(
            command(["apt-get", "-q", "-y"])
                .args(words)
                .env("DEBIAN_FRONTEND", "noninteractive"),
            LIMIT,
        )
    };
    apt(&["update"])?;
    apt(&["install", "kcat"]).context("install kcat")?;
    Ok(())
}

fn python(cache: &Path) -> Result<PathBuf> {
    let requirements = paths::interop().join("python/requirements.txt");
    let venv = cache.join("python");
    let python = venv.join("bin/python");
    step(cache, "python", std::slice::from_ref(&requirements), || {
        run(
            command(["python3", "-m", "venv", "--clear"]).arg(&venv),
            LIMIT,
        )?;
        run(
            command([&python])
                .args(["-m", "pip", "install", "--quiet", "-r"])
                .arg(&requirements),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(python)
}

fn java(cache: &Path) -> Result<OsString> {
    let folder = paths::interop().join("java");
    let (jars, classes) = (cache.join("java/jars"), cache.join("java/classes"));
    let pom = folder.join("pom.xml");
    step(cache, "jars", std::slice::from_ref(&pom), || {
        remove(&jars)?;
        let output = format!("-DoutputDirectory={}", jars.display());
        let maven = [
            "mvn",
            "-B",
            "-q",
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
        ];
        run(command(maven).arg(output).arg("-f").arg(&pom), LIMIT)?;
        Ok(())
    })?;
    let mut inputs = sources(&folder, &["java"])?;
    let programs = inputs.clone();
    inputs.push(pom);
    let all_jars = jars.join("*").into_os_string();
    step(cache, "java", &inputs, || {
        remove(&classes)?;
        run(
            command([
                "javac",
                "-Xlint:all,-classfile,-processing,-path",
                "-Werror",
                "-cp",
            ])
            .arg(&all_jars)
            .arg("-d")
            .arg(&classes)
            .args(&programs),
            LIMIT,
        )?;
        Ok(())
    })?;
    let mut class_path = classes.into_os_string();
    class_path.push(":");
    class_path.push(all_jars);
    Ok(class_path)
}

fn node(cache: &Path) -> Result<PathBuf> {
    let (folder, place) = (paths::interop().join("kafkajs"), cache.join("node"));
    let inputs = [
        folder.join("package.json"),
        folder.join("package-lock.json"),
    ];
    step(cache, "node", &inputs, || {
        std::fs::create_dir_all(&place)?;
        for input in &inputs {
            std::fs::copy(input, place.join(input.file_name().unwrap_or_default()))?;
        }
        run(
            command(["npm", "ci", "--silent", "--no-audit", "--no-fund"]).current_dir(&place),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(place.join("node_modules"))
}

fn go(cache: &Path) -> Result<PathBuf> {
    let (folder, program) = (paths::interop().join("go"), cache.join("franz-go"));
    let mut inputs = sources(&folder, &["go"])?;
    inputs.extend([folder.join("go.mod"), folder.join("go.sum")]);
    step(cache, "franz-go", &inputs, || {
        let build = ["go", "build", "-mod=readonly", "-o"];
        run(
            command(build).arg(&program).arg(".").current_dir(&folder),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(program)
}

fn rskafka(cache: &Path) -> Result<PathBuf> {
    let (folder, target) = (
        paths::interop().join("rskafka"),
        cache.join("rskafka-target"),
    );
    let mut inputs = sources(&folder.join("src"), &["rs"])?;
    inputs.extend([folder.join("Cargo.toml"), folder.join("Cargo.lock")]);
    step(cache, "rskafka", &inputs, || {
        run(
            command(["cargo", "build", "--locked", "--quiet"])
                .current_dir(&folder)
                .env("CARGO_TARGET_DIR", &target),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(target.join("debug/interop-rskafka"))
}

/// A copy of rskafka's own source, whose tests run against a broker.
///
/// Its lock file is left out: the versions in there do not build with this compiler.
fn rskafka_tests(cache: &Path) -> Result<PathBuf> {
    let folder = paths::interop().join("rskafka");
    let lock = folder.join("Cargo.lock");
    let copy = cache.join("rskafka-source");
    step(cache, "rskafka-source", std::slice::from_ref(&lock), || {
        let metadata = run(
            command(["cargo", "metadata", "--locked", "--format-version=1"]).current_dir(&folder),
            LIMIT,
        )?;
        let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
        let manifest = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|package| package["name"] == "rskafka")
            .and_then(|package| package["manifest_path"].as_str())
            .context("rskafka is not among its own program's packages")?;
        let source = Path::new(manifest)
            .parent()
            .context("a manifest without a folder")?;
        remove(&copy)?;
        run(command(["cp", "-r"]).arg(source).arg(&copy), LIMIT)?;
        for extra in ["Cargo.lock", "rust-toolchain.toml"] {
            remove(&copy.join(extra))?;
        }
        Ok(())
    })?;
    Ok(copy)
}

/// Removes a file or a folder that may be missing.
fn remove(path: &Path) -> Result<()> {
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

//! What the tests with real clients need, at pinned versions, in the cache directory. A step that cannot be done is an
//! error: nothing is skipped.

mod cache;
mod tools;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::command::{command, run};
use crate::paths;

use cache::{Cache, Inputs, remove};

const LIMIT: Duration = Duration::from_secs(1800);
/// The plugin has a version of its own, which no pom of ours would pin.
const COPY_JARS: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies";

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
    let cache = Cache::open(paths::cache()?)?;
    tools::install()?;
    Ok(Clients {
        python: python(&cache)?,
        class_path: java(&cache)?,
        node_path: node(&cache)?,
        go: go(&cache)?,
        rskafka: rskafka(&cache)?,
        rskafka_tests: rskafka_tests(&cache)?,
    })
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

fn python(cache: &Cache) -> Result<PathBuf> {
    let requirements = paths::interop().join("python/requirements.txt");
    let inputs = Inputs::new()
        // An environment belongs to the Python that made it.
        .text(&tools::version(&["python3", "--version"])?)
        .files(std::slice::from_ref(&requirements))?;
    let place = cache.place("python", &inputs, |place| {
        run(command(["python3", "-m", "venv"]).arg(place), LIMIT)?;
        let quiet = ["--quiet", "--no-input", "--disable-pip-version-check"];
        run(
            command([place.join("bin/python")])
                .args(["-m", "pip", "install"])
                .args(quiet)
                .arg("-r")
                .arg(&requirements),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(place.join("bin/python"))
}

fn java(cache: &Cache) -> Result<OsString> {
    let folder = paths::interop().join("java");
    let pom = folder.join("pom.xml");
    let pins = Inputs::new().files(std::slice::from_ref(&pom))?;
    let jars = cache.place("java-jars", &pins, |place| {
        let output = format!("-DoutputDirectory={}", place.display());
        // A download that failed before is tried again.
        let maven = ["mvn", "-B", "-q", "-U", COPY_JARS, "-DincludeScope=runtime"];
        run(command(maven).arg(output).arg("-f").arg(&pom), LIMIT)?;
        Ok(())
    })?;
    let all_jars = jars.join("*").into_os_string();
    let programs = sources(&folder, &["java"])?;
    let inputs = Inputs::new()
        .text(&tools::version(&["javac", "-version"])?)
        .files(&programs)?
        .files(std::slice::from_ref(&pom))?;
    let classes = cache.place("java-classes", &inputs, |place| {
        let lints = "-Xlint:all,-classfile,-processing,-path";
        run(
            command(["javac", lints, "-Werror", "-cp"])
                .arg(&all_jars)
                .arg("-d")
                .arg(place)
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

fn node(cache: &Cache) -> Result<PathBuf> {
    let folder = paths::interop().join("kafkajs");
    let files = [
        folder.join("package.json"),
        folder.join("package-lock.json"),
    ];
    let place = cache.place("node", &Inputs::new().files(&files)?, |place| {
        for file in &files {
            std::fs::copy(file, place.join(file.file_name().unwrap_or_default()))?;
        }
        let npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund"];
        run(command(npm).current_dir(place), LIMIT)?;
        Ok(())
    })?;
    Ok(place.join("node_modules"))
}

fn go(cache: &Cache) -> Result<PathBuf> {
    let folder = paths::interop().join("go");
    let mut files = sources(&folder, &["go"])?;
    files.extend([folder.join("go.mod"), folder.join("go.sum")]);
    let place = cache.place("franz-go", &Inputs::new().files(&files)?, |place| {
        let build = ["go", "build", "-mod=readonly", "-o"];
        let program = place.join("franz-go");
        run(
            command(build).arg(program).arg(".").current_dir(&folder),
            LIMIT,
        )?;
        Ok(())
    })?;
    Ok(place.join("franz-go"))
}

fn rskafka(cache: &Cache) -> Result<PathBuf> {
    const PROGRAM: &str = "interop-rskafka";
    let folder = paths::interop().join("rskafka");
    let target = cache.dir.join("rskafka-target");
    let mut files = sources(&folder.join("src"), &["rs"])?;
    files.extend([folder.join("Cargo.toml"), folder.join("Cargo.lock")]);
    let place = cache.place("rskafka", &Inputs::new().files(&files)?, |place| {
        run(
            command(["cargo", "build", "--locked", "--quiet"])
                .current_dir(&folder)
                .env("CARGO_TARGET_DIR", &target),
            LIMIT,
        )?;
        std::fs::copy(target.join("debug").join(PROGRAM), place.join(PROGRAM))?;
        Ok(())
    })?;
    Ok(place.join(PROGRAM))
}

/// A copy of rskafka's own source, whose tests run against a broker.
///
/// It gets a lock file of ours: the versions in its own do not build with this compiler.
fn rskafka_tests(cache: &Cache) -> Result<PathBuf> {
    let folder = paths::interop().join("rskafka");
    let files = [folder.join("Cargo.lock"), folder.join("tests.lock")];
    let place = cache.place("rskafka-source", &Inputs::new().files(&files)?, |place| {
        let source = rskafka_source(&folder)?;
        run(
            command(["cp", "-r"]).arg(source.join(".")).arg(place),
            LIMIT,
        )?;
        remove(&place.join("rust-toolchain.toml"))?;
        std::fs::copy(folder.join("tests.lock"), place.join("Cargo.lock"))?;
        Ok(())
    })?;
    Ok(place)
}

/// Where cargo keeps the source of the version that our program uses.
fn rskafka_source(folder: &Path) -> Result<PathBuf> {
    let metadata = run(
        command(["cargo", "metadata", "--locked", "--format-version=1"]).current_dir(folder),
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
    let source = Path::new(manifest).parent();
    Ok(source.context("a manifest without a folder")?.to_owned())
}

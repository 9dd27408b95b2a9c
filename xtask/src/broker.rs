//! A broker under test: Millrace, or Apache Kafka from its jars, on loopback, with a data directory of its own.

mod kafka;
mod millrace;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tempfile::TempDir;

use crate::command::{command, log_file, tail_of, until, wait};
use crate::install::Clients;
use crate::process::{Usage, usage};
use crate::{paths, wire};

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// Which broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Millrace,
    Kafka,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Millrace => "millrace",
            Self::Kafka => "kafka",
        }
    }
}

/// What a broker needs to start.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub kind: Kind,
    pub class_path: std::ffi::OsString,
    pub millrace: PathBuf,
    pub settings: Vec<(String, String)>,
    /// The port for clients; a free one when none is given.
    pub port: Option<u16>,
}

impl Setup {
    pub(crate) fn new(kind: Kind, clients: &Clients) -> Self {
        Self {
            kind,
            class_path: clients.class_path.clone(),
            millrace: paths::target().join("release/millrace"),
            settings: Vec::new(),
            port: None,
        }
    }

    /// Gives Millrace a port for its status; Kafka has none.
    pub(crate) fn with_status(self) -> Result<Self> {
        match self.kind {
            Kind::Kafka => Ok(self),
            Kind::Millrace => {
                let admin = format!("127.0.0.1:{}", free_port()?);
                Ok(self.set(millrace::ADMIN, &admin))
            }
        }
    }

    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// Builds the release binary of Millrace where that is what will start.
    pub(crate) fn build(self) -> Result<Self> {
        if self.kind == Kind::Millrace {
            let build = [
                "cargo",
                "build",
                "--release",
                "--locked",
                "--quiet",
                "-p",
                "millrace",
            ];
            let limit = Duration::from_secs(3600);
            crate::command::show(command(build).current_dir(paths::root()), limit)?;
        }
        Ok(self)
    }
}

/// A running broker; dropped, it is killed and its data removed.
#[derive(Debug)]
pub(crate) struct Broker {
    setup: Setup,
    dir: TempDir,
    port: u16,
    child: Child,
}

impl Broker {
    /// Starts a broker on a new data directory and waits until it serves.
    pub(crate) fn start(setup: Setup) -> Result<Self> {
        let dir = paths::scratch(setup.kind.name())?;
        let port = setup.port.map_or_else(free_port, Ok)?;
        if setup.kind == Kind::Kafka {
            kafka::format(&setup, dir.path(), port)?;
        }
        let child = launch(&setup, dir.path(), port)?;
        let mut broker = Self {
            setup,
            dir,
            port,
            child,
        };
        broker.await_ready()?;
        Ok(broker)
    }

    pub(crate) fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn data(&self) -> PathBuf {
        data(self.dir.path())
    }

    /// A place for files beside the data.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What Millrace says of itself; needs a setup [`with_status`](Setup::with_status).
    pub(crate) fn status(&self) -> Result<serde_json::Value> {
        millrace::status(&self.setup)
    }

    /// Where it says so.
    pub(crate) fn admin(&self) -> Result<&str> {
        millrace::admin(&self.setup)
    }

    pub(crate) fn usage(&self) -> Result<Usage> {
        usage(self.child.id())
    }

    /// Stops in order (SIGTERM), and says how long that took.
    pub(crate) fn stop(&mut self) -> Result<Duration> {
        let started = std::time::Instant::now();
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).context("ask the broker to stop")?;
        let status = wait(&mut self.child, STOP_LIMIT).with_context(|| self.tail())?;
        // The Java launcher reports the signal that it obeyed.
        let stopped =
            status.success() || (self.setup.kind == Kind::Kafka && status.code() == Some(143));
        ensure!(stopped, "the broker stopped with {status}\n{}", self.tail());
        Ok(started.elapsed())
    }

    /// Kills without warning (SIGKILL).
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill().context("kill the broker")?;
        self.child.wait()?;
        Ok(())
    }

    /// Starts again after a stop or a kill: same data, same port.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.child = launch(&self.setup, self.dir.path(), self.port)?;
        self.await_ready()
    }

    fn await_ready(&mut self) -> Result<()> {
        let bootstrap = self.bootstrap();
        let child = &mut self.child;
        let ready = until(START_LIMIT, || {
            if let Some(status) = child.try_wait()? {
                bail!("the broker ended with {status}");
            }
            Ok(wire::is_ready(&bootstrap).unwrap_or(false).then_some(()))
        });
        ready.with_context(|| format!("{} is not ready\n{}", self.setup.kind.name(), self.tail()))
    }

    fn tail(&self) -> String {
        tail_of(&log(self.dir.path()))
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It may have ended already; nothing else can be done here.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn data(dir: &Path) -> PathBuf {
    dir.join("data")
}

fn log(dir: &Path) -> PathBuf {
    dir.join("broker.log")
}

fn launch(setup: &Setup, dir: &Path, port: u16) -> Result<Child> {
    let mut command = match setup.kind {
        Kind::Kafka => kafka::command(setup, dir),
        Kind::Millrace => millrace::command(setup, dir, port),
    };
    let log = log_file(&log(dir))?;
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    command
        .spawn()
        .with_context(|| format!("start {command:?}"))
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

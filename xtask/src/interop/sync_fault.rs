//! The device fails every sync of a node that runs: what was confirmed before can be read, nothing is confirmed any
//! more, and the next start serves again.
//!
//! The fault is the kernel's own answer, put in by a tracer (`strace`): the node is the shipped binary.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::broker::{Broker, Setup};
use crate::command::{command, log_file, run, tail_of, until, wait};
use crate::install::Clients;
use crate::paths;

const LIMIT: Duration = Duration::from_secs(180);
const ATTACH_LIMIT: Duration = Duration::from_secs(30);
const TOPIC: &str = "sync-fault";
/// Confirmed before the fault, at least, and after the next start.
const RECORDS: usize = 2000;
/// Refused in a row, until the client has seen enough.
const REFUSED: usize = 500;

pub(super) fn run_part(installed: &Clients, setup: &Setup) -> Result<()> {
    let mut broker = Broker::start(setup.clone().with_status()?)?;
    let client = Client::new(installed, &broker);
    is_well(&broker).context("before the fault")?;

    let mut stream = client.start(0, &["--refused", &REFUSED.to_string()])?;
    await_confirmed(&client, &mut stream)?;
    let mut tracer = Tracer::attach(&broker)?;
    let sent = client
        .finish(&mut stream)
        .context("a stream over the fault")?;
    ensure!(sent.refused >= REFUSED, "{sent:?}");
    ensure!(sent.confirmed == client.confirmed()?, "{sent:?}");
    ensure!(client.verify()? == 0, "what was refused can be read");
    let reason = is_stopped(&broker)?;

    broker.kill()?;
    tracer.finish()?;
    broker.restart()?;
    let kept = client.verify().context("after the next start")?;
    is_well(&broker).context("after the next start")?;
    let mut stream = client.start(sent.sent, &["--records", &RECORDS.to_string()])?;
    let again = client.finish(&mut stream)?;
    ensure!(again.confirmed == RECORDS, "{again:?}");
    ensure!(
        client.verify()? == kept,
        "the second stream left other records"
    );
    println!(
        "{} confirmed, then {} refused ({reason}), {kept} of these found after a kill; {} confirmed after it",
        sent.confirmed, sent.refused, again.confirmed
    );
    Ok(())
}

/// The stock client's program.
struct Client {
    python: PathBuf,
    bootstrap: String,
    acks: PathBuf,
    said: PathBuf,
}

/// What a stream printed when it ended.
#[derive(Debug)]
struct Sent {
    /// The number after its last record.
    sent: usize,
    confirmed: usize,
    refused: usize,
}

impl Client {
    fn new(installed: &Clients, broker: &Broker) -> Self {
        Self {
            python: installed.python.clone(),
            bootstrap: broker.bootstrap(),
            acks: broker.dir().join("sync-fault.acks"),
            said: broker.dir().join("sync-fault.log"),
        }
    }

    fn call(&self, mode: &str) -> Command {
        let program = paths::interop().join("python/sync_fault_client.py");
        let mut command = Command::new(&self.python);
        command
            .arg(program)
            .args(["--mode", mode, "--topic", TOPIC]);
        command.args(["--bootstrap", &self.bootstrap, "--acks"]);
        command.arg(&self.acks);
        command
    }

    fn start(&self, first: usize, words: &[&str]) -> Result<Child> {
        let mut command = self.call("stream");
        command.args(["--first", &first.to_string()]).args(words);
        let out = File::create(&self.said).context("a file for the client's output")?;
        command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("start {command:?}"))
    }

    fn finish(&self, stream: &mut Child) -> Result<Sent> {
        let status = wait(stream, LIMIT).with_context(|| tail_of(&self.said))?;
        ensure!(status.success(), "{status}\n{}", tail_of(&self.said));
        let said = tail_of(&self.said);
        let numbers = said.lines().last().unwrap_or_default().split(' ');
        let numbers: Vec<usize> = numbers.map(str::parse).collect::<Result<_, _>>()?;
        let [sent, confirmed, refused] = numbers[..] else {
            bail!("the client said {said}");
        };
        Ok(Sent {
            sent,
            confirmed,
            refused,
        })
    }

    fn confirmed(&self) -> Result<usize> {
        let acks = match std::fs::read(&self.acks) {
            Ok(acks) => acks,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error).context("the client's confirmed records"),
        };
        Ok(acks.iter().filter(|byte| **byte == b'\n').count())
    }

    /// Reads everything back; how many records there are that were not confirmed.
    fn verify(&self) -> Result<usize> {
        let said = run(&mut self.call("verify"), LIMIT)?;
        said.trim()
            .parse()
            .with_context(|| format!("the client said {said}"))
    }
}

fn await_confirmed(client: &Client, stream: &mut Child) -> Result<()> {
    let enough = until(LIMIT, || {
        ensure!(stream.try_wait()?.is_none(), "it ended by itself");
        Ok((client.confirmed()? >= RECORDS).then_some(()))
    });
    enough.with_context(|| tail_of(&client.said))
}

/// The node says of itself that it takes records.
fn is_well(broker: &Broker) -> Result<()> {
    let status = broker.status()?;
    ensure!(status["ready"] == true, "{status}");
    ensure!(status["log"]["poisoned_reason"].is_null(), "{status}");
    let ready = get(broker, "/health/ready")?;
    ensure!(ready.starts_with("HTTP/1.1 200 "), "{ready}");
    Ok(())
}

/// Why the log is stopped.
fn is_stopped(broker: &Broker) -> Result<String> {
    let status = broker.status()?;
    let reason = status["log"]["poisoned_reason"].as_str();
    let reason = reason.with_context(|| format!("not stopped: {status}"))?;
    ensure!(status["ready"] == false, "{status}");
    let ready = get(broker, "/health/ready")?;
    ensure!(ready.starts_with("HTTP/1.1 503 "), "{ready}");
    ensure!(ready.contains(reason), "{ready} instead of {reason}");
    let live = get(broker, "/health/live")?;
    ensure!(live.starts_with("HTTP/1.1 200 "), "{live}");
    Ok(reason.to_owned())
}

fn get(broker: &Broker, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(broker.admin()?)?;
    stream.set_read_timeout(Some(ATTACH_LIMIT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// A tracer that answers every sync of a process in the kernel's place. Killed when dropped.
struct Tracer {
    child: Child,
    log: PathBuf,
}

impl Tracer {
    /// Returns once all threads are traced.
    fn attach(broker: &Broker) -> Result<Self> {
        let log = broker.dir().join("strace.log");
        let out = log_file(&log)?;
        let words = [
            "strace",
            "-f",
            "-e",
            "trace=fsync,fdatasync",
            "-e",
            "inject=fsync,fdatasync:error=EIO",
            "-p",
        ];
        let child = command(words)
            .arg(broker.pid().to_string())
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .context("start strace")?;
        let mut tracer = Self { child, log };
        let attached = until(ATTACH_LIMIT, || {
            ensure!(tracer.child.try_wait()?.is_none(), "it ended by itself");
            let said = std::fs::read_to_string(&tracer.log)?;
            Ok(said.contains(" attached").then_some(()))
        });
        attached.with_context(|| {
            format!(
                "strace cannot attach; it needs to be root, or kernel.yama.ptrace_scope 0\n{}",
                tail_of(&tracer.log)
            )
        })?;
        Ok(tracer)
    }

    /// It ends with the process, and has put the fault in.
    fn finish(&mut self) -> Result<()> {
        wait(&mut self.child, LIMIT).context("strace goes on")?;
        let said = std::fs::read_to_string(&self.log)?;
        ensure!(
            said.contains("EIO (Input/output error) (INJECTED)"),
            "{}",
            tail_of(&self.log)
        );
        Ok(())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

//! The threads that drive the machines of a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use log::background::{Background, JobQueue};
use log::{AssemblerMachine, CommitLog, DataDir, Progress, SyncerMachine};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use types::limits::STOP_CHECK_MS;

use crate::error::Stopped;
use crate::inbox::Inbox;
use crate::open::Machines;
use crate::owner::Proposal;
use crate::seat::Seat;

/// A node whose machines run on threads of their own.
#[derive(Debug)]
pub struct Running {
    inbox: Arc<Inbox>,
    log: Arc<CommitLog>,
    jobs: Arc<JobQueue>,
    stop: Arc<AtomicBool>,
    owner: JoinHandle<()>,
    writer: JoinHandle<()>,
    assembler: JoinHandle<()>,
    syncer: JoinHandle<()>,
    background: JoinHandle<()>,
    _dir: DataDir,
}

impl Running {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(machines: Machines) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let Machines {
            owner,
            writer,
            assembler,
            syncer,
            background,
            inbox,
            log,
            jobs,
            dir,
            ..
        } = machines;
        let seat = Arc::new(Seat::new(
            owner,
            Arc::clone(&inbox),
            Arc::clone(&log),
            writer,
        ));
        inbox.set_seat(Arc::downgrade(&seat));
        Ok(Self {
            owner: spawn("owner", {
                let (stop, seat) = (Arc::clone(&stop), Arc::clone(&seat));
                move || run_owner(&seat, &stop)
            })?,
            writer: spawn("writer", {
                let (log, seat) = (Arc::clone(&log), Arc::clone(&seat));
                move || run_writer(&seat, &log)
            })?,
            assembler: spawn("assembler", {
                let log = Arc::clone(&log);
                move || run_assembler(assembler, &log)
            })?,
            syncer: spawn("syncer", {
                let (log, inbox) = (Arc::clone(&log), Arc::clone(&inbox));
                move || run_syncer(syncer, &log, &inbox)
            })?,
            background: spawn("background", {
                let (jobs, inbox, stop) =
                    (Arc::clone(&jobs), Arc::clone(&inbox), Arc::clone(&stop));
                move || run_background(background, &jobs, &inbox, &stop)
            })?,
            inbox,
            log,
            jobs,
            stop,
            _dir: dir,
        })
    }

    /// Whether a thread ended though nobody asked it to.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let log = [&self.writer, &self.assembler, &self.syncer];
        let others = [&self.owner, &self.background];
        let mut all = log.into_iter().chain(others);
        all.any(JoinHandle::is_finished)
    }

    /// Stops in order: a checkpoint, the last entry synced and proven, the threads ended.
    ///
    /// # Errors
    /// When the log was stopped by a failure before.
    pub fn stop(self) -> Result<(), Stopped> {
        let (reply, answer) = oneshot::channel();
        self.inbox.push(Proposal::Stop { reply });
        let stopped = self.wait_for(answer);
        if self.has_ended() {
            // What the others wait for may never come, and the directory is let go.
            self.log.poison("a thread of the node ended");
            return Err(Stopped);
        }
        self.log.close();
        join(self.writer);
        join(self.assembler);
        join(self.syncer);
        self.stop.store(true, Ordering::Release);
        self.inbox.wake();
        self.jobs.wake();
        join(self.owner);
        join(self.background);
        stopped
    }

    /// The answer, or that there will be none: a thread that it needs has ended.
    fn wait_for(&self, mut answer: oneshot::Receiver<Result<(), Stopped>>) -> Result<(), Stopped> {
        while !self.has_ended() {
            match answer.try_recv() {
                Ok(stopped) => return stopped,
                Err(TryRecvError::Closed) => break,
                Err(TryRecvError::Empty) => std::thread::park_timeout(ANSWER_CHECK),
            }
        }
        Err(Stopped)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the shell that owns the threads"
)]
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run)
}

fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        tracing::error!("a thread of the node ended with a panic");
    }
}

const CHECK: Duration = Duration::from_millis(STOP_CHECK_MS);
/// How often whoever stops a node looks for the answer.
const ANSWER_CHECK: Duration = Duration::from_millis(2);

fn run_owner(seat: &Seat, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) && !seat.is_broken() {
        seat.serve(CHECK);
    }
}

fn run_writer(seat: &Seat, log: &CommitLog) {
    loop {
        match seat.write_on() {
            Progress::Worked => {}
            Progress::NoFile => log.wait_for_file(),
            Progress::Idle(_) if log.is_drained() || seat.is_broken() => return,
            Progress::Idle(_) => log.wait_for_writer_work(),
        }
    }
}

fn run_assembler(mut assembler: AssemblerMachine, log: &CommitLog) {
    while assembler.step() == Progress::Worked || log.wait_for_assembler_work() {}
}

fn run_syncer(mut syncer: SyncerMachine, log: &CommitLog, inbox: &Inbox) {
    loop {
        match syncer.step() {
            Progress::Worked => inbox.log_moved(),
            _ if log.is_drained() => return,
            _ => {
                if log.poisoned().is_some() {
                    inbox.log_moved();
                }
                log.wait_for_syncer_work();
            }
        }
    }
}

fn run_background(mut background: Background, jobs: &JobQueue, inbox: &Inbox, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) {
        let progress = background.step();
        for done in background.take_done() {
            inbox.push(Proposal::Job(done));
        }
        if progress != Progress::Worked {
            jobs.wait(CHECK);
        }
    }
}

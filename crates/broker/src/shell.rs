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
        let mut watch = FileWatch::default();
        while !self.writer.is_finished() {
            watch.look(&self.log);
            std::thread::park_timeout(ANSWER_CHECK);
        }
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
        let mut watch = FileWatch::default();
        while !self.has_ended() {
            watch.look(&self.log);
            match answer.try_recv() {
                Ok(stopped) => return stopped,
                Err(TryRecvError::Closed) => break,
                Err(TryRecvError::Empty) => std::thread::park_timeout(ANSWER_CHECK),
            }
        }
        Err(Stopped)
    }
}

/// Stops the log of a node that is to stop and waits for a file to write the last frames in: on a full
/// device none may ever come.
#[derive(Debug, Default)]
struct FileWatch {
    /// How often in a row it was seen to wait.
    looks: u32,
}

impl FileWatch {
    fn look(&mut self, log: &CommitLog) {
        self.looks = if log.waits_for_file() {
            self.looks + 1
        } else {
            0
        };
        if self.looks == FILE_LOOKS_MAX {
            log.poison("the node stops, and there is no room for a log file to write the end in");
        }
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
/// So often, 2 ms apart: a second in all.
const FILE_LOOKS_MAX: u32 = 500;

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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use log::{Entry, EntryHeader, Kind, Origin, Payload, Queued};
    use types::{LogIndex, Offset, PartitionId, ShardId, Term};

    use super::*;
    use crate::test_node::machines;

    fn queued(index: u64) -> Queued {
        let header = EntryHeader {
            shard: ShardId(1),
            kind: Kind::Records,
            origin: Origin::Internal,
            partition: PartitionId(1),
            term: Term(1),
            index: LogIndex(index),
            base_offset: Offset(0),
            count: 1,
            append_time_ms: 0,
            max_timestamp_ms: -1,
        };
        let payload = Payload::from_body(Bytes::from(vec![7; 64 << 10]));
        Queued {
            entry: Entry { header, payload },
            sync_within: Duration::ZERO,
        }
    }

    #[test]
    fn a_node_that_is_to_stop_does_not_wait_for_ever_for_a_file() {
        let Machines {
            mut writer,
            mut syncer,
            log,
            ..
        } = machines();
        // Nobody makes spares here.
        for index in 1.. {
            log.append([queued(index)]);
            if writer.step() == Progress::NoFile && syncer.step() != Progress::Worked {
                break;
            }
            assert!(index < 1_000, "all files are full by now");
        }
        log.close();
        let mut watch = FileWatch::default();
        for _ in 1..FILE_LOOKS_MAX {
            watch.look(&log);
        }
        assert!(log.poisoned().is_none() && !log.is_drained());
        watch.look(&log);
        assert!(log.poisoned().is_some() && log.is_drained());
        assert_eq!(writer.step(), Progress::Idle(None));
    }
}

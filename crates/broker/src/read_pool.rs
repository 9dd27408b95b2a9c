//! Threads that wait for the device, so that connections and owner never do.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot};
use types::limits::{READS_AHEAD_WAITING_MAX, READS_WAITING_MAX};

type Work = Box<dyn FnOnce() + Send>;

/// Runs reads that may block, so many at once and no more; what nobody waits for has a thread of its
/// own, so that it keeps nobody waiting. Its threads end with its last handle.
#[derive(Clone, Debug)]
pub struct ReadPool {
    work: mpsc::Sender<Work>,
    ahead: mpsc::Sender<Work>,
    /// Reads that wait or run: asking for more waits.
    slots: Arc<Semaphore>,
}

/// The pool was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl ReadPool {
    /// A pool of `threads`, and one for what nobody waits for.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        Ok(Self {
            work: spawn("reader", threads, READS_WAITING_MAX)?,
            ahead: spawn("read-ahead", 1, READS_AHEAD_WAITING_MAX)?,
            slots: Arc::new(Semaphore::new(READS_WAITING_MAX)),
        })
    }

    /// Runs `work` soon, or never when much waits already: for what nobody waits for.
    pub fn offer(&self, work: impl FnOnce() + Send + 'static) {
        let _full = self.ahead.try_send(Box::new(work)).is_err();
    }

    /// Runs `work` when a thread is free.
    ///
    /// # Errors
    /// [`Closed`] when there are no threads any more.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Closed> {
        let _slot = self.slots.acquire().await.map_err(|_| Closed)?;
        let (reply, answer) = oneshot::channel();
        let work: Work = Box::new(move || {
            let _gone = reply.send(work()).is_err();
        });
        self.work.send(work).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)
    }
}

/// Starts threads of a name, which do what is sent to them.
fn spawn(name: &str, threads: usize, waiting_max: usize) -> std::io::Result<mpsc::Sender<Work>> {
    let (work, waiting) = mpsc::channel(waiting_max);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..threads {
        let waiting = Arc::clone(&waiting);
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the shell of the readers"
        )]
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&waiting))?;
    }
    Ok(work)
}

fn run(waiting: &Mutex<mpsc::Receiver<Work>>) {
    loop {
        // One thread waits in the channel, the others for the lock.
        let next = waiting.lock().blocking_recv();
        match next {
            Some(work) => work(),
            None => return,
        }
    }
}

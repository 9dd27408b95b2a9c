//! Work of a start that blocks, and that a stop need not wait for.

use anyhow::Context;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Runs `work` on a thread of its own. None once `stop` is cancelled, also where the work is done
/// by then: the thread is left alone and ends with the process.
pub(super) async fn unless_stopped<T: Send + 'static>(
    name: &str,
    stop: &CancellationToken,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let (done, result) = oneshot::channel();
    let run = move || {
        // Nobody listens once the stop came first.
        drop(done.send(work()));
    };
    let thread = std::thread::Builder::new().name(name.to_owned());
    #[expect(clippy::disallowed_methods, reason = "the shell starts its threads")]
    thread
        .spawn(run)
        .with_context(|| format!("cannot start the thread of the {name}"))?;
    tokio::select! {
        biased;
        () = stop.cancelled() => Ok(None),
        done = result => Ok(Some(done.with_context(|| format!("{name} ended with a panic"))?)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[tokio::test]
    async fn what_is_done_is_given() {
        let stop = CancellationToken::new();
        let done = unless_stopped("work", &stop, || 7).await;
        assert_eq!(done.expect("a thread"), Some(7));
    }

    #[tokio::test]
    async fn a_stop_does_not_wait_for_work_that_blocks() {
        let stop = CancellationToken::new();
        let (release, released) = sync_channel::<()>(1);
        let (begun, begin) = oneshot::channel();
        let work = move || {
            begun.send(()).expect("somebody waits");
            released.recv()
        };
        let started = unless_stopped("work", &stop, work);
        let stopping = async {
            begin.await.expect("begun");
            stop.cancel();
        };
        let (started, ()) = tokio::join!(started, stopping);
        assert!(started.expect("a thread").is_none());
        release.send(()).expect("the work still waits");
    }

    #[tokio::test]
    async fn a_stop_wins_over_work_that_is_done() {
        let stop = CancellationToken::new();
        let inner = stop.clone();
        let done = unless_stopped("work", &stop, move || inner.cancel()).await;
        assert!(done.expect("a thread").is_none());
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let stop = CancellationToken::new();
        let work = || assert_eq!(1, 2, "the work fails");
        let said = unless_stopped("work", &stop, work).await;
        let said = said.expect_err("a panic").to_string();
        assert_eq!(said, "work ended with a panic");
    }
}

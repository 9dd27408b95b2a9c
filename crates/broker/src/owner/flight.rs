//! What is decided and not applied, and who waits for it.

use std::collections::VecDeque;

use record::BatchHeader;
use tokio::sync::OwnedSemaphorePermit;
use types::LogIndex;

use super::proposal::{AppendResults, Reply};
use crate::error::{AppendError, Stopped};
use crate::metadata::MetadataEntry;

/// What an entry does to the state: what its payload says, or what was put into it.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A batch joins its partition.
    Records(BatchHeader),
    /// The log start of a partition moves.
    Trim,
    /// Topics, settings or ids change.
    Metadata(MetadataEntry),
    /// Segments take the place of files.
    Swap(log::segment::SwapEntry),
    /// Nothing follows in this life.
    CleanStop,
    /// The stamp was set.
    Clock,
}

/// A decided entry on its way through the log.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) index: LogIndex,
    pub(crate) effect: Effect,
    /// Log space that was set aside for it.
    pub(crate) reserved_bytes: u64,
}

/// What happens once an index is reached.
pub(crate) enum Then {
    /// The results of an append are sent.
    Append {
        results: AppendResults,
        reply: Reply<AppendResults>,
        /// Gives the memory back when dropped.
        permit: Option<OwnedSemaphorePermit>,
    },
    /// Somebody is told.
    Tell(Box<dyn FnOnce(Result<(), Stopped>) + Send>),
}

impl std::fmt::Debug for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Append { .. } => "Append",
            Self::Tell(_) => "Tell",
        })
    }
}

impl Then {
    /// The index is reached.
    pub(crate) fn done(self) {
        match self {
            Self::Append {
                results,
                reply,
                permit,
            } => {
                drop(permit);
                send(reply, results);
            }
            Self::Tell(tell) => tell(Ok(())),
        }
    }

    /// It never will be: what looked like success is not.
    pub(crate) fn stopped(self) {
        match self {
            Self::Append {
                results,
                reply,
                permit,
            } => {
                drop(permit);
                let failed = results.into_iter().map(|result| match result {
                    Ok(_) => Err(AppendError::Stopped(Stopped)),
                    failed => failed,
                });
                send(reply, failed.collect());
            }
            Self::Tell(tell) => tell(Err(Stopped)),
        }
    }
}

/// Sends an answer; whoever asked may have left.
pub(crate) fn send<T>(reply: Reply<T>, value: T) {
    let _gone = reply.send(value).is_err();
}

/// Who waits, by the index that they wait for.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    queue: VecDeque<(LogIndex, Then)>,
}

impl Waiting {
    pub(crate) fn push(&mut self, index: LogIndex, then: Then) {
        let at = self.queue.partition_point(|(queued, _)| *queued <= index);
        if at == self.queue.len() {
            self.queue.push_back((index, then));
        } else {
            self.queue.insert(at, (index, then));
        }
    }

    /// Tells all who waited for an index up to `reached`.
    pub(crate) fn reach(&mut self, reached: LogIndex) {
        while let Some((_, then)) = self.queue.pop_front_if(|(index, _)| *index <= reached) {
            then.done();
        }
    }

    /// Tells all that it never will be.
    pub(crate) fn stop(&mut self) {
        for (_, then) in self.queue.drain(..) {
            then.stopped();
        }
    }
}

//! Requests under way, and what their answers tell the oracle.

use std::collections::BTreeMap;

use broker::metadata::{
    AlterConfigError, CreatePartitionsError, CreateTopicError, DeleteTopicError,
};
use broker::owner::{AppendResults, TopicMade};
use broker::{AppendError, Stopped, TrimError};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;
use types::{Offset, PartitionId, ProducerId, TopicId};

use crate::ensure;
use crate::failure::Failure;
use crate::model::{Model, SubmissionId};

/// A request that waits for its answer.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is what it is named after")]
pub enum Request {
    Append {
        answer: Receiver<AppendResults>,
        sent: Vec<SubmissionId>,
    },
    Trim {
        answer: Receiver<Result<Offset, TrimError>>,
        partition: PartitionId,
    },
    Create {
        answer: Receiver<Result<TopicMade, CreateTopicError>>,
        name: String,
    },
    Delete {
        answer: Receiver<Result<(), DeleteTopicError>>,
        topic: TopicId,
    },
    Partitions {
        answer: Receiver<Result<(), CreatePartitionsError>>,
        topic: TopicId,
        count: usize,
    },
    Alter {
        answer: Receiver<Result<(), AlterConfigError>>,
        topic: TopicId,
        number: u64,
    },
    Producer {
        answer: Receiver<Result<ProducerId, Stopped>>,
    },
    Stop {
        answer: Receiver<Result<(), Stopped>>,
    },
}

/// What may go wrong without a promise being broken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// The log may be stopped.
    pub stopped: bool,
    /// The disk may be full.
    pub full: bool,
}

/// What an answer means for those who sent.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Batches of producers that were not taken, or whose fate is unknown.
    pub failed: Vec<(SubmissionId, Option<AppendError>)>,
    /// Batches that were taken.
    pub taken: Vec<SubmissionId>,
    /// A producer id to use.
    pub producer: Option<ProducerId>,
    /// The node stopped in order, or could not.
    pub stopped: Option<bool>,
    /// Topics that must be visible from now on.
    pub made: Option<TopicId>,
    /// How many partitions a topic must have from now on.
    pub partitions: Option<(TopicId, usize)>,
}

/// The requests of one life.
#[derive(Debug, Default)]
pub struct Requests {
    waiting: Vec<Request>,
}

impl Requests {
    /// Waits for one more answer.
    pub fn push(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the answers that have come.
    ///
    /// # Errors
    /// When an answer breaks a promise.
    pub fn poll(&mut self, model: &mut Model, allowed: Allowed) -> Result<Vec<Outcome>, Failure> {
        let mut outcomes = Vec::new();
        let mut still = Vec::with_capacity(self.waiting.len());
        for mut request in std::mem::take(&mut self.waiting) {
            match request.settle(model, allowed)? {
                Some(outcome) => outcomes.push(outcome),
                None => still.push(request),
            }
        }
        self.waiting = still;
        Ok(outcomes)
    }

    /// The life is over: nobody will answer. Gives the batches whose fate is unknown.
    pub fn abandon(&mut self) -> Vec<SubmissionId> {
        let mut unknown = Vec::new();
        for request in self.waiting.drain(..) {
            if let Request::Append { sent, .. } = request {
                unknown.extend(sent);
            }
        }
        unknown
    }
}

/// An answer, if it has come. One that never will is an error: nobody is forgotten.
fn take<T>(answer: &mut Receiver<T>) -> Result<Option<T>, Failure> {
    match answer.try_recv() {
        Ok(value) => Ok(Some(value)),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Closed) => Err(Failure("a request was dropped without answer".into())),
    }
}

impl Request {
    /// `None` when there is no answer yet.
    fn settle(&mut self, model: &mut Model, allowed: Allowed) -> Result<Option<Outcome>, Failure> {
        Ok(match self {
            Self::Append { answer, sent } => match take(answer)? {
                Some(results) => Some(appended(model, allowed, sent, results)?),
                None => None,
            },
            Self::Trim { answer, partition } => match take(answer)? {
                Some(result) => Some(trimmed(model, allowed, *partition, result)?),
                None => None,
            },
            Self::Create { answer, name } => match take(answer)? {
                Some(result) => Some(created(model, allowed, name, result)?),
                None => None,
            },
            Self::Delete { answer, topic } => match take(answer)? {
                Some(result) => Some(deleted(model, allowed, *topic, result)?),
                None => None,
            },
            Self::Partitions {
                answer,
                topic,
                count,
            } => match take(answer)? {
                Some(Ok(())) => Some(Outcome {
                    partitions: Some((*topic, *count)),
                    ..Outcome::default()
                }),
                Some(Err(CreatePartitionsError::Stopped(_))) => Some(stopped(allowed)?),
                Some(Err(_)) => Some(Outcome::default()),
                None => None,
            },
            Self::Alter {
                answer,
                topic,
                number,
            } => match take(answer)? {
                Some(result) => Some(altered(model, allowed, *topic, *number, result)?),
                None => None,
            },
            Self::Producer { answer } => match take(answer)? {
                Some(Ok(id)) => {
                    model.producer_id(id)?;
                    Some(Outcome {
                        producer: Some(id),
                        ..Outcome::default()
                    })
                }
                Some(Err(Stopped)) => Some(stopped(allowed)?),
                None => None,
            },
            Self::Stop { answer } => match take(answer)? {
                Some(result) => {
                    ensure!(
                        result.is_ok() || allowed.stopped,
                        "the node did not stop in order"
                    );
                    Some(Outcome {
                        stopped: Some(result.is_ok()),
                        ..Outcome::default()
                    })
                }
                None => None,
            },
        })
    }
}

fn stopped(allowed: Allowed) -> Result<Outcome, Failure> {
    ensure!(
        allowed.stopped,
        "the log says that it is stopped, and nothing failed"
    );
    Ok(Outcome::default())
}

fn appended(
    model: &mut Model,
    allowed: Allowed,
    sent: &[SubmissionId],
    results: AppendResults,
) -> Result<Outcome, Failure> {
    ensure!(
        results.len() == sent.len(),
        "{} results for {} batches",
        results.len(),
        sent.len()
    );
    let mut outcome = Outcome::default();
    // The answer waits for the strictest topic of which something was taken.
    let is_sync = |id: &SubmissionId| model.submission(*id).is_some_and(|sent| sent.sync);
    let synced = sent
        .iter()
        .zip(&results)
        .any(|(id, result)| result.is_ok() && is_sync(id));
    for (id, result) in sent.iter().zip(results) {
        match result {
            Ok(appended) => {
                outcome.taken.push(*id);
                if synced {
                    model.confirmed(*id, appended.base_offset.0)?;
                } else {
                    model.written.insert(*id);
                }
            }
            Err(error) => {
                refused(model, allowed, *id, &error)?;
                outcome.failed.push((*id, Some(error)));
            }
        }
    }
    Ok(outcome)
}

fn refused(
    model: &mut Model,
    allowed: Allowed,
    id: SubmissionId,
    error: &AppendError,
) -> Result<(), Failure> {
    let Some(sent) = model.submission(id) else {
        return Ok(());
    };
    let is_known = model.partitions.contains_key(&sent.partition);
    let topic = model
        .owners
        .get(&sent.partition)
        .and_then(|(topic, _)| model.topics.get(topic));
    let deleting = !is_known || topic.is_none_or(|topic| topic.deleting > 0);
    let fine = match error {
        AppendError::UnknownPartition => deleting,
        // The producer knows whether it deserved that.
        AppendError::Producer(_) => sent.producer.is_some(),
        AppendError::Full => allowed.full,
        AppendError::Stopped(_) => allowed.stopped,
        AppendError::TooLarge { .. } | AppendError::Damaged => false,
    };
    ensure!(fine, "{id:?} to {} was refused: {error}", sent.partition);
    // When the log stops nobody knows what came of what was decided.
    if !matches!(error, AppendError::Stopped(_))
        && let Some(sent) = model.submission_mut(id)
        && sent.producer.is_none()
    {
        sent.refused = true;
    }
    Ok(())
}

fn trimmed(
    model: &mut Model,
    allowed: Allowed,
    partition: PartitionId,
    result: Result<Offset, TrimError>,
) -> Result<Outcome, Failure> {
    match result {
        Ok(start) => {
            if let Some(known) = model.partitions.get_mut(&partition) {
                known.trimmed(start.0);
            }
        }
        Err(TrimError::Stopped(_)) => return stopped(allowed),
        Err(TrimError::UnknownPartition | TrimError::OffsetOutOfRange { .. }) => {}
    }
    Ok(Outcome::default())
}

fn created(
    model: &mut Model,
    allowed: Allowed,
    name: &str,
    result: Result<TopicMade, CreateTopicError>,
) -> Result<Outcome, Failure> {
    let made = match result {
        Ok(made) => Some(made.id),
        Err(CreateTopicError::Stopped(_)) => return stopped(allowed),
        Err(CreateTopicError::Exists { .. }) => {
            give_up(&mut model.creating, name);
            None
        }
        Err(error) => return Err(Failure(format!("topic {name:?} was refused: {error}"))),
    };
    Ok(Outcome {
        made,
        ..Outcome::default()
    })
}

fn give_up(creating: &mut BTreeMap<String, u64>, name: &str) {
    if let Some(count) = creating.get_mut(name) {
        *count = count.saturating_sub(1);
    }
}

fn deleted(
    model: &mut Model,
    allowed: Allowed,
    topic: TopicId,
    result: Result<(), DeleteTopicError>,
) -> Result<Outcome, Failure> {
    match result {
        Ok(()) => model.topic_gone(topic),
        Err(DeleteTopicError::Stopped(_)) => return stopped(allowed),
        Err(_) => {
            if let Some(topic) = model.topics.get_mut(&topic) {
                topic.deleting = topic.deleting.saturating_sub(1);
            }
        }
    }
    Ok(Outcome::default())
}

fn altered(
    model: &mut Model,
    allowed: Allowed,
    topic: TopicId,
    number: u64,
    result: Result<(), AlterConfigError>,
) -> Result<Outcome, Failure> {
    let known = model.topics.get_mut(&topic);
    match result {
        Ok(()) => known
            .into_iter()
            .for_each(|topic| topic.changed(number, true)),
        Err(AlterConfigError::Stopped(_)) => return stopped(allowed),
        Err(AlterConfigError::Unknown(_)) => {
            known
                .into_iter()
                .for_each(|topic| topic.changed(number, false));
        }
        Err(error) => return Err(Failure(format!("settings were refused: {error}"))),
    }
    Ok(Outcome::default())
}

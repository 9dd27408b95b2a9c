//! The last entry of a life, and the answers when there will be no more.

use std::sync::Arc;

use log::Kind;

use super::flight::{Effect, Then, send};
use super::proposal::{Proposal, Reply};
use super::state::SHARED_SHARD;
use super::{Draft, Owner};
use crate::error::Stopped;
use crate::metadata::{
    AlterConfigError, ConfigChange, ConfigOp, CreatePartitionsError, CreateTopicError,
    DeleteTopicError,
};

impl Owner {
    /// Begins to stop: nothing more is taken, and a checkpoint is written first.
    pub(super) fn begin_stop(&mut self, reply: Reply<Result<(), Stopped>>) {
        for append in std::mem::take(&mut self.deferred) {
            append.refuse();
        }
        self.waiting.drain(..).for_each(Proposal::refuse);
        self.want_checkpoint();
        self.stopping = Some(reply);
    }

    /// Decides the clean stop once the checkpoint is written: when its reply comes, everything
    /// before it is synced.
    pub(super) fn advance_stop(&mut self) {
        if !self.is_checkpoint_idle() {
            return;
        }
        let Some(reply) = self.stopping.take() else {
            return;
        };
        let stamp = self.stamp();
        let draft = Draft::new(SHARED_SHARD, Kind::CleanStop, stamp, bytes::Bytes::new());
        let index = self.propose(draft, Effect::CleanStop);
        let tell = move |done| send(reply, done);
        self.on_synced.push(index, Then::Tell(Box::new(tell)));
    }

    /// The segments of the node, for those who verify them.
    pub fn segments(&self) -> impl Iterator<Item = &Arc<log::segment::Segment>> {
        self.applied
            .storage
            .segments
            .values()
            .map(|state| &state.segment)
    }

    /// The log that this owner writes to.
    #[must_use]
    pub const fn log(&self) -> &Arc<log::CommitLog> {
        &self.log
    }
}

impl Proposal {
    /// About how many bytes its entry has in the log; 0 of what has none or is judged by itself.
    pub(super) fn metadata_bytes(&self) -> usize {
        let names = |configs: &[(String, Option<String>)]| -> usize {
            configs
                .iter()
                .map(|(name, value)| name.len() + value.as_ref().map_or(0, String::len))
                .sum()
        };
        let numbers = |count: i32| 8 * usize::try_from(count).unwrap_or(0);
        let fixed = 512;
        match self {
            Self::CreateTopic {
                request,
                validate_only: false,
                ..
            } => {
                let placed = request.assignments.len().max(1) * 8;
                fixed + placed + numbers(request.partitions) + names(&request.configs)
            }
            Self::CreatePartitions {
                request,
                validate_only: false,
                ..
            } => fixed + numbers(request.count),
            Self::AlterConfig {
                request,
                validate_only: false,
                ..
            } => match &request.change {
                ConfigChange::Replace(configs) => fixed + names(configs),
                ConfigChange::Incremental(ops) => {
                    let value = |op: &ConfigOp| op.value.as_ref().map_or(0, String::len);
                    fixed
                        + ops
                            .iter()
                            .map(|op| op.name.len() + value(op))
                            .sum::<usize>()
                }
            },
            Self::DeleteTopic { .. } | Self::Trim { .. } | Self::ProducerId { .. } => fixed,
            _ => 0,
        }
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_given_up(&self) -> bool {
        match self {
            Self::Trim { reply, .. } => reply.is_closed(),
            Self::CreateTopic { reply, .. } => reply.is_closed(),
            Self::DeleteTopic { reply, .. } => reply.is_closed(),
            Self::CreatePartitions { reply, .. } => reply.is_closed(),
            Self::AlterConfig { reply, .. } => reply.is_closed(),
            Self::ProducerId { reply } => reply.is_closed(),
            Self::Append(_) | Self::Stop { .. } | Self::Job(_) => false,
        }
    }

    /// Answers that the node takes no more changes.
    pub(super) fn refuse(self) {
        match self {
            Self::Append(append) => append.refuse(),
            Self::Trim { reply, .. } => send(reply, Err(Stopped.into())),
            Self::CreateTopic { reply, .. } => {
                send(reply, Err(CreateTopicError::Stopped(Stopped)));
            }
            Self::DeleteTopic { reply, .. } => {
                send(reply, Err(DeleteTopicError::Stopped(Stopped)));
            }
            Self::CreatePartitions { reply, .. } => {
                send(reply, Err(CreatePartitionsError::Stopped(Stopped)));
            }
            Self::AlterConfig { reply, .. } => {
                send(reply, Err(AlterConfigError::Stopped(Stopped)));
            }
            Self::ProducerId { reply } => send(reply, Err(Stopped)),
            Self::Stop { reply } => send(reply, Err(Stopped)),
            Self::Job(_) => {}
        }
    }
}

//! Deciding changes of topics, settings and ids.

use log::Kind;
use types::limits::PRODUCER_ID_BLOCK;
use types::{LogIndex, ProducerId, TopicId};

use super::flight::{Effect, Then, send};
use super::proposal::{Reply, TopicMade};
use super::state::SHARED_SHARD;
use super::{Draft, Owner};
use crate::error::{EntryTooLarge, Stopped};
use crate::metadata::{
    AlterConfigError, AlterConfigRequest, CreateContext, CreatePartitionsError,
    CreatePartitionsRequest, CreateTopicError, CreateTopicRequest, Decision, DeleteTopicError,
    MetadataEntry, MetadataView, TopicRef, decide_alter_config, decide_create_partitions,
    decide_create_topic, decide_delete_topic, decide_leader_epoch, decide_producer_ids,
};

impl Owner {
    fn view(&self) -> MetadataView<'_> {
        MetadataView::new(&self.applied.metadata, &self.overlay)
    }

    /// What the first entries of a life are: after an unclean stop the leader epoch moves, so
    /// that clients check what they know (KIP-101).
    pub(super) fn begin_life(&mut self, clean: bool) {
        if !clean && self.log.poisoned().is_none() {
            let entry = decide_leader_epoch(self.view());
            self.propose_metadata(entry);
        }
    }

    /// Proposes an entry that is small in any case.
    fn propose_metadata(&mut self, entry: MetadataEntry) -> LogIndex {
        let payload = entry.encode();
        self.propose_encoded(entry, payload)
    }

    /// The bytes of an entry that is as large as its request wants it.
    fn encode_checked(&self, entry: &MetadataEntry) -> Result<Vec<u8>, EntryTooLarge> {
        let payload = entry.encode();
        let (bytes, bytes_max) = (payload.len(), self.config.entry_bytes_max);
        if bytes > bytes_max {
            return Err(EntryTooLarge { bytes, bytes_max });
        }
        Ok(payload)
    }

    fn propose_encoded(&mut self, entry: MetadataEntry, payload: Vec<u8>) -> LogIndex {
        let stamp = self.stamp();
        let payload = payload.into();
        self.overlay.push(entry.clone());
        let draft = Draft::new(SHARED_SHARD, Kind::Metadata, stamp, payload);
        self.propose(draft, Effect::Metadata(entry))
    }

    /// Answers with `value` once `index` is synced.
    fn answer_at<T, E>(&mut self, index: LogIndex, reply: Reply<Result<T, E>>, value: T)
    where
        T: Send + 'static,
        E: From<Stopped> + Send + 'static,
    {
        let tell = move |done: Result<(), Stopped>| {
            send(reply, done.map(|()| value).map_err(E::from));
        };
        self.on_synced.push(index, Then::Tell(Box::new(tell)));
    }

    pub(super) fn decide_create_topic(
        &mut self,
        request: &CreateTopicRequest,
        validate_only: bool,
        reply: Reply<Result<TopicMade, CreateTopicError>>,
    ) {
        let context = CreateContext {
            id: TopicId::from_random(self.random.next_u64(), self.random.next_u64()),
            now_ms: self.stamp(),
            node_id: self.config.node_id,
            default_partitions: self.config.partitions_default,
        };
        let decided = decide_create_topic(self.view(), request, &context);
        let Decision { entry, warnings } = match decided {
            Ok(decision) => decision,
            Err(error) => return send(reply, Err(error)),
        };
        let MetadataEntry::CreateTopic { partitions, .. } = &entry else {
            return;
        };
        let partitions = i32::try_from(partitions.len()).unwrap_or(i32::MAX);
        let made = TopicMade {
            id: context.id,
            partitions,
        };
        let payload = match self.encode_checked(&entry) {
            Ok(_) if validate_only => return send(reply, Ok(made)),
            Ok(payload) => payload,
            Err(error) => return send(reply, Err(error.into())),
        };
        let index = self.propose_encoded(entry, payload);
        self.answer_at(index, reply, made);
        for warning in warnings {
            tracing::warn!(topic = request.name, warning = %warning, "a setting has no meaning here");
        }
    }

    pub(super) fn decide_delete_topic(
        &mut self,
        topic: &TopicRef,
        reply: Reply<Result<(), DeleteTopicError>>,
    ) {
        let entry = match decide_delete_topic(self.view(), topic) {
            Ok(entry) => entry,
            Err(error) => return send(reply, Err(error)),
        };
        if let Some(found) = self.view().find(topic) {
            for id in found.into_owned().partitions {
                if let Some(state) = self.applied.partitions.get_mut(&id) {
                    state.deleting = true;
                }
            }
        }
        let index = self.propose_metadata(entry);
        self.answer_at(index, reply, ());
    }

    pub(super) fn decide_create_partitions(
        &mut self,
        request: &CreatePartitionsRequest,
        validate_only: bool,
        reply: Reply<Result<(), CreatePartitionsError>>,
    ) {
        match decide_create_partitions(self.view(), request, self.config.node_id) {
            Err(error) => send(reply, Err(error)),
            Ok(entry) => match self.encode_checked(&entry) {
                Err(error) => send(reply, Err(error.into())),
                Ok(_) if validate_only => send(reply, Ok(())),
                Ok(payload) => {
                    let index = self.propose_encoded(entry, payload);
                    self.answer_at(index, reply, ());
                }
            },
        }
    }

    pub(super) fn decide_alter_config(
        &mut self,
        request: &AlterConfigRequest,
        validate_only: bool,
        reply: Reply<Result<(), AlterConfigError>>,
    ) {
        let decided = decide_alter_config(self.view(), request, &self.applied.defaults);
        match decided {
            Err(error) => send(reply, Err(error)),
            Ok(Decision { entry, warnings }) => {
                let payload = match self.encode_checked(&entry) {
                    Ok(_) if validate_only => return send(reply, Ok(())),
                    Ok(payload) => payload,
                    Err(error) => return send(reply, Err(error.into())),
                };
                let index = self.propose_encoded(entry, payload);
                self.answer_at(index, reply, ());
                for warning in warnings {
                    tracing::warn!(topic = %request.topic, warning = %warning, "a setting has no meaning here");
                }
            }
        }
    }

    /// Ids come out of blocks that the log knows of, so that none is ever given twice.
    pub(super) fn decide_producer_id(&mut self, reply: Reply<Result<ProducerId, Stopped>>) {
        if self.producer_ids.is_empty() {
            let (ids, entry) = decide_producer_ids(self.view(), PRODUCER_ID_BLOCK);
            self.producer_ids = ids;
            self.producer_ids_index = self.propose_metadata(entry);
        }
        let id = ProducerId(self.producer_ids.start);
        self.producer_ids.start += 1;
        self.answer_at(self.producer_ids_index, reply, id);
    }
}

//! Building applied state from a checkpoint's rows and the log after it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use log::checkpoint::{CheckpointHeader, Row, RowKey, kind};
use log::file::LogFile;
use log::frame::PlacedHeader;
use log::recovery::Replay;
use log::segment::{SegmentInfo, SwapEntry};
use log::{Corruption, EntryHeader, Error, Kind};
use record::BatchHeader;
use types::{LogIndex, PartitionId, SegmentId};

use super::Applied;
use super::apply::Place;
use super::flight::Effect;
use super::state::PartitionState;
use crate::metadata::{MetadataEntry, NodeRow, TopicRow};
use crate::partition::Partition;
use crate::partition_row::PartitionRow;
use crate::topic_config::TopicSettings;

/// Applied state under construction.
#[derive(Debug)]
pub(crate) struct Loading {
    pub(crate) state: Applied,
    /// What the checkpoint held when it was begun, by shard.
    from: [LogIndex; 2],
    /// The index that each topic's row stood at.
    topic_index: BTreeMap<types::TopicId, LogIndex>,
    node_index: LogIndex,
    /// Partitions that were damaged when the checkpoint was written. It does not say where, so
    /// what it covers of them is looked at again.
    suspects: BTreeSet<PartitionId>,
    /// The last entry said that the node stopped in order.
    pub(crate) clean: bool,
}

impl Loading {
    pub(crate) fn new(state: Applied, header: &CheckpointHeader) -> Self {
        let mut from = [LogIndex(0); 2];
        for shard in &header.shards {
            if let Some(index) = from.get_mut(usize::from(shard.shard.0)) {
                *index = shard.applied;
            }
        }
        let mut loading = Self {
            state,
            from,
            topic_index: BTreeMap::new(),
            node_index: LogIndex(0),
            suspects: BTreeSet::new(),
            clean: false,
        };
        loading.state.index = from;
        loading.state.stamp_ms = header.created_ms;
        loading
    }

    /// Takes a row of the checkpoint.
    pub(crate) fn row(&mut self, row: &Row, path: &Path) -> Result<(), Error> {
        let taken = match row.kind {
            kind::NODE => self.node_row(row),
            kind::TOPIC => self.topic_row(row),
            kind::PARTITION => self.partition_row(row),
            kind::SEGMENT => return self.segment_row(row, path),
            _ => None,
        };
        taken.ok_or_else(|| bad_row(row, path))
    }

    fn node_row(&mut self, row: &Row) -> Option<()> {
        let node = NodeRow::decode(&row.value)?;
        self.state.storage.next_segment = SegmentId(node.next_segment);
        self.state.metadata.restore_node(&node);
        self.state
            .shared
            .set_leader_epoch(self.state.metadata.leader_epoch());
        self.node_index = row.index;
        Some(())
    }

    fn topic_row(&mut self, row: &Row) -> Option<()> {
        let topic = TopicRow::decode(&row.value)?;
        let id = topic.0.id;
        self.state.metadata.restore_topic(topic);
        self.state.project_topic(id);
        self.topic_index.insert(id, row.index);
        Some(())
    }

    fn partition_row(&mut self, row: &Row) -> Option<()> {
        let RowKey::Number(number) = row.key else {
            return None;
        };
        let id = PartitionId(u32::try_from(number).ok()?);
        let stored = PartitionRow::decode(&row.value)?;
        let (epochs, producers) = stored.histories()?;
        // Its topic may have been created after the topics were handed over.
        let state = self.state.partitions.entry(id).or_insert_with(|| {
            let shared = Arc::new(Partition::new(id, stored.topic, stored.number));
            PartitionState::new(shared, Arc::new(TopicSettings::default()))
        });
        *state.shared.epochs.write() = epochs;
        state.producers = producers;
        state.next_offset = stored.end;
        state.next_log_start = stored.log_start;
        state.row_index = row.index;
        state.shared.set_log_start(stored.log_start);
        state.shared.set_decided_end(stored.end);
        state.shared.set_end(stored.end, 0);
        if stored.damaged {
            self.suspects.insert(id);
        }
        Some(())
    }

    fn segment_row(&mut self, row: &Row, path: &Path) -> Result<(), Error> {
        let info = SegmentInfo::decode(&row.value).map_err(|_| bad_row(row, path))?;
        self.state.open_segment(info)
    }

    /// Whether the row of what the entry is about holds it already.
    fn is_covered(&self, entry: &EntryHeader) -> bool {
        let shard = usize::from(entry.shard.0);
        if self.from.get(shard).is_none_or(|from| entry.index <= *from) {
            return true;
        }
        match entry.kind {
            Kind::Records | Kind::Trim => self
                .state
                .partitions
                .get(&entry.partition)
                .is_some_and(|state| entry.index <= state.row_index),
            _ => false,
        }
    }

    /// Counts an entry, whatever becomes of it: no index is used twice.
    fn passed(&mut self, entry: &EntryHeader) {
        if let Some(index) = self.state.index.get_mut(usize::from(entry.shard.0)) {
            *index = (*index).max(entry.index);
        }
        self.state.stamp_ms = self.state.stamp_ms.max(entry.append_time_ms);
    }

    /// Whether a batch that the checkpoint covers is looked at all the same.
    fn is_suspect(&self, entry: &EntryHeader) -> bool {
        entry.kind == Kind::Records && self.suspects.contains(&entry.partition)
    }

    /// Whether nobody can read the batch any more: its payload is not even looked at.
    fn is_dead(&self, entry: &EntryHeader) -> bool {
        let partition = self.state.partitions.get(&entry.partition);
        entry.kind == Kind::Records
            && partition.is_none_or(|p| entry.end_offset() <= p.shared.log_start())
    }

    fn metadata_covered(&self, entry: &EntryHeader, change: &MetadataEntry) -> bool {
        match topic_of(change) {
            Some(id) => self
                .topic_index
                .get(&id)
                .is_some_and(|row| entry.index <= *row),
            None => entry.index <= self.node_index,
        }
    }

    fn effect(&self, entry: &EntryHeader, payload: &Bytes) -> Option<Effect> {
        Some(match entry.kind {
            Kind::Records => Effect::Records(BatchHeader::parse(payload).ok()?),
            Kind::Trim => Effect::Trim,
            Kind::Metadata => Effect::Metadata(MetadataEntry::decode(payload).ok()?),
            Kind::Swap => Effect::Swap(SwapEntry::decode(payload).ok()?),
            Kind::CleanStop => Effect::CleanStop,
            Kind::Clock => Effect::Clock,
        })
    }
}

impl Replay for Loading {
    fn wants_payload(&self, entry: &PlacedHeader) -> bool {
        let header = &entry.header;
        (!self.is_covered(header) || self.is_suspect(header)) && !self.is_dead(header)
    }

    fn entry(
        &mut self,
        file: &Arc<LogFile>,
        entry: &PlacedHeader,
        payload: Option<Bytes>,
    ) -> Result<(), Error> {
        let header = &entry.header;
        let place = Place {
            file,
            position: entry.position,
            bytes: entry.payload_bytes,
        };
        self.state.storage.file_unless_sealed(file);
        self.passed(header);
        let Some(payload) = payload.filter(|_| !self.is_covered(header)) else {
            // Where a batch is the rows of the checkpoint do not say.
            if header.kind == Kind::Records {
                self.state.index_batch(header, place);
            }
            return Ok(());
        };
        let effect = self
            .effect(header, &payload)
            .ok_or_else(|| bad_entry(file, entry))?;
        self.clean = matches!(effect, Effect::CleanStop);
        let skip = match &effect {
            Effect::Metadata(change) => self.metadata_covered(header, change),
            _ => false,
        };
        if !skip {
            self.state.apply(header, place, effect)?;
        }
        Ok(())
    }

    fn bad_payload(
        &mut self,
        file: &Arc<LogFile>,
        entry: &PlacedHeader,
        corruption: &Corruption,
    ) -> bool {
        let header = &entry.header;
        if header.kind != Kind::Records {
            return false;
        }
        tracing::error!(
            error = %corruption,
            partition = header.partition.0,
            first_offset = header.base_offset.0,
            end_offset = header.end_offset().0,
            "confirmed records are damaged: the partition serves what is around them"
        );
        let place = Place {
            file,
            position: entry.position,
            bytes: entry.payload_bytes,
        };
        self.state.storage.file_unless_sealed(file);
        self.state.apply_damaged(header, place, corruption.clone());
        self.passed(header);
        true
    }
}

fn bad_row(row: &Row, path: &Path) -> Error {
    Error::Corrupt(Corruption {
        path: path.to_path_buf(),
        position: 0,
        what: "checkpoint row",
        expected: format!("a row of kind {} and a known version", row.kind),
        found: "other bytes".to_owned(),
    })
}

fn bad_entry(file: &LogFile, entry: &PlacedHeader) -> Error {
    Error::Corrupt(Corruption {
        path: file.path.clone(),
        position: entry.position,
        what: "entry",
        expected: format!("the payload of a {:?} entry", entry.header.kind),
        found: "other bytes".to_owned(),
    })
}

/// The topic that a change is about.
const fn topic_of(change: &MetadataEntry) -> Option<types::TopicId> {
    match change {
        MetadataEntry::CreateTopic { id, .. }
        | MetadataEntry::DeleteTopic { id }
        | MetadataEntry::AddPartitions { id, .. }
        | MetadataEntry::SetTopicConfigs { id, .. } => Some(*id),
        MetadataEntry::ProducerIds { .. } | MetadataEntry::LeaderEpochBase { .. } => None,
    }
}

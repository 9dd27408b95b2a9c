//! What must hold for any bytes that are taken for a change of the metadata, or for what a
//! checkpoint keeps of topics, the node and partitions.

use std::hint::black_box;

use bytes::Bytes;
use millrace_broker::leader_epoch::EpochHistory;
use millrace_broker::metadata::{Metadata, MetadataEntry, NodeRow, TopicRow};
use millrace_broker::producer::ProducerStates;
use record::BatchHeader;
use types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence};

use crate::allocated::within;

/// Vectors are given room for a megabyte before their elements are seen, whatever they claim.
const AHEAD_BYTES_MAX: usize = 4 << 20;
/// A producer of seven bytes takes a few hundred in memory.
const ALLOCATED_PER_BYTE_MAX: usize = 128;

/// Reads one of the formats: the first byte says which. True when it was read.
pub fn check(input: &Bytes) -> bool {
    let Some((choice, bytes)) = input.split_first() else {
        return false;
    };
    match choice % 5 {
        0 => check_entry(bytes),
        1 => check_topic(bytes),
        2 => check_node(bytes),
        3 => check_epochs(bytes),
        _ => check_producers(bytes),
    }
}

fn held<T>(bytes: &[u8], decode: impl FnOnce(&[u8]) -> T) -> T {
    let most = AHEAD_BYTES_MAX + ALLOCATED_PER_BYTE_MAX * bytes.len();
    within(most, || decode(bytes))
}

fn check_entry(bytes: &[u8]) -> bool {
    let Ok(entry) = held(bytes, MetadataEntry::decode) else {
        return false;
    };
    assert_eq!(MetadataEntry::decode(&entry.encode()).as_ref(), Ok(&entry));
    // A replay may bring an entry again.
    let mut metadata = Metadata::default();
    metadata.apply(&entry);
    let once = metadata.clone();
    metadata.apply(&entry);
    assert_eq!(metadata, once);
    true
}

fn check_topic(bytes: &[u8]) -> bool {
    let Some(row) = held(bytes, TopicRow::decode) else {
        return false;
    };
    assert_eq!(TopicRow::decode(&row.encode()).as_ref(), Some(&row));
    let mut metadata = Metadata::default();
    metadata.restore_topic(row.clone());
    assert_eq!(metadata.topic(row.0.id).map(|topic| &**topic), Some(&row.0));
    true
}

fn check_node(bytes: &[u8]) -> bool {
    let Some(row) = held(bytes, NodeRow::decode) else {
        return false;
    };
    assert_eq!(NodeRow::decode(&row.encode()), Some(row));
    let mut metadata = Metadata::default();
    metadata.restore_node(&row);
    assert_eq!(metadata.next_partition().0, row.next_partition);
    true
}

fn check_epochs(bytes: &[u8]) -> bool {
    let Some(mut history) = held(bytes, EpochHistory::decode) else {
        return false;
    };
    assert_eq!(
        EpochHistory::decode(&history.encode()).as_ref(),
        Some(&history)
    );
    for number in [i32::MIN, 0, 1, i32::MAX] {
        let (epoch, offset) = (LeaderEpoch(number), Offset(number.into()));
        let end = history.end_offset_for(epoch, LeaderEpoch(i32::MAX), Offset(i64::MAX));
        assert_eq!(end.is_some(), number >= 0);
        black_box(history.epoch_at(offset));
    }
    history.trim(Offset(10));
    history.append(LeaderEpoch(i32::MAX), Offset(i64::MAX));
    assert_eq!(
        EpochHistory::decode(&history.encode()).as_ref(),
        Some(&history)
    );
    true
}

fn check_producers(bytes: &[u8]) -> bool {
    let Some(mut states) = held(bytes, ProducerStates::decode) else {
        return false;
    };
    let encoded = states.encode();
    let again = ProducerStates::decode(&encoded).expect("what was decoded");
    assert_eq!(again.len(), states.len());
    assert_eq!(again.encode(), encoded);
    let header = BatchHeader {
        producer_id: ProducerId(1),
        producer_epoch: ProducerEpoch(0),
        base_sequence: Sequence(0),
        count: 1,
        ..BatchHeader::default()
    };
    black_box(states.check(&header, 0, 1_000).is_ok());
    states.expire(10);
    assert!(ProducerStates::decode(&states.encode()).is_some());
    true
}

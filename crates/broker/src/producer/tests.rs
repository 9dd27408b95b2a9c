use log::{EntryHeader, Kind, Origin};
use record::BatchHeader;
use types::limits::PRODUCERS_PER_PARTITION_MAX;
use types::{
    ErrorKind, LogIndex, Offset, PartitionId, ProducerEpoch, ProducerId, Sequence, ShardId, Term,
};

use super::{ProducerError, ProducerStates, Verdict};

const DAY: i64 = 86_400_000;

pub(super) fn batch(id: i64, epoch: i16, sequence: i32, count: i32) -> BatchHeader {
    BatchHeader {
        producer_id: ProducerId(id),
        producer_epoch: ProducerEpoch(epoch),
        base_sequence: Sequence(sequence),
        count,
        last_offset_delta: count - 1,
        ..BatchHeader::default()
    }
}

pub(super) fn entry(base_offset: i64, count: i32, append_time_ms: i64) -> EntryHeader {
    EntryHeader {
        shard: ShardId(1),
        kind: Kind::Records,
        origin: Origin::Kafka,
        partition: PartitionId(0),
        term: Term(1),
        index: LogIndex(0),
        base_offset: Offset(base_offset),
        count: u32::try_from(count).unwrap(),
        append_time_ms,
        max_timestamp_ms: -1,
    }
}

/// A partition that applies what it decides at once.
#[derive(Default)]
struct Partition {
    states: ProducerStates,
    end: i64,
    now_ms: i64,
}

impl Partition {
    fn check(&self, header: &BatchHeader) -> Result<Verdict, ProducerError> {
        self.states.check(header, self.now_ms, DAY)
    }

    fn apply(&mut self, header: &BatchHeader) {
        self.states
            .apply(header, &entry(self.end, header.count, self.now_ms));
        self.end += i64::from(header.count);
    }

    fn send(&mut self, header: BatchHeader) -> Result<Verdict, ProducerError> {
        let verdict = self.check(&header)?;
        if verdict == Verdict::Append {
            self.apply(&header);
        }
        Ok(verdict)
    }
}

fn duplicate_of(base_offset: i64, append_time_ms: i64) -> Result<Verdict, ProducerError> {
    Ok(Verdict::Duplicate {
        base_offset: Offset(base_offset),
        append_time_ms,
        index: None,
    })
}

fn out_of_order(sequence: i32, expected: i32) -> Result<Verdict, ProducerError> {
    Err(ProducerError::OutOfOrder {
        producer_id: ProducerId(1),
        sequence: Sequence(sequence),
        expected: Sequence(expected),
    })
}

#[test]
fn sequence_numbers_follow_each_other() {
    let mut partition = Partition::default();
    assert_eq!(partition.send(batch(1, 0, 0, 3)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 0, 3, 1)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 0, 5, 1)), out_of_order(5, 4));
    assert_eq!(partition.send(batch(1, 0, 2, 2)), out_of_order(2, 4));
    assert_eq!(partition.send(batch(2, 0, 0, 1)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 0, 4, 1)), Ok(Verdict::Append));
}

#[test]
fn the_sequence_wraps_to_zero() {
    let mut partition = Partition::default();
    assert_eq!(
        partition.send(batch(1, 0, i32::MAX - 1, 3)),
        Ok(Verdict::Append)
    );
    assert_eq!(
        partition.send(batch(1, 0, i32::MAX - 1, 3)),
        duplicate_of(0, 0)
    );
    assert_eq!(partition.send(batch(1, 0, 2, 1)), out_of_order(2, 1));
    assert_eq!(partition.send(batch(1, 0, 1, 1)), Ok(Verdict::Append));
    let mut exact = Partition::default();
    assert_eq!(exact.send(batch(1, 0, i32::MAX, 1)), Ok(Verdict::Append));
    assert_eq!(exact.send(batch(1, 0, 0, 1)), Ok(Verdict::Append));
}

#[test]
fn each_of_the_last_five_batches_is_recognised_and_the_sixth_is_not() {
    let mut partition = Partition::default();
    for n in 0..6 {
        partition.now_ms = 100 + i64::from(n);
        assert_eq!(partition.send(batch(1, 0, 2 * n, 2)), Ok(Verdict::Append));
    }
    for n in 1..6 {
        let expected = duplicate_of(2 * i64::from(n), 100 + i64::from(n));
        assert_eq!(partition.send(batch(1, 0, 2 * n, 2)), expected);
    }
    assert_eq!(partition.send(batch(1, 0, 0, 2)), out_of_order(0, 12));
    // Part of a known batch is no copy of it.
    assert_eq!(partition.send(batch(1, 0, 10, 1)), out_of_order(10, 12));
}

#[test]
fn an_old_epoch_is_fenced_and_a_new_one_begins_at_zero() {
    let mut partition = Partition::default();
    assert_eq!(partition.send(batch(1, 3, 0, 1)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 4, 1, 1)), out_of_order(1, 0));
    assert_eq!(partition.send(batch(1, 4, 0, 1)), Ok(Verdict::Append));
    let fenced = partition.send(batch(1, 3, 0, 1)).unwrap_err();
    let (epoch, current) = (ProducerEpoch(3), ProducerEpoch(4));
    assert_eq!(
        fenced,
        ProducerError::Epoch {
            producer_id: ProducerId(1),
            epoch,
            current
        }
    );
    assert_eq!(fenced.kind(), ErrorKind::Fenced);
    assert_eq!(partition.send(batch(1, 4, 0, 1)), duplicate_of(1, 0));
}

#[test]
fn of_an_unknown_producer_any_sequence_is_taken() {
    let mut partition = Partition::default();
    assert_eq!(partition.send(batch(1, 9, 77, 2)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 9, 79, 1)), Ok(Verdict::Append));
}

#[test]
fn batches_without_a_producer_leave_no_trace() {
    let mut partition = Partition::default();
    for _ in 0..2 {
        assert_eq!(partition.send(batch(-1, -1, -1, 1)), Ok(Verdict::Append));
    }
    partition
        .states
        .decided(&batch(-1, -1, -1, 1), Offset(2), 0, LogIndex(1));
    assert!(partition.states.is_empty());
    assert_eq!(
        partition.states.encode(),
        ProducerStates::default().encode()
    );
}

#[test]
fn a_batch_sent_again_while_the_first_is_under_way_waits_for_its_place() {
    let mut states = ProducerStates::default();
    let check = |states: &ProducerStates, header| states.check(&header, 0, DAY);
    let pending = |base_offset, index| {
        let (base_offset, index) = (Offset(base_offset), Some(LogIndex(index)));
        Ok(Verdict::Duplicate {
            base_offset,
            append_time_ms: 50,
            index,
        })
    };
    states.apply(&batch(1, 0, 0, 1), &entry(0, 1, 50));
    states.decided(&batch(1, 0, 1, 2), Offset(1), 50, LogIndex(7));
    states.decided(&batch(1, 0, 3, 1), Offset(9), 50, LogIndex(9));
    assert_eq!(check(&states, batch(1, 0, 0, 1)), duplicate_of(0, 50));
    assert_eq!(check(&states, batch(1, 0, 1, 2)), pending(1, 7));
    assert_eq!(check(&states, batch(1, 0, 3, 1)), pending(9, 9));
    assert_eq!(check(&states, batch(1, 0, 5, 1)), out_of_order(5, 4));
    assert_eq!(check(&states, batch(1, 0, 4, 1)), Ok(Verdict::Append));
    states.apply(&batch(1, 0, 1, 2), &entry(1, 2, 50));
    assert_eq!(check(&states, batch(1, 0, 1, 2)), duplicate_of(1, 50));
    assert_eq!(check(&states, batch(1, 0, 3, 1)), pending(9, 9));
    states.apply(&batch(1, 0, 3, 1), &entry(9, 1, 50));
    assert_eq!(check(&states, batch(1, 0, 3, 1)), duplicate_of(9, 50));
}

#[test]
fn what_will_never_be_applied_is_dropped() {
    let mut states = ProducerStates::default();
    states.apply(&batch(1, 0, 0, 1), &entry(0, 1, 0));
    states.decided(&batch(1, 0, 1, 1), Offset(1), 0, LogIndex(7));
    states.decided(&batch(2, 0, 5, 1), Offset(2), 0, LogIndex(8));
    states.drop_pending();
    assert_eq!(states.check(&batch(1, 0, 2, 1), 0, DAY), out_of_order(2, 1));
    assert_eq!(
        states.check(&batch(2, 0, 9, 1), 0, DAY),
        Ok(Verdict::Append)
    );
}

#[test]
fn a_producer_that_was_silent_too_long_counts_as_unknown() {
    let mut partition = Partition::default();
    assert_eq!(partition.send(batch(1, 5, 0, 1)), Ok(Verdict::Append));
    partition.now_ms = DAY;
    assert_eq!(partition.check(&batch(1, 5, 9, 1)), out_of_order(9, 1));
    partition.now_ms = DAY + 1;
    // Even with an older epoch, and what it sent before is not recognised.
    assert_eq!(partition.send(batch(1, 4, 0, 1)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 4, 0, 1)), duplicate_of(1, DAY + 1));
    assert_eq!(partition.send(batch(1, 4, 1, 1)), Ok(Verdict::Append));
}

#[test]
fn what_does_not_continue_the_known_batches_replaces_them() {
    let mut partition = Partition::default();
    assert_eq!(partition.send(batch(1, 0, 0, 1)), Ok(Verdict::Append));
    assert_eq!(partition.send(batch(1, 0, 1, 1)), Ok(Verdict::Append));
    partition.now_ms = DAY + 1;
    assert_eq!(partition.send(batch(1, 0, 70, 1)), Ok(Verdict::Append));
    // Even for a node that remembers longer.
    let verdict = partition
        .states
        .check(&batch(1, 0, 1, 1), partition.now_ms, 2 * DAY);
    assert_eq!(verdict, out_of_order(1, 71));
}

#[test]
fn what_is_under_way_never_counts_as_forgotten() {
    let mut states = ProducerStates::default();
    states.apply(&batch(1, 0, 0, 1), &entry(0, 1, 0));
    states.decided(&batch(1, 0, 1, 1), Offset(1), 0, LogIndex(7));
    states.expire(1);
    let verdict = states.check(&batch(1, 0, 1, 1), 2 * DAY, DAY);
    let (base_offset, index) = (Offset(1), Some(LogIndex(7)));
    assert_eq!(
        verdict,
        Ok(Verdict::Duplicate {
            base_offset,
            append_time_ms: 0,
            index
        })
    );
}

#[test]
fn expiry_gives_the_memory_back() {
    let mut partition = Partition::default();
    for id in 1..=3 {
        partition.now_ms = id;
        partition.send(batch(id, 0, 0, 2)).unwrap();
    }
    partition.states.expire(2);
    assert_eq!(partition.states.len(), 2);
    assert_eq!(partition.send(batch(3, 0, 0, 2)), duplicate_of(4, 3));
    partition.states.expire(4);
    assert!(partition.states.is_empty());
    assert_eq!(partition.send(batch(3, 0, 8, 1)), Ok(Verdict::Append));
}

#[test]
fn an_entry_that_was_applied_before_changes_nothing() {
    let mut states = ProducerStates::default();
    for n in 0..3 {
        states.apply(&batch(1, 0, n, 1), &entry(i64::from(n), 1, 5));
    }
    let before = states.encode();
    for n in 0..3 {
        states.apply(&batch(1, 0, n, 1), &entry(i64::from(n), 1, 5));
    }
    assert_eq!(states.encode(), before);
}

#[test]
fn a_partition_remembers_a_bounded_number_of_producers() {
    let mut states = ProducerStates::default();
    let most = i64::try_from(PRODUCERS_PER_PARTITION_MAX).unwrap();
    // The ones with the largest ids were silent longest.
    for n in 0..most {
        states.apply(&batch(most - n, 0, 0, 1), &entry(n, 1, n));
    }
    assert_eq!(states.len(), PRODUCERS_PER_PARTITION_MAX);
    states.apply(&batch(most + 1, 0, 0, 1), &entry(most, 1, most));
    assert_eq!(states.len(), PRODUCERS_PER_PARTITION_MAX * 7 / 8 + 1);
    let eighth = most / 8;
    let is_known = |id| states.check(&batch(id, 0, 5, 1), most, DAY).is_err();
    assert!(!is_known(most - eighth + 1));
    assert!(is_known(most - eighth));
    assert!(is_known(1) && is_known(most + 1));
}

#[test]
fn all_five_batches_survive_a_checkpoint() {
    let mut partition = Partition::default();
    for n in 0..7 {
        partition.send(batch(1, 2, n, 1)).unwrap();
    }
    partition
        .states
        .decided(&batch(1, 2, 7, 1), Offset(7), 0, LogIndex(1));
    partition.states = ProducerStates::decode(&partition.states.encode()).unwrap();
    for n in 2..7 {
        assert_eq!(
            partition.send(batch(1, 2, n, 1)),
            duplicate_of(i64::from(n), 0)
        );
    }
    assert_eq!(partition.send(batch(1, 2, 1, 1)), out_of_order(1, 7));
    assert_eq!(partition.send(batch(1, 2, 7, 1)), Ok(Verdict::Append));
}

#[test]
fn the_bytes_are_those_of_the_format() {
    let mut states = ProducerStates::default();
    states.apply(&batch(1_000, 3, 0, 2), &entry(300, 2, 64));
    let bytes = [1, 1, 0xd0, 0x0f, 6, 1, 0, 2, 0xd8, 0x04, 0x80, 0x01];
    assert_eq!(states.encode(), bytes);
    assert_eq!(
        ProducerStates::decode(&bytes).map(|states| states.encode()),
        Some(bytes.to_vec())
    );
    assert_eq!(ProducerStates::default().encode(), [1, 0]);
    for wrong in [
        &[][..],
        &[1],
        &[2, 0],
        &[1, 0, 0],
        &bytes[..11],
        // A producer without a batch, and one with six.
        &[1, 1, 2, 0, 0],
        &[&[1, 1, 2, 0, 6][..], &[0; 24]].concat(),
    ] {
        assert!(ProducerStates::decode(wrong).is_none(), "{wrong:?}");
    }
}

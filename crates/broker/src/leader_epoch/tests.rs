use proptest::prelude::*;
use types::{LeaderEpoch, Offset};

use super::EpochHistory;

fn history(starts: &[(i32, i64)]) -> EpochHistory {
    let mut history = EpochHistory::default();
    for (epoch, offset) in starts {
        history.append(LeaderEpoch(*epoch), Offset(*offset));
    }
    history
}

fn end_of(history: &EpochHistory, requested: i32, current: i32, end: i64) -> Option<(i32, i64)> {
    let found = history.end_offset_for(LeaderEpoch(requested), LeaderEpoch(current), Offset(end));
    found.map(|(epoch, offset)| (epoch.0, offset.0))
}

fn epoch_at(history: &EpochHistory, offset: i64) -> Option<i32> {
    history.epoch_at(Offset(offset)).map(|epoch| epoch.0)
}

#[test]
fn an_epoch_ends_where_the_next_begins() {
    let history = history(&[(1, 10), (4, 20)]);
    assert_eq!(end_of(&history, 1, 4, 30), Some((1, 20)));
    assert_eq!(end_of(&history, 2, 4, 30), Some((1, 20)));
    assert_eq!(end_of(&history, 3, 4, 30), Some((1, 20)));
    assert_eq!(end_of(&history, 4, 4, 30), Some((4, 30)));
}

#[test]
fn the_leaders_epoch_ends_at_the_log_end_even_before_its_first_record() {
    let history = history(&[(1, 10)]);
    assert_eq!(end_of(&history, 5, 5, 30), Some((5, 30)));
    assert_eq!(end_of(&history, 4, 5, 30), Some((1, 30)));
    assert_eq!(end_of(&history, 1, 5, 30), Some((1, 30)));
    assert_eq!(end_of(&EpochHistory::default(), 0, 0, 0), Some((0, 0)));
    assert_eq!(end_of(&EpochHistory::default(), 2, 3, 7), Some((2, 7)));
}

#[test]
fn an_epoch_older_than_all_records_ends_where_they_begin() {
    let history = history(&[(3, 10), (4, 20)]);
    assert_eq!(end_of(&history, 0, 4, 30), Some((0, 10)));
    assert_eq!(end_of(&history, 2, 4, 30), Some((2, 10)));
}

#[test]
fn an_epoch_that_the_leader_has_not_reached_has_no_end() {
    let history = history(&[(1, 10)]);
    assert_eq!(end_of(&history, 2, 1, 30), None);
    assert_eq!(end_of(&history, -1, 1, 30), None);
    assert_eq!(end_of(&history, i32::MIN, 1, 30), None);
}

#[test]
fn records_have_the_epoch_that_they_were_appended_under() {
    let history = history(&[(1, 10), (4, 20)]);
    assert_eq!(epoch_at(&history, 9), None);
    assert_eq!(epoch_at(&history, 10), Some(1));
    assert_eq!(epoch_at(&history, 19), Some(1));
    assert_eq!(epoch_at(&history, 20), Some(4));
    assert_eq!(epoch_at(&history, i64::MAX), Some(4));
    assert_eq!(epoch_at(&EpochHistory::default(), 0), None);
}

#[test]
fn what_is_known_changes_nothing() {
    let known = history(&[(1, 10), (4, 20)]);
    assert_eq!(
        history(&[(1, 10), (1, 15), (4, 20), (1, 25), (4, 30)]),
        known
    );
}

#[test]
fn an_epoch_without_records_leaves_no_trace() {
    let history = history(&[(1, 10), (2, 20), (3, 20)]);
    assert_eq!(end_of(&history, 2, 3, 30), Some((1, 20)));
    assert_eq!(epoch_at(&history, 20), Some(3));
}

#[test]
fn trimming_keeps_the_epoch_of_the_log_start() {
    let mut trimmed = history(&[(1, 10), (4, 20), (6, 30)]);
    trimmed.trim(Offset(25));
    assert_eq!(trimmed, history(&[(4, 25), (6, 30)]));
    trimmed.trim(Offset(25));
    trimmed.trim(Offset(5));
    assert_eq!(trimmed, history(&[(4, 25), (6, 30)]));
    trimmed.trim(Offset(30));
    assert_eq!(trimmed, history(&[(6, 30)]));
    trimmed.trim(Offset(99));
    assert_eq!(trimmed, history(&[(6, 99)]));
    let mut empty = EpochHistory::default();
    empty.trim(Offset(5));
    assert_eq!(empty, EpochHistory::default());
}

#[test]
fn the_bytes_are_those_of_the_format() {
    let history = history(&[(0, 0), (2, 300)]);
    let bytes = [1, 2, 0, 0, 4, 0xd8, 0x04];
    assert_eq!(history.encode(), bytes);
    assert_eq!(EpochHistory::decode(&bytes), Some(history));
    assert_eq!(EpochHistory::default().encode(), [1, 0]);
    for wrong in [
        &[][..],
        &[1],
        &[2, 0],
        &[1, 0, 0],
        &[1, 2, 0, 0],
        // Epochs or offsets that do not grow.
        &[1, 2, 2, 0, 2, 2],
        &[1, 2, 0, 2, 2, 2],
    ] {
        assert_eq!(EpochHistory::decode(wrong), None, "{wrong:?}");
    }
}

proptest! {
    /// Against the epoch of every single record.
    #[test]
    fn agrees_with_a_list_of_every_records_epoch(
        batches in prop::collection::vec((0..3_i32, 1..4_usize), 0..30),
        trims in prop::collection::vec((0..30_usize, 0..100_i64), 0..4),
        later in 0..3_i32,
    ) {
        let mut records: Vec<i32> = Vec::new();
        let mut history = EpochHistory::default();
        let (mut epoch, mut log_start) = (0, 0);
        for (at, (step, count)) in batches.into_iter().enumerate() {
            epoch += step;
            history.append(LeaderEpoch(epoch), Offset(i64::try_from(records.len()).unwrap()));
            records.extend(std::iter::repeat_n(epoch, count));
            let end = i64::try_from(records.len()).unwrap();
            for (_, to) in trims.iter().filter(|(when, _)| *when == at) {
                log_start = log_start.max((*to).min(end));
                history.trim(Offset(log_start));
            }
        }
        let read = EpochHistory::decode(&history.encode());
        prop_assert_eq!(read.as_ref(), Some(&history));
        let end = i64::try_from(records.len()).unwrap();
        let live = || (log_start..end).map(|at| (at, records[usize::try_from(at).unwrap()]));
        for (offset, epoch) in live() {
            prop_assert_eq!(epoch_at(&history, offset), Some(epoch));
        }
        let current = epoch + later;
        for requested in 0..=current {
            // It ends before the first record of a later epoch.
            let ends = live().find(|(_, e)| *e > requested).map_or(end, |(offset, _)| offset);
            let found = end_of(&history, requested, current, end).unwrap();
            prop_assert_eq!(found.1, ends, "epoch {}", requested);
            prop_assert!(found.0 <= requested);
            let largest = live().map(|(_, e)| e).filter(|e| *e <= requested).max();
            if requested < current && largest.is_some() {
                prop_assert_eq!(Some(found.0), largest);
            }
        }
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut versioned = vec![1];
        versioned.extend(bytes);
        if let Some(history) = EpochHistory::decode(&versioned) {
            prop_assert_eq!(EpochHistory::decode(&history.encode()), Some(history));
        }
    }
}

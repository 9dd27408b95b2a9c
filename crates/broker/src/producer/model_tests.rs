//! Random producers against the plainest model there is: a list of all batches ever decided.

use proptest::prelude::*;
use record::BatchHeader;
use types::{LogIndex, Offset, ProducerEpoch, ProducerId, Sequence};

use super::tests::{batch, entry};
use super::{ProducerError, ProducerStates, Verdict};

const EXPIRATION_MS: i64 = 100;

#[derive(Clone, Debug)]
enum Step {
    /// What a producer sends: how far its sequence is from the next one, how far its epoch from
    /// the last one.
    Send {
        id: i64,
        epoch: i16,
        sequence: i32,
        count: i32,
    },
    /// A batch that was decided some time ago comes again.
    Again {
        back: usize,
    },
    Apply {
        count: usize,
    },
    Wait {
        ms: i64,
    },
    /// What is decided is lost.
    Poison,
    /// Through a checkpoint, with what is under way lost.
    Restart,
    /// Memory is given back.
    Expire,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..3_i64, -1..2_i16, -2..3_i32, 1..4_i32)
            .prop_map(|(id, epoch, sequence, count)| Step::Send { id, epoch, sequence, count }),
        12 => (0..3_i64, 1..4_i32)
            .prop_map(|(id, count)| Step::Send { id, epoch: 0, sequence: 0, count }),
        5 => (0..12_usize).prop_map(|back| Step::Again { back }),
        5 => (1..5_usize).prop_map(|count| Step::Apply { count }),
        1 => (1..150_i64).prop_map(|ms| Step::Wait { ms }),
        1 => Just(Step::Poison),
        1 => Just(Step::Restart),
        1 => Just(Step::Expire),
    ];
    prop::collection::vec(step, 1..150)
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    header: BatchHeader,
    base_offset: i64,
    append_time_ms: i64,
}

/// Judges by the list of all that was decided.
#[derive(Default)]
struct Model {
    decided: Vec<Sent>,
    applied: usize,
}

impl Model {
    fn of(&self, id: ProducerId) -> Vec<(usize, &Sent)> {
        let all = self.decided.iter().enumerate();
        all.filter(|(_, sent)| sent.header.producer_id == id)
            .collect()
    }

    /// The batches that count: back from the last one, as long as each continues the one before
    /// and was not sent after a long silence.
    fn counting(&self, id: ProducerId, now_ms: i64) -> Vec<(usize, &Sent)> {
        let mut all = self.of(id);
        let Some((at, last)) = all.last() else {
            return Vec::new();
        };
        if *at < self.applied && now_ms - last.append_time_ms > EXPIRATION_MS {
            return Vec::new();
        }
        let breaks = |pair: &[(usize, &Sent)]| {
            let (before, after) = (pair[0].1, pair[1].1);
            before.header.producer_epoch != after.header.producer_epoch
                || next(&before.header) != after.header.base_sequence
                || after.append_time_ms - before.append_time_ms > EXPIRATION_MS
        };
        let from = all.windows(2).rposition(breaks).map_or(0, |at| at + 1);
        all.drain(..from.max(all.len().saturating_sub(5)));
        all
    }

    fn check(&self, header: &BatchHeader, now_ms: i64) -> Result<Verdict, ProducerError> {
        let counting = self.counting(header.producer_id, now_ms);
        let Some((_, last)) = counting.last() else {
            return Ok(Verdict::Append);
        };
        let is_copy = |sent: &Sent| {
            let known = sent.header;
            (known.producer_epoch, known.base_sequence, known.count)
                == (header.producer_epoch, header.base_sequence, header.count)
        };
        if let Some((at, original)) = counting.iter().rev().find(|(_, sent)| is_copy(sent)) {
            return Ok(Verdict::Duplicate {
                base_offset: Offset(original.base_offset),
                append_time_ms: original.append_time_ms,
                index: (*at >= self.applied).then(|| index_of(*at)),
            });
        }
        let (producer_id, current) = (header.producer_id, last.header.producer_epoch);
        let epoch = header.producer_epoch;
        if epoch < current {
            return Err(ProducerError::Epoch {
                producer_id,
                epoch,
                current,
            });
        }
        let expected = if epoch == current {
            next(&last.header)
        } else {
            Sequence(0)
        };
        let sequence = header.base_sequence;
        if sequence == expected {
            Ok(Verdict::Append)
        } else {
            Err(ProducerError::OutOfOrder {
                producer_id,
                sequence,
                expected,
            })
        }
    }
}

fn next(header: &BatchHeader) -> Sequence {
    let sum = i64::from(header.base_sequence.0) + i64::from(header.count);
    Sequence(i32::try_from(sum % (1 << 31)).unwrap())
}

fn index_of(at: usize) -> LogIndex {
    LogIndex(u64::try_from(at).unwrap() * 3 + 1)
}

#[derive(Default)]
struct Both {
    real: ProducerStates,
    model: Model,
    now_ms: i64,
}

impl Both {
    fn run(&mut self, step: &Step) {
        match *step {
            Step::Send {
                id,
                epoch,
                sequence,
                count,
            } => {
                let (last_epoch, expected) = self.last(ProducerId(id));
                // Numbers near the end, so that they wrap.
                let sequence = expected.0.saturating_add(sequence).max(0);
                let epoch = (last_epoch.0 + epoch).max(0);
                self.send(batch(id, epoch, sequence, count));
            }
            Step::Again { back } => {
                if let Some(sent) = self.model.decided.iter().rev().nth(back) {
                    self.send(sent.header);
                }
            }
            Step::Apply { count } => self.apply(count),
            Step::Wait { ms } => self.now_ms += ms,
            Step::Poison => {
                self.real.drop_pending();
                self.model.decided.truncate(self.model.applied);
            }
            Step::Restart => {
                self.real = ProducerStates::decode(&self.real.encode()).unwrap();
                self.model.decided.truncate(self.model.applied);
            }
            Step::Expire => self.real.expire(self.now_ms - EXPIRATION_MS),
        }
    }

    fn last(&self, id: ProducerId) -> (ProducerEpoch, Sequence) {
        let last = self.model.of(id).last().map(|(_, sent)| sent.header);
        last.map_or((ProducerEpoch(5), Sequence(i32::MAX - 6)), |last| {
            (last.producer_epoch, next(&last))
        })
    }

    fn send(&mut self, header: BatchHeader) {
        let verdict = self.real.check(&header, self.now_ms, EXPIRATION_MS);
        assert_eq!(
            verdict,
            self.model.check(&header, self.now_ms),
            "{header:?}"
        );
        if verdict == Ok(Verdict::Append) {
            let at = self.model.decided.len();
            let before = self.model.decided.last();
            let base_offset =
                before.map_or(0, |sent| sent.base_offset + i64::from(sent.header.count));
            self.real
                .decided(&header, Offset(base_offset), self.now_ms, index_of(at));
            let append_time_ms = self.now_ms;
            self.model.decided.push(Sent {
                header,
                base_offset,
                append_time_ms,
            });
        }
    }

    fn apply(&mut self, count: usize) {
        let next = self.model.decided[self.model.applied..].iter().take(count);
        for sent in next {
            let header = sent.header;
            let entry = entry(sent.base_offset, header.count, sent.append_time_ms);
            self.real.apply(&header, &entry);
            self.model.applied += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn judges_as_the_list_of_all_batches_does(steps in steps()) {
        let mut both = Both::default();
        for step in &steps {
            both.run(step);
        }
    }

    #[test]
    fn a_replay_from_an_earlier_checkpoint_ends_in_the_same_state(
        steps in steps(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut both = Both::default();
        for step in steps.iter().filter(|step| !matches!(step, Step::Expire)) {
            both.run(step);
        }
        both.apply(usize::MAX);
        let sent = &both.model.decided;
        let replay = |states: &mut ProducerStates, sent: &[Sent]| {
            for sent in sent {
                let entry = entry(sent.base_offset, sent.header.count, sent.append_time_ms);
                states.apply(&sent.header, &entry);
            }
        };
        let mut straight = ProducerStates::default();
        replay(&mut straight, sent);
        prop_assert_eq!(straight.encode(), both.real.encode());
        let at = at.index(sent.len() + 1);
        let mut states = ProducerStates::default();
        replay(&mut states, &sent[..at]);
        let mut states = ProducerStates::decode(&states.encode()).unwrap();
        // What the row holds is replayed as well.
        replay(&mut states, &sent[at.saturating_sub(7)..]);
        prop_assert_eq!(states.encode(), straight.encode());
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut versioned = vec![1];
        versioned.extend(bytes);
        if let Some(mut states) = ProducerStates::decode(&versioned) {
            let again = ProducerStates::decode(&states.encode()).map(|states| states.encode());
            prop_assert_eq!(again, Some(states.encode()));
            states.expire(5);
        }
    }
}

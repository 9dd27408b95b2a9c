//! The switch: numbers operations, cuts the power at a chosen one, and keeps the trace.

use std::path::Path;
use std::sync::Arc;

use crate::error::PowerCut;
use crate::{Op, Operation};

/// On which side of the operation the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// The operation has no effect.
    Before,
    /// The operation has its whole effect, and its caller does not hear of it.
    After,
}

/// Where the power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CutPoint {
    /// What the caller was doing.
    pub label: &'static str,
    /// The operation.
    pub op: Op,
    /// On which side of it.
    pub when: When,
}

/// The operation at which the power will go.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Number(u64),
    Matching {
        label: &'static str,
        op: Op,
        left: u64,
    },
}

/// One call before it has its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) op: Op,
    pub(super) path: &'a Path,
    pub(super) to: Option<&'a Path>,
    pub(super) position: u64,
    pub(super) len: u64,
}

impl<'a> Call<'a> {
    pub(super) const fn of(op: Op, path: &'a Path) -> Self {
        Self {
            op,
            path,
            to: None,
            position: 0,
            len: 0,
        }
    }

    pub(super) const fn at(mut self, position: u64, len: u64) -> Self {
        self.position = position;
        self.len = len;
        self
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Power {
    pub(super) off: bool,
    pub(super) op_count: u64,
    pub(super) label: &'static str,
    pub(super) recorded: Option<Vec<Operation>>,
    pub(super) last_cut: Option<CutPoint>,
    plan: Option<(Plan, When)>,
    hash: TraceHash,
}

impl Power {
    pub(super) fn cut_at(&mut self, number: u64, when: When) {
        self.plan = Some((Plan::Number(number), when));
    }

    pub(super) fn cut_when(&mut self, label: &'static str, op: Op, nth: u64, when: When) {
        self.plan = Some((
            Plan::Matching {
                label,
                op,
                left: nth.saturating_sub(1),
            },
            when,
        ));
    }

    pub(super) fn spare(&mut self) {
        self.plan = None;
    }

    pub(super) fn is_planned(&self) -> bool {
        self.plan.is_some()
    }

    /// Counts the call. True when the power goes right after it.
    pub(super) fn begin(&mut self, call: &Call<'_>) -> Result<bool, PowerCut> {
        if self.off {
            return Err(PowerCut);
        }
        self.op_count += 1;
        self.note(call);
        let Some(when) = self.due(call.op) else {
            return Ok(false);
        };
        self.last_cut = Some(CutPoint {
            label: self.label,
            op: call.op,
            when,
        });
        self.plan = None;
        match when {
            When::After => Ok(true),
            When::Before => {
                self.off = true;
                Err(PowerCut)
            }
        }
    }

    fn due(&mut self, call: Op) -> Option<When> {
        let (plan, when) = self.plan.as_mut()?;
        let due = match plan {
            Plan::Number(number) => *number == self.op_count,
            Plan::Matching { label, op, .. } if *label != self.label || *op != call => false,
            Plan::Matching { left: 0, .. } => true,
            Plan::Matching { left, .. } => {
                *left -= 1;
                false
            }
        };
        due.then_some(*when)
    }

    fn note(&mut self, call: &Call<'_>) {
        self.hash.word(call.op as u64);
        self.hash.word(call.position);
        self.hash.word(call.len);
        for text in [Some(call.path), call.to].into_iter().flatten() {
            self.hash.bytes(text.as_os_str().as_encoded_bytes());
        }
        self.hash.bytes(self.label.as_bytes());
        if let Some(recorded) = &mut self.recorded {
            recorded.push(Operation {
                number: self.op_count,
                op: call.op,
                path: Arc::from(call.path),
                to: call.to.map(Arc::from),
                position: call.position,
                len: call.len,
                label: self.label,
            });
        }
    }

    /// Bytes that were written belong to the trace too.
    pub(super) fn note_bytes(&mut self, bytes: &[u8]) {
        self.hash.bytes(bytes);
    }

    pub(super) const fn trace_hash(&self) -> u64 {
        self.hash.0
    }
}

/// Not meant to resist anybody: a change of the trace changes it with near certainty.
#[derive(Clone, Copy, Debug, Default)]
struct TraceHash(u64);

impl TraceHash {
    const fn word(&mut self, word: u64) {
        // An odd constant with well mixed bits (the golden ratio in 64 bits).
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.word(u64::from(*byte));
        }
    }
}

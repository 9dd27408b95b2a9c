//! What the records hold.

use types::{Random, SeededRandom};

/// Different starts that a value may have in the pool.
const STARTS: usize = 1 << 16;

/// Values: slices of a pool of random capital letters, so that no two neighbours are the same and
/// none costs more than its copy. Letters compress by about 40 %, as Kafka's own tool has it.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pool: Vec<u8>,
    value_bytes: usize,
    next: usize,
}

impl Template {
    pub(super) fn new(value_bytes: usize, seed: u64) -> Self {
        let mut random = SeededRandom::new(seed);
        let letter = |_| b'A' + u8::try_from(random.below(26)).unwrap_or(0);
        Self {
            pool: (0..value_bytes + STARTS).map(letter).collect(),
            value_bytes,
            next: 0,
        }
    }

    /// The next value.
    pub(super) fn value(&mut self) -> &[u8] {
        // An odd step visits every start.
        self.next = (self.next + 40_503) % STARTS;
        self.pool
            .get(self.next..self.next + self.value_bytes)
            .unwrap_or_default()
    }

    /// Bytes of a record with such a value in a batch: at most 12 of numbers beside it.
    pub(super) fn record_bytes(&self) -> usize {
        self.value_bytes + 12
    }
}

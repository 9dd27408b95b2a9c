//! Chance as a trait, so that simulations repeat it.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A source of random words. None of its users needs it to be unpredictable to an attacker.
pub trait Random: Send + std::fmt::Debug {
    /// The next word.
    fn next_u64(&mut self) -> u64;

    /// A number in `0..bound`; `bound` 0 gives 0.
    fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            0
        } else {
            self.next_u64() % bound
        }
    }

    /// True `numerator` times out of `denominator`.
    fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }
}

/// The same words for the same seed (SplitMix64: Steele, Lea, Flood, 2014).
#[derive(Clone, Debug)]
pub struct SeededRandom {
    state: u64,
}

impl SeededRandom {
    /// A source that starts at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }
}

impl Random for SeededRandom {
    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Words seeded by the operating system when made.
#[derive(Debug)]
pub struct SystemRandom(SeededRandom);

impl SystemRandom {
    /// A source seeded anew.
    #[must_use]
    pub fn new() -> Self {
        // `RandomState` is seeded from the kernel; its hasher's start state is all that is used.
        Self(SeededRandom::new(
            RandomState::new().build_hasher().finish(),
        ))
    }
}

impl Default for SystemRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemRandom {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_words() {
        let mut a = SeededRandom::new(7);
        let mut b = SeededRandom::new(7);
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
    }
}

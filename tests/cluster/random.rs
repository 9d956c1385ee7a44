//! Numbers drawn from a seed.

#![allow(dead_code, reason = "each user uses its part")]

use std::collections::BTreeSet;

/// A row of numbers that its seed determines (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes());
        words.flatten().take(count).collect()
    }

    /// One below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// So many of the first numbers.
    pub fn some_of(&mut self, all: usize, count: usize) -> BTreeSet<usize> {
        let mut some = BTreeSet::new();
        while some.len() < count.min(all) {
            some.insert(self.below(all as u64) as usize);
        }
        some
    }
}

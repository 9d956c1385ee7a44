//! Hashing of numbers that nobody chooses to do harm: ranks, and contexts, which are hashes.
//! The standard library's hash costs as much as all else of a short message.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps by numbers.
pub(crate) type Mixed = BuildHasherDefault<Mixer>;

#[derive(Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    /// A multiplication by 2^64 over the golden ratio (Knuth), and its upper half below, where the
    /// map looks for the place.
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

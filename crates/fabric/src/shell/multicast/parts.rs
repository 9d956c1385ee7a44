//! Which parts of a body are missing: a bit for each.

use super::wire::PART;
use std::ops::Range;

/// The missing ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    bits: Vec<u8>,
    left: usize,
    length: usize,
}

impl Parts {
    /// All parts of a body of so many bytes.
    pub fn all(length: usize) -> Parts {
        let left = length.div_ceil(PART);
        let mut bits = vec![0xff; Parts::bytes_of(length)];
        if let Some(last) = bits.last_mut()
            && !left.is_multiple_of(8)
        {
            *last = (1 << (left % 8)) - 1;
        }
        Parts { bits, left, length }
    }

    /// Those that somebody says are missing; none where such a body has no such parts.
    pub fn read(length: usize, bits: &[u8]) -> Option<Parts> {
        let all = Parts::all(length);
        let is_within = bits.iter().zip(&all.bits).all(|(bits, all)| bits & !all == 0);
        let left = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        (bits.len() == all.bits.len() && is_within && left > 0).then(|| Parts {
            bits: bits.to_vec(),
            left,
            length,
        })
    }

    /// Bytes of these bits.
    pub fn bytes_of(length: usize) -> usize {
        length.div_ceil(PART).div_ceil(8)
    }

    /// The bits.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Whether all are missing.
    pub fn is_all(&self) -> bool {
        self.left == self.length.div_ceil(PART)
    }

    /// Whether none is missing.
    pub fn is_none(&self) -> bool {
        self.left == 0
    }

    /// Whether the part that begins there is missing.
    pub fn holds(&self, offset: usize) -> bool {
        let part = offset / PART;
        offset < self.length && self.bits[part / 8] & (1 << (part % 8)) != 0
    }

    /// The part that begins there is not missing any more.
    pub fn remove(&mut self, offset: usize) {
        if self.holds(offset) {
            let part = offset / PART;
            self.bits[part / 8] &= !(1 << (part % 8));
            self.left -= 1;
        }
    }

    /// Puts parts that begin at `offset` to their places in the body; false if none was missing.
    pub fn fill(&mut self, body: &mut [u8], offset: usize, bytes: &[u8]) -> bool {
        let mut is_used = false;
        for (at, part) in (offset..).step_by(PART).zip(bytes.chunks(PART)) {
            if self.holds(at) {
                body[at..at + part.len()].copy_from_slice(part);
                self.remove(at);
                is_used = true;
            }
        }
        is_used
    }

    /// How many are missing.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The bytes that are missing: runs of at most so many, each from a part's beginning to a
    /// part's end.
    pub fn runs(&self, most: usize) -> impl Iterator<Item = Range<usize>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < self.length && !self.holds(at) {
                at += PART;
            }
            let start = at;
            while self.holds(at) && at + PART <= start + most {
                at += PART;
            }
            (start < at).then(|| start..at.min(self.length))
        })
    }
}

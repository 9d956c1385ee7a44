//! Bytes of a stream by their offsets, in a ring.

use std::ops::Range;

/// The bytes from an offset on, as many as there is room for.
#[derive(Debug)]
pub struct Window {
    bytes: Vec<u8>,
    /// The offset of the first byte, and where it lies.
    begin: u64,
    at: usize,
}

impl Window {
    /// From the stream's beginning. The system gives its pages as they are used.
    pub fn new(capacity: usize) -> Window {
        Window { bytes: vec![0; capacity], begin: 0, at: 0 }
    }

    /// The first offset.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// The offset behind the last byte that there is room for.
    pub fn end(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }

    /// Goes on: what is before `begin` is needed no more. Where nothing is held, the same memory is
    /// used again from its start.
    pub fn advance(&mut self, begin: u64, is_empty: bool) {
        assert!((self.begin..=self.end()).contains(&begin), "{begin} is outside of the window");
        self.at = match is_empty {
            true => 0,
            false => self.index(begin),
        };
        self.begin = begin;
    }

    fn index(&self, offset: u64) -> usize {
        (self.at + (offset - self.begin) as usize) % self.bytes.len()
    }

    fn cut(&self, range: &Range<u64>) -> (Range<usize>, usize) {
        assert!(self.begin <= range.start && range.end <= self.end(), "{range:?} is outside");
        let size = (range.end - range.start) as usize;
        let start = self.index(range.start);
        let first = size.min(self.bytes.len() - start);
        (start..start + first, size - first)
    }

    /// The bytes of a range: they may lie in two places.
    pub fn parts(&self, range: &Range<u64>) -> [&[u8]; 2] {
        let (first, rest) = self.cut(range);
        [&self.bytes[first], &self.bytes[..rest]]
    }

    /// The longest piece of memory at the beginning of a range.
    pub fn slot(&mut self, range: &Range<u64>) -> &mut [u8] {
        let (first, _) = self.cut(range);
        &mut self.bytes[first]
    }

    /// Writes bytes at an offset.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        let (first, rest) = self.cut(&(at..at + bytes.len() as u64));
        let (here, behind) = bytes.split_at(first.len());
        self.bytes[first].copy_from_slice(here);
        self.bytes[..rest].copy_from_slice(behind);
    }
}

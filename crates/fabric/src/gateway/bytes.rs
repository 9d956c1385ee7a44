//! The bytes of a message: how they are given to the gateway, and how it gives them.

use super::layout::{Memory, copy_out};
use std::sync::atomic::{AtomicU64, Ordering};

/// A message as it is given: two parts, one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) head: &'a [u8],
    pub(super) body: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// What is from `start` to `end`.
    pub(super) fn cut(&self, start: usize, end: usize) -> Parts<'a> {
        let head = self.head.len();
        Parts {
            head: &self.head[start.min(head)..end.min(head)],
            body: &self.body[start.saturating_sub(head)..end.saturating_sub(head)],
        }
    }

    /// Copies it into the memory.
    #[inline]
    pub(super) fn write(&self, memory: &impl Memory, at: usize) {
        let (whole, odd) = self.head.as_chunks::<8>();
        let (mut at, mut body) = (at, self.body);
        memory.write(at, whole.as_flattened());
        at += whole.len();
        if !odd.is_empty() {
            // The word in which the two meet.
            let (first, rest) = body.split_at(body.len().min(8 - odd.len()));
            let mut word = [0; 8];
            word[..odd.len()].copy_from_slice(odd);
            word[odd.len()..odd.len() + first.len()].copy_from_slice(first);
            memory.write(at, &word);
            (at, body) = (at + 1, rest);
        }
        memory.write(at, body);
    }

    /// The same, and leaves a body without a head in no cache. `at` is the beginning of a line.
    pub(super) fn stream(&self, memory: &impl Memory, at: usize) {
        if self.head.is_empty() { memory.stream(at, self.body) } else { self.write(memory, at) }
    }
}

/// The bytes of a piece, which still lie where they have come to: they are copied once, to where
/// they belong.
pub struct Bytes<'a> {
    source: Source<'a>,
}

/// Where bytes lie.
enum Source<'a> {
    /// In the segment. Others could write there, so there is no reference to them.
    Segment(Spans<'a>),
    /// In the connection: what gets the next ones, and how many were not got yet.
    Line(&'a mut dyn FnMut(&mut [u8]), usize),
}

/// Bytes of the segment.
struct Spans<'a> {
    memory: &'a dyn Memory,
    /// All words of it, where they may be read without it.
    words: Option<&'a [AtomicU64]>,
    /// Where those that were not read yet are: from which word on, and how many.
    spans: [(usize, usize); 2],
    /// How many of the first were read.
    read: usize,
}

impl<'a> Bytes<'a> {
    #[inline(always)]
    pub(super) fn new<M: Memory>(memory: &'a M, spans: [(usize, usize); 2]) -> Bytes<'a> {
        let words = memory.bare();
        Bytes { source: Source::Segment(Spans { memory, words, spans, read: 0 }) }
    }

    pub(super) fn of_line(get: &'a mut dyn FnMut(&mut [u8]), size: usize) -> Bytes<'a> {
        Bytes { source: Source::Line(get, size) }
    }

    /// How many bytes are left to be read.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Segment(Spans { spans, read, .. }) => spans[0].1 + spans[1].1 - read,
            Source::Line(_, left) => *left,
        }
    }

    /// Whether all were read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next two words, little-endian, where as many bytes of a message begin here.
    #[inline(always)]
    pub fn words(&mut self) -> Option<[u64; 2]> {
        match &mut self.source {
            Source::Segment(spans) => spans.words(),
            Source::Line(_, left) if *left < 16 => None,
            Source::Line(..) => {
                let mut bytes = [[0; 8]; 2];
                self.read(bytes.as_flattened_mut());
                Some(bytes.map(u64::from_le_bytes))
            }
        }
    }

    /// Copies the next ones.
    ///
    /// # Panics
    /// Where fewer are left.
    #[inline(always)]
    pub fn read(&mut self, into: &mut [u8]) {
        assert!(into.len() <= self.len(), "{} bytes of {}", into.len(), self.len());
        match &mut self.source {
            Source::Segment(spans) => spans.read(into),
            Source::Line(get, left) => {
                *left -= into.len();
                get(into);
            }
        }
    }

    /// Copies all that are left.
    pub fn to_vec(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; self.len()];
        self.read(&mut bytes);
        bytes
    }
}

impl Spans<'_> {
    #[inline(always)]
    fn words(&mut self) -> Option<[u64; 2]> {
        let (at, size) = self.spans[0];
        if size < 16 || self.read > 0 {
            return None;
        }
        self.read = 16;
        let word = |at: usize| match self.words {
            Some(words) => words[at].load(Ordering::Relaxed),
            None => self.memory.load(at),
        };
        Some([at, at + 1].map(|at| word(at).to_le()))
    }

    #[inline(always)]
    fn read(&mut self, into: &mut [u8]) {
        let ((at, size), read) = (self.spans[0], self.read);
        if into.len() > size - read || !read.is_multiple_of(8) {
            return self.read_across(into);
        }
        self.read += into.len();
        match self.words {
            Some(words) => copy_out(&words[at + read / 8..], into),
            None => self.memory.read(at + read / 8, into),
        }
    }

    /// The same of what is in both spans, or does not begin with a word.
    #[inline(never)]
    fn read_across(&mut self, into: &mut [u8]) {
        let (first, second) = into.split_at_mut(into.len().min(self.spans[0].1 - self.read));
        self.copy(first);
        if !second.is_empty() {
            (self.spans, self.read) = ([self.spans[1], (0, 0)], 0);
            self.copy(second);
        }
    }

    /// Copies from the first span.
    fn copy(&mut self, into: &mut [u8]) {
        let (mut at, skip) = (self.spans[0].0 + self.read / 8, self.read % 8);
        self.read += into.len();
        let mut into = into;
        if skip > 0 {
            let mut word = [0; 8];
            self.memory.read(at, &mut word);
            let (odd, rest) = into.split_at_mut(into.len().min(8 - skip));
            odd.copy_from_slice(&word[skip..skip + odd.len()]);
            (at, into) = (at + 1, rest);
        }
        self.memory.read(at, into);
    }
}

impl std::fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

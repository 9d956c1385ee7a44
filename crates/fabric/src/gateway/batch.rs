//! What is written in one go: frames, and between them bodies that stay where they lie.

use super::endpoint::BATCH;

/// Frames for one call. Most are bytes here; long bodies are words of the segment.
pub(super) struct Batch {
    bytes: Vec<u8>,
    bodies: Vec<Body>,
    size: usize,
}

/// A body in the segment: how many of the batch's own bytes come before it, its first word, and how
/// many bytes it has.
#[derive(Clone, Copy)]
struct Body {
    before: usize,
    at: usize,
    size: usize,
}

/// What of a batch lies together.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Bytes(&'a [u8]),
    /// From that word of the segment on, so many bytes.
    Words(usize, usize),
}

impl Batch {
    pub(super) fn new() -> Batch {
        Batch { bytes: Vec::with_capacity(BATCH), bodies: Vec::new(), size: 0 }
    }

    /// All bytes of it.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + self.size
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bodies.clear();
        self.size = 0;
    }

    /// Its own bytes, to which frames are added.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Adds a body that is in the segment, from a word on.
    pub(super) fn lend(&mut self, at: usize, size: usize) {
        self.bodies.push(Body { before: self.bytes.len(), at, size });
        self.size += size;
    }

    /// Its own bytes, where all of them come before the bodies, of which there are some.
    pub(super) fn before_bodies(&self) -> Option<&[u8]> {
        let is_first = |body: &Body| body.before == self.bytes.len();
        (!self.bodies.is_empty() && self.bodies.iter().all(is_first)).then_some(&self.bytes)
    }

    /// Its parts in their order, some of which may be empty.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let ends = self.bodies.iter().map(|body| body.before).chain([self.bytes.len()]);
        let begins = [0].into_iter().chain(self.bodies.iter().map(|body| body.before));
        let bodies = self.bodies.iter().map(Some).chain([None]);
        begins.zip(ends).zip(bodies).flat_map(|((begin, end), body)| {
            let own = Part::Bytes(&self.bytes[begin..end]);
            let lent = body.map(|body| Part::Words(body.at, body.size));
            [Some(own), lent].into_iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_stand_between_the_bytes_that_were_there_before_and_those_that_came_after() {
        let mut batch = Batch::new();
        batch.bytes().extend(b"head");
        assert_eq!(batch.before_bodies(), None);
        batch.lend(7, 100);
        batch.lend(9, 20);
        assert_eq!(batch.before_bodies(), Some(&b"head"[..]));
        batch.bytes().extend(b"rest");
        assert_eq!(batch.before_bodies(), None);
        let parts = batch.parts().filter_map(|part| match part {
            Part::Bytes([]) => None,
            Part::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Part::Words(at, size) => Some(format!("{size} from {at}")),
        });
        assert_eq!(parts.collect::<Vec<_>>(), ["head", "100 from 7", "20 from 9", "rest"]);
        assert_eq!(batch.len(), 128);
    }
}

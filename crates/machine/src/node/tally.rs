//! How much of a job's files a node has, as the job's variable tells it: pieces of the stream, the
//! order that tells of chunks, and then the chunks up to the first that is to come and has not. No
//! I/O.
//!
//! Chunks that the node lacks, and of which nobody has said that they come, are passed over, but
//! then the last is never counted: only who has all comes to their number. When they come in
//! another round, that has counts of its own, and all chunks are counted from the start.

use crate::chunk::{Hash, read_ranges, write_ranges};
use crate::launch::Shipment;
use std::collections::{BTreeSet, HashSet};

/// The count of one job.
#[derive(Clone, Debug)]
pub struct Tally {
    count: u64,
    /// The different chunks, in order.
    chunks: Vec<Hash>,
    /// Those that were not to come when they were told of last: somebody has been told so.
    lacked: BTreeSet<u32>,
    /// How many are there before the first that is to come and has not.
    there: usize,
}

impl Tally {
    /// Nothing is there.
    pub fn new(shipment: Shipment) -> Tally {
        let (chunks, lacked) = (Vec::new(), BTreeSet::new());
        Tally { count: shipment.start, chunks, lacked, there: 0 }
    }

    /// What the variable is. Who lacks chunks counts those that come all the same.
    pub fn value(&self) -> u64 {
        let last = usize::from(!self.lacked.is_empty());
        self.count + self.there.min(self.chunks.len() - last) as u64
    }

    /// The same while all chunks are there and their files are not in the sessions: the last is not
    /// counted yet.
    pub fn value_but_last(&self) -> u64 {
        self.value().min((self.count + self.chunks.len() as u64).saturating_sub(1))
    }

    /// The next piece has come, or the order that begins a round, whatever chunks have added to the
    /// count before; false if one before it has not.
    #[must_use]
    pub fn step(&mut self, count: u64) -> bool {
        let is_next = count == self.count + self.chunks.len() as u64 + 1;
        self.count = count;
        is_next
    }

    /// The stream has told of these chunks; how many different ones there are.
    pub fn told(&mut self, chunks: impl Iterator<Item = Hash>) -> usize {
        let mut seen = HashSet::new();
        self.chunks.extend(chunks.filter(|hash| seen.insert(*hash)));
        self.chunks.len()
    }

    /// Which chunk has this place.
    pub fn chunk(&self, place: u64) -> Option<&Hash> {
        self.chunks.get(usize::try_from(place).ok()?)
    }

    /// A round begins, in which these are to come.
    pub fn round(&mut self, coming: &[&str], is_lacking: impl Fn(&Hash) -> bool) {
        let most = self.chunks.len() as u32;
        let coming = coming.iter().flat_map(|ranges| read_ranges(ranges, most).unwrap_or_default());
        let coming: HashSet<u32> = coming.collect();
        self.look(|at, hash| !coming.contains(&at) && is_lacking(hash));
        self.there = 0;
    }

    /// Something that was there is not any more; in this round none of it will come.
    pub fn dropped(&mut self, is_lacking: impl Fn(&Hash) -> bool) {
        self.look(|_, hash| is_lacking(hash));
    }

    fn look(&mut self, is_lacked: impl Fn(u32, &Hash) -> bool) {
        let chunks = (0..).zip(&self.chunks);
        self.lacked = chunks.filter(|(at, hash)| is_lacked(*at, hash)).map(|(at, _)| at).collect();
    }

    /// Chunks that are lacking and not to come, as ranges.
    pub fn lacks(&self) -> Option<String> {
        (!self.lacked.is_empty()).then(|| write_ranges(self.lacked.iter().copied()))
    }

    /// Sees what is there by now; whether all chunks are.
    pub fn advance(&mut self, is_lacking: impl Fn(&Hash) -> bool) -> bool {
        let is_passed =
            |at: usize, hash: &Hash| self.lacked.contains(&(at as u32)) || !is_lacking(hash);
        while self.chunks.get(self.there).is_some_and(|hash| is_passed(self.there, hash)) {
            self.there += 1;
        }
        self.there == self.chunks.len() && self.lacked.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(chunks: &[Hash]) -> Tally {
        let mut tally = Tally::new(Shipment { variable: 0, start: 10 });
        assert!(tally.step(11) && tally.step(12));
        assert_eq!(tally.told(chunks.iter().copied()), 3);
        tally
    }

    #[test]
    fn the_count_stops_at_the_first_chunk_that_is_to_come_and_has_not() {
        let [a, b, c] = [1, 2, 3].map(|byte| Hash([byte; 32]));
        let mut tally = told(&[a, b, a, c]);
        tally.round(&["0,2"], |hash| *hash != b);
        assert_eq!(tally.lacks(), None);
        assert!(!tally.advance(|hash| *hash != b));
        assert_eq!(tally.value(), 12);
        assert!(!tally.advance(|hash| *hash == c));
        assert_eq!(tally.value(), 14);
        assert!(tally.advance(|_| false));
        assert_eq!(tally.value(), 15);
        assert!(!tally.step(17), "16 has not come");
    }

    #[test]
    fn the_last_is_not_counted_before_what_nobody_sends_comes_in_another_round() {
        let [a, b, c] = [1, 2, 3].map(|byte| Hash([byte; 32]));
        let mut tally = told(&[a, b, c]);
        tally.round(&["0"], |hash| *hash != c);
        assert_eq!(tally.lacks().as_deref(), Some("1"));
        assert!(!tally.advance(|hash| *hash == b));
        assert_eq!(tally.value(), 14);
        assert!(tally.step(16));
        tally.round(&["1"], |hash| *hash == b);
        assert!(!tally.advance(|hash| *hash == b));
        assert_eq!((tally.value(), tally.lacks()), (17, None));
        assert!(tally.advance(|_| false));
        assert_eq!(tally.value(), 19);
        // All was there, and something is not any more.
        tally.dropped(|hash| *hash == a);
        assert_eq!((tally.value(), tally.lacks().as_deref()), (18, Some("0")));
        assert!(!tally.advance(|_| false), "it is told of in another round");
    }
}

//! When the next letter of a job's files may go, and to whom: flow control, without I/O (STORM,
//! section 4.1).
//!
//! Pieces of the stream come first, then, in rounds, the order that tells of chunks and the chunks.
//! Nodes count what they have unpacked (`node/tally.rs`); a letter waits until all of its nodes
//! have come to within [`WINDOW`] of it, which is asked by COMPARE-AND-WRITE, with pauses that
//! grow.

use crate::chunk::{read_ranges, write_ranges};
use crate::launch::{Coming, Shipment};
use crate::memory::{id_of, name_of};
use muster_fabric::protocol::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Letters with pieces, or with chunks, that a node may have and not have unpacked.
pub const WINDOW: u64 = 4;

/// Pieces of one job that are on their way at once.
pub const FLYING: usize = 2;

/// Bits of a variable that are a count: the rest is the shipment's number.
pub const COUNTS: u32 = 20;

/// How long nodes that were told to run a job are listened to before they are asked whether all
/// have everything.
pub const HEAR: Duration = Duration::from_millis(5);

/// The longest time between two such questions.
const HEAR_MAX: Duration = Duration::from_secs(1);

/// The pauses between two questions whether nodes have unpacked something: the first, the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// The counts of one job's files.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    start: u64,
    /// Pieces sent, and what rounds have added.
    sent: u64,
    /// How often the nodes were told what is to come.
    rounds: u32,
    /// How many letters with chunks have gone since then, and the last chunk of each of the last.
    letters: u64,
    lasts: [u64; WINDOW as usize],
}

impl Flow {
    /// Nothing is sent yet.
    pub fn new(shipment: Shipment) -> Flow {
        Flow { start: shipment.start, sent: 0, rounds: 0, letters: 0, lasts: [0; WINDOW as usize] }
    }

    /// What the nodes have counted when all that was sent but chunks is unpacked.
    pub fn sent(&self) -> u64 {
        self.start + self.sent
    }

    /// The number of the next piece.
    pub fn next_piece(&self) -> u64 {
        self.sent() + 1
    }

    /// What all nodes must have counted before that piece goes.
    pub fn before_piece(&self) -> Option<u64> {
        (self.sent >= WINDOW).then(|| self.next_piece() - WINDOW)
    }

    /// A piece goes.
    pub fn piece(&mut self) {
        self.sent += 1;
    }

    /// Another round: the nodes are told which of so many chunks are to come, and count all of them
    /// from the start. False if no counts are left for that.
    #[must_use]
    pub fn round(&mut self, chunks: usize) -> bool {
        if self.rounds > 0 {
            self.sent += chunks as u64;
        }
        self.rounds += 1;
        self.letters = 0;
        self.sent += 1;
        self.sent + (chunks as u64) < 1 << COUNTS
    }

    /// How often the nodes were told what is to come.
    pub fn rounds(&self) -> usize {
        self.rounds as usize
    }

    /// Whether the nodes were told what is to come.
    pub fn has_told(&self) -> bool {
        self.rounds > 0
    }

    /// A letter with chunks goes, the last of which has this place among all: what its nodes must
    /// have counted before, which is all up to the letter a window before it.
    pub fn chunks(&mut self, last: u64) -> Option<u64> {
        let at = (self.letters % WINDOW) as usize;
        let before = std::mem::replace(&mut self.lasts[at], last);
        self.letters += 1;
        (self.letters > WINDOW).then(|| self.sent() + before + 1)
    }

    /// What nodes have counted that have all of so many chunks.
    pub fn with_chunks(&self, chunks: usize) -> u64 {
        self.sent() + chunks as u64
    }

    /// How long to listen between two questions to nodes that were told to run a job: half of the
    /// time since that, so that few are asked in vain, and the job counts as started soon after it
    /// has.
    pub fn hearings() -> impl Iterator<Item = Duration> {
        std::iter::successors(Some(HEAR / 2), |pause| Some((*pause * 3 / 2).min(HEAR_MAX)))
    }

    /// How long to wait between two questions.
    pub fn pauses() -> impl Iterator<Item = Duration> {
        std::iter::successors(Some(PAUSES.0), |pause| Some((*pause * 2).min(PAUSES.1)))
    }
}

/// For each chunk of a job's files, the nodes that it is still to be sent to: by their numbers, for
/// there may be a hundred thousand chunks that each of many nodes lacks.
#[derive(Clone, Debug, Default)]
pub struct Lacking(Vec<Vec<NodeId>>);

impl Lacking {
    /// As it is known before nodes have said anything.
    pub fn new(to: Vec<Vec<NodeId>>) -> Lacking {
        Lacking(to)
    }

    /// The chunks that somebody is to be sent.
    pub fn wanted(&self) -> Vec<u32> {
        let to = self.0.iter().enumerate().filter(|(_, nodes)| !nodes.is_empty());
        to.map(|(at, _)| at as u32).collect()
    }

    /// What nodes are told of them.
    pub fn coming(&self) -> Vec<Coming> {
        let mut coming: BTreeMap<&[NodeId], Vec<u32>> = BTreeMap::new();
        for (at, nodes) in self.0.iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
            coming.entry(nodes).or_default().push(at as u32);
        }
        let names = |nodes: &[NodeId]| nodes.iter().copied().map(name_of).collect();
        let told = coming.into_iter();
        told.map(|(nodes, chunks)| Coming { nodes: names(nodes), chunks: write_ranges(chunks) })
            .collect()
    }

    /// A chunk goes: to these.
    pub fn take(&mut self, chunk: usize) -> Vec<NodeId> {
        self.0.get_mut(chunk).map(std::mem::take).unwrap_or_default()
    }

    /// A node has said that it lacks these; which they are.
    pub fn add(&mut self, node: &str, chunks: &str) -> Vec<u32> {
        let Some(node) = id_of(node) else { return Vec::new() };
        let chunks = read_ranges(chunks, self.0.len() as u32).unwrap_or_default();
        for at in &chunks {
            let to = &mut self.0[*at as usize];
            // It says so again if it is told again before this was heard.
            if !to.contains(&node) {
                to.push(node);
            }
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_waits_for_the_one_a_window_before_it() {
        let mut flow = Flow::new(Shipment { variable: 0, start: 100 });
        for piece in 1..=6 {
            assert_eq!(flow.next_piece(), 100 + piece);
            assert_eq!(flow.before_piece(), piece.checked_sub(WINDOW + 1).map(|n| n + 101));
            flow.piece();
        }
        assert!(flow.round(6));
        // The first chunks go at once: the order before them is counted with them.
        let before: Vec<_> = (0..6).map(|place| flow.chunks(place)).collect();
        assert_eq!(before, [None, None, None, None, Some(108), Some(109)]);
        assert_eq!(flow.with_chunks(6), 113);
        // In another round they are counted behind those of the first. Of several in a letter the
        // last counts.
        assert!(flow.round(6));
        assert_eq!((flow.sent(), flow.with_chunks(6)), (114, 120));
        let before = [2, 3, 9, 10, 11, 30, 31].map(|place| flow.chunks(place));
        assert_eq!(before, [None, None, None, None, Some(117), Some(118), Some(124)]);
    }

    #[test]
    fn rounds_end_before_the_counts_of_another_shipment_begin() {
        let mut flow = Flow::new(Shipment { variable: 0, start: 0 });
        let chunks = 1 << (COUNTS - 2);
        let rounds = (0..9).take_while(|_| flow.round(chunks)).count();
        assert_eq!(rounds, 3);
    }

    #[test]
    fn nodes_that_lack_the_same_chunks_are_told_together() {
        let to = |names: &[&str]| names.iter().filter_map(|name| id_of(name)).collect();
        let all = vec![to(&["n0", "n1"]), to(&[]), to(&["n1"]), to(&["n0", "n1"])];
        let mut lacking = Lacking::new(all);
        let told = lacking.coming();
        let told: Vec<_> =
            told.iter().map(|one| (one.nodes.join(" "), one.chunks.as_str())).collect();
        assert_eq!(told, [("n0 n1".to_owned(), "0,3"), ("n1".to_owned(), "2")]);
        assert_eq!(lacking.take(0), to(&["n0", "n1"]));
        assert_eq!(lacking.wanted(), [2, 3]);
        assert_eq!(lacking.add("n1", "1-2"), [1, 2]);
        assert_eq!((lacking.take(1), lacking.take(2)), (to(&["n1"]), to(&["n1"])));
    }
}

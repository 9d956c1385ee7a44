//! Which chunks nodes hold, as far as the manager knows: what it has sent them. A node that was
//! started again holds nothing; one that has dropped a chunk says so when it would need it. What
//! was used longest ago is forgotten here as it is dropped there; a chunk that is forgotten though
//! the node has it is sent once more.

use crate::chunk::Hash;
use crate::memory::id_of;
use muster_fabric::protocol::NodeId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// Chunks of a node that are known at most: at 32 KiB each they are all that it keeps.
const HELD_MAX: usize = 1 << 15;

/// A node, and which start of its daemon.
pub type Holder = (String, u64);

/// What a node holds.
struct Held {
    /// Which start of its daemon.
    instance: u64,
    /// When each chunk was last used.
    used: HashMap<Hash, u64>,
    clock: u64,
}

impl Held {
    fn new(instance: u64) -> Held {
        Held { instance, used: HashMap::new(), clock: 0 }
    }

    fn add(&mut self, chunks: &[Hash]) {
        self.clock += 1;
        self.used.extend(chunks.iter().map(|chunk| (*chunk, self.clock)));
        if self.used.len() <= HELD_MAX {
            return;
        }
        let mut all: Vec<(u64, Hash)> =
            self.used.iter().map(|(chunk, used)| (*used, *chunk)).collect();
        // Some more than need be, for it goes over all of them.
        let outdated = all.len() - HELD_MAX / 4 * 3;
        all.select_nth_unstable(outdated);
        for (_, chunk) in &all[..outdated] {
            self.used.remove(chunk);
        }
    }
}

/// The table.
#[derive(Default)]
pub struct Holdings {
    table: Mutex<HashMap<String, Held>>,
}

impl Holdings {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.table.lock().expect("no holder panics")
    }

    /// For each chunk, those of some nodes that do not hold it. Those that hold it are about to use
    /// it.
    pub fn lacking(&self, nodes: &[Holder], chunks: &[Hash]) -> Vec<Vec<NodeId>> {
        let mut table = self.table();
        let mut lacking = vec![Vec::new(); chunks.len()];
        for (name, instance) in nodes {
            let Some(node) = id_of(name) else { continue };
            let held = table.get_mut(name).filter(|held| held.instance == *instance);
            let Some(held) = held else {
                lacking.iter_mut().for_each(|lacking| lacking.push(node));
                continue;
            };
            held.clock += 1;
            for (chunk, lacking) in chunks.iter().zip(&mut lacking) {
                match held.used.get_mut(chunk) {
                    Some(used) => *used = held.clock,
                    None => lacking.push(node),
                }
            }
        }
        lacking
    }

    /// Some nodes hold these.
    pub fn add(&self, nodes: &[Holder], chunks: &[Hash]) {
        let mut table = self.table();
        for (name, instance) in nodes {
            let held = table.entry(name.clone()).or_insert_with(|| Held::new(*instance));
            if held.instance != *instance {
                *held = Held::new(*instance);
            }
            held.add(chunks);
        }
    }

    /// A node does not hold a chunk.
    pub fn remove(&self, node: &str, chunk: &Hash) {
        if let Some(held) = self.table().get_mut(node) {
            held.used.remove(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::name_of;

    #[test]
    fn a_node_holds_what_it_was_sent_until_it_is_started_again_or_says_otherwise() {
        let holdings = Holdings::default();
        let (a, b) = (("n0".to_owned(), 1), ("n1".to_owned(), 1));
        let chunks = [Hash([1; 32]), Hash([2; 32])];
        let lacking = |nodes: &[Holder]| {
            let lacking = holdings.lacking(nodes, &chunks).into_iter();
            lacking.map(|nodes| nodes.into_iter().map(name_of).collect()).collect::<Vec<Vec<_>>>()
        };
        holdings.add(&[a.clone(), b.clone()], &chunks[..1]);
        assert_eq!(lacking(&[a.clone(), b.clone()]), [vec![], vec!["n0", "n1"]]);
        holdings.add(std::slice::from_ref(&a), &chunks[1..]);
        assert_eq!(lacking(&[a.clone(), b.clone()]), [vec![], vec!["n1"]]);
        holdings.remove("n0", &chunks[0]);
        assert_eq!(lacking(std::slice::from_ref(&a)), [vec!["n0"], vec![]]);
        let again = ("n1".to_owned(), 2);
        assert_eq!(lacking(std::slice::from_ref(&again)), [vec!["n1"], vec!["n1"]]);
        holdings.add(std::slice::from_ref(&again), &chunks[1..]);
        assert_eq!(lacking(&[again]), [vec!["n1"], vec![]]);
    }

    #[test]
    fn of_more_chunks_than_a_node_keeps_those_used_longest_ago_are_forgotten() {
        let holdings = Holdings::default();
        let node = [("n0".to_owned(), 1)];
        let chunk = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_le_bytes());
            Hash(hash)
        };
        let chunks = |from: usize, to: usize| (from..to).map(chunk).collect::<Vec<_>>();
        let is_held = |number| holdings.lacking(&node, &[chunk(number)])[0].is_empty();
        for from in (0..HELD_MAX).step_by(HELD_MAX / 8) {
            holdings.add(&node, &chunks(from, from + HELD_MAX / 8));
        }
        holdings.add(&node, &chunks(0, 10));
        assert!(is_held(0) && is_held(10));
        holdings.add(&node, &chunks(HELD_MAX, HELD_MAX + 1));
        assert_eq!(
            [0, 9, 10, 11, HELD_MAX - 1, HELD_MAX].map(is_held),
            [true, true, true, false, true, true],
            "whoever is asked for is about to be used"
        );
        assert_eq!(holdings.table()["n0"].used.len(), HELD_MAX / 4 * 3);
    }
}

//! Which chunks nodes hold, as far as the manager knows: what it has sent them. A node that was
//! started again holds nothing; one that has dropped a chunk says so when it would need it.

use crate::chunk::Hash;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

/// A node, and which start of its daemon.
pub type Holder = (String, u64);

/// The table.
#[derive(Default)]
pub struct Holdings {
    table: Mutex<HashMap<String, (u64, HashSet<Hash>)>>,
}

impl Holdings {
    fn table(&self) -> MutexGuard<'_, HashMap<String, (u64, HashSet<Hash>)>> {
        self.table.lock().expect("no holder panics")
    }

    /// For each chunk, those of some nodes that do not hold it.
    pub fn lacking(&self, nodes: &[Holder], chunks: &[Hash]) -> Vec<Vec<String>> {
        let table = self.table();
        let held = |(name, instance): &Holder| {
            table.get(name).filter(|(known, _)| known == instance).map(|(_, held)| held)
        };
        let each: Vec<(&String, Option<&HashSet<Hash>>)> =
            nodes.iter().map(|node| (&node.0, held(node))).collect();
        let lacking = |chunk: &Hash| {
            let lacks = each.iter().filter(|(_, held)| held.is_none_or(|h| !h.contains(chunk)));
            lacks.map(|(name, _)| (*name).clone()).collect()
        };
        chunks.iter().map(lacking).collect()
    }

    /// Some nodes hold these.
    pub fn add(&self, nodes: &[Holder], chunks: &[Hash]) {
        let mut table = self.table();
        for (name, instance) in nodes {
            let held = table.entry(name.clone()).or_insert_with(|| (*instance, HashSet::new()));
            if held.0 != *instance {
                *held = (*instance, HashSet::new());
            }
            held.1.extend(chunks);
        }
    }

    /// A node does not hold a chunk.
    pub fn remove(&self, node: &str, chunk: &Hash) {
        if let Some((_, held)) = self.table().get_mut(node) {
            held.remove(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_holds_what_it_was_sent_until_it_is_started_again_or_says_otherwise() {
        let holdings = Holdings::default();
        let (a, b) = (("n0".to_owned(), 1), ("n1".to_owned(), 1));
        let chunks = [Hash([1; 32]), Hash([2; 32])];
        let lacking = |nodes: &[Holder]| holdings.lacking(nodes, &chunks);
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
}

//! The tree of an epoch: a pure function of the members, the master and the arity.
//!
//! The master is the root, and all others follow in the order of their numbers. A node has a run of
//! that order below it: it is the first of the run itself, and what remains is cut into as many
//! runs of equal length as the tree is wide, one for each child. So every subtree is an interval of
//! node numbers, and whether a message has to go to a child is one look-up in its node set.
//!
//! Members that are *apart* cannot reach, or be reached by, who would be above them: they are left
//! out of that order, and are children of the master. Who has one of them in its interval is asked
//! what concerns that one, too, and has nothing to do.

use super::nodes::Nodes;
use crate::protocol::NodeId;
use std::ops::Range;

/// So many members may be apart, for which the master has room beside a tree's widest level.
pub const APART_MAX: usize = CHILDREN_MAX - ARITY_MAX;

/// The widest tree.
pub const ARITY_MAX: usize = 31;

/// So many children a node has at most: each is a bit of what an operation waits for, and all of
/// them together mean something else there.
const CHILDREN_MAX: usize = u128::BITS as usize - 1;

/// A child and the interval of nodes below it, itself included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The child; also the first of the interval.
    pub node: NodeId,
    /// The last of the interval.
    pub last: NodeId,
}

impl Branch {
    /// Whether a set has nodes there.
    pub fn meets(&self, set: &Nodes) -> bool {
        set.meets(self.node.0, self.last.0)
    }

    /// Whether a node is there.
    pub fn holds(&self, node: NodeId) -> bool {
        (self.node..=self.last).contains(&node)
    }
}

/// A node's place in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Above; the root has none.
    pub parent: Option<NodeId>,
    /// Below.
    pub children: Vec<Branch>,
}

impl Place {
    /// Where a member is.
    ///
    /// # Panics
    /// When it is no member.
    pub fn new(
        (members, apart): (&Nodes, &Nodes),
        master: NodeId,
        arity: usize,
        node: NodeId,
    ) -> Place {
        if apart.contains(node) {
            return Place { parent: Some(master), children: vec![] };
        }
        let others = apart.iter().fold(members.without(master), |some, node| some.without(node));
        let at = |place| others.at(place).expect("a place in the order");
        let branches = |run: Range<usize>| -> Vec<Range<usize>> { cut(run, arity) };
        let (mut parent, mut below) = (None, 0..others.len());
        if node != master {
            let place = others.place(node).expect("a member");
            let mut above = master;
            loop {
                let run = branches(below).into_iter().find(|run| run.contains(&place));
                let run = run.expect("the runs are all that is below");
                parent = Some(above);
                below = run.start + 1..run.end;
                above = at(run.start);
                if run.start == place {
                    break;
                }
            }
        }
        let branch = |run: Range<usize>| Branch { node: at(run.start), last: at(run.end - 1) };
        let mut children: Vec<Branch> = branches(below).into_iter().map(branch).collect();
        if node == master {
            children.extend(apart.iter().map(|node| Branch { node, last: node }));
        }
        Place { parent, children }
    }
}

/// Cuts a run into at most so many that are not empty, of lengths that differ by one at most.
fn cut(run: Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let count = run.len();
    let edge = |part: usize| run.start + count * part / parts;
    (0..parts).map(|part| edge(part)..edge(part + 1)).filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Walks from the root; returns the nodes met and the depth.
    fn walk(members: &Nodes, apart: &Nodes, master: NodeId, arity: usize) -> (Vec<NodeId>, usize) {
        let (mut met, mut level, mut depth) = (vec![], vec![master], 0);
        while !level.is_empty() {
            met.extend(&level);
            depth += 1;
            let mut next = vec![];
            for node in level {
                let place = Place::new((members, apart), master, arity, node);
                let more = if node == master { apart.len() } else { 0 };
                assert!(place.children.len() <= arity + more);
                for branch in place.children {
                    let child = Place::new((members, apart), master, arity, branch.node);
                    assert_eq!(child.parent, Some(node));
                    assert!(node == master || !apart.contains(branch.node));
                    next.push(branch.node);
                }
            }
            level = next;
        }
        (met, depth)
    }

    proptest! {
        #[test]
        fn every_member_is_in_the_tree_once_and_parents_and_children_agree(
            nodes in proptest::collection::btree_set(0u32..300, 1..120),
            arity in 1usize..9, master in any::<prop::sample::Index>(),
            apart in proptest::collection::btree_set(0u32..300, 0..20),
        ) {
            let members: Nodes = nodes.iter().copied().map(NodeId).collect();
            let master = members.at(master.index(members.len())).unwrap();
            let is_apart = |node: NodeId| node != master && apart.contains(&node.0);
            let (mut met, _) = walk(&members, &members.filter(is_apart), master, arity);
            met.sort_unstable();
            prop_assert_eq!(met, members.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_tree_is_as_deep_as_a_full_one() {
        let depth = walk(&Nodes::range(0..=1364), &Nodes::none(), NodeId(0), 4).1;
        assert_eq!(depth, 6, "1 + 4 + ... + 1024 nodes");
    }
}

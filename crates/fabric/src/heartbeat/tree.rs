//! The tree that strobes go down and reports come up: a pure function of the members' order and
//! the arity, so that all who know the members know the tree.

use super::wire::Members;
use crate::protocol::NodeId;
use std::collections::HashMap;
use std::ops::Range;

/// Members, and where each is.
#[derive(Clone, Debug)]
pub struct Tree {
    members: Members,
    places: HashMap<NodeId, usize>,
}

impl Tree {
    pub fn new(members: Members) -> Tree {
        let places = members.order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        Tree { members, places }
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.places.contains_key(&node)
    }

    /// The root has none, nor has who is no member.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let place = self.places.get(&node)?.checked_sub(1)?;
        Some(self.members.order[place / usize::from(self.members.arity)])
    }

    pub fn children(&self, node: NodeId) -> &[NodeId] {
        match self.places.get(&node) {
            Some(place) => &self.members.order[self.below(*place)],
            None => &[],
        }
    }

    /// The nodes between one and the root, the nearest first.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(node), |node| self.parent(*node))
    }

    fn below(&self, place: usize) -> Range<usize> {
        let (arity, end) = (usize::from(self.members.arity), self.members.order.len());
        (place * arity + 1).min(end)..(place * arity + arity + 1).min(end)
    }
}

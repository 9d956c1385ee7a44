//! Sets of nodes as sorted ranges: a whole cluster is one range, however large, and takes no memory
//! of its own; clones of others share theirs.

use crate::protocol::NodeId;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A set of nodes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nodes(Ranges);

/// First and last of each range; sorted, with a gap between any two.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Ranges {
    One([(u32, u32); 1]),
    /// Any other number.
    Some(Arc<[(u32, u32)]>),
}

impl Nodes {
    /// No node.
    pub fn none() -> Nodes {
        Nodes(Ranges::Some(Arc::new([])))
    }

    /// One node.
    pub fn one(node: NodeId) -> Nodes {
        Nodes(Ranges::One([(node.0, node.0)]))
    }

    /// All nodes from a first to a last.
    pub fn range(range: RangeInclusive<u32>) -> Nodes {
        match range.is_empty() {
            true => Nodes::none(),
            false => Nodes(Ranges::One([(*range.start(), *range.end())])),
        }
    }

    /// Ranges as a peer sent them, if they are sorted with a gap between any two.
    pub fn from_ranges(ranges: &[(u32, u32)]) -> Option<Nodes> {
        let ordered = ranges.iter().all(|&(first, last)| first <= last);
        let apart = ranges.windows(2).all(|two| two[0].1 < two[1].0 && two[1].0 - two[0].1 > 1);
        (ordered && apart).then(|| Nodes::of(ranges))
    }

    fn of(ranges: &[(u32, u32)]) -> Nodes {
        match ranges {
            [one] => Nodes(Ranges::One([*one])),
            _ => Nodes(Ranges::Some(ranges.into())),
        }
    }

    /// The ranges: first and last of each.
    pub fn ranges(&self) -> &[(u32, u32)] {
        match &self.0 {
            Ranges::One(one) => one,
            Ranges::Some(ranges) => ranges,
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.ranges().is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ranges().iter().map(|&(first, last)| (last - first) as usize + 1).sum()
    }

    /// Whether the node is one of them.
    pub fn contains(&self, node: NodeId) -> bool {
        self.meets(node.0, node.0)
    }

    /// Whether any of them lies between two nodes, both included.
    pub fn meets(&self, first: u32, last: u32) -> bool {
        let at = self.ranges().partition_point(|range| range.1 < first);
        self.ranges().get(at).is_some_and(|range| range.0 <= last)
    }

    /// The first that is not one of the others.
    pub fn first_outside(&self, others: &Nodes) -> Option<NodeId> {
        for &(first, last) in self.ranges().iter() {
            let at = others.ranges().partition_point(|range| range.1 < first);
            match others.ranges().get(at) {
                Some(range) if range.0 <= first && last <= range.1 => {}
                Some(range) if range.0 <= first => return Some(NodeId(range.1 + 1)),
                _ => return Some(NodeId(first)),
            }
        }
        None
    }

    /// Those of them of whom this is so.
    pub fn filter(&self, mut is_so: impl FnMut(NodeId) -> bool) -> Nodes {
        self.iter().filter(|node| is_so(*node)).collect()
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ranges().iter().flat_map(|&(first, last)| (first..=last).map(NodeId))
    }

    /// The one at a place in the order.
    pub fn at(&self, mut place: usize) -> Option<NodeId> {
        for &(first, last) in self.ranges().iter() {
            let count = (last - first) as usize + 1;
            if place < count {
                return Some(NodeId(first + place as u32));
            }
            place -= count;
        }
        None
    }

    /// Where in the order a node is.
    pub fn place(&self, node: NodeId) -> Option<usize> {
        let mut before = 0;
        for &(first, last) in self.ranges().iter() {
            if node.0 < first {
                return None;
            }
            if node.0 <= last {
                return Some(before + (node.0 - first) as usize);
            }
            before += (last - first) as usize + 1;
        }
        None
    }

    /// These and one more.
    pub fn with(&self, node: NodeId) -> Nodes {
        match self.contains(node) {
            true => self.clone(),
            false => self.iter().chain([node]).collect(),
        }
    }

    /// These without one.
    pub fn without(&self, node: NodeId) -> Nodes {
        match self.contains(node) {
            true => {
                // By ranges: a whole cluster is one, and every member does this in every epoch.
                let split = |&(first, last): &(u32, u32)| {
                    let before =
                        (first < node.0).then(|| (first, last.min(node.0.wrapping_sub(1))));
                    let behind = (last > node.0).then(|| (first.max(node.0 + 1), last));
                    match (first..=last).contains(&node.0) {
                        true => [before, behind],
                        false => [Some((first, last)), None],
                    }
                };
                let ranges: Vec<_> = self.ranges().iter().flat_map(split).flatten().collect();
                Nodes::of(&ranges)
            }
            false => self.clone(),
        }
    }
}

impl FromIterator<NodeId> for Nodes {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Nodes {
        let mut nodes: Vec<u32> = nodes.into_iter().map(|node| node.0).collect();
        nodes.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for node in nodes {
            match ranges.last_mut() {
                Some((_, last)) if node <= last.saturating_add(1) => *last = node,
                _ => ranges.push((node, node)),
            }
        }
        Nodes::of(&ranges)
    }
}

impl Nodes {
    fn folded(&self) -> String {
        let name = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        self.ranges().iter().map(name).collect::<Vec<_>>().join(",")
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.folded())
    }
}

/// As a node's: `node 3`, `nodes 0-2,5`.
impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ranges() {
            [] => f.write_str("no node"),
            [(first, last)] if first == last => NodeId(*first).fmt(f),
            _ => write!(f, "nodes {}", self.folded()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_the_set_that_they_were_made_from(
            one in proptest::collection::btree_set(0u32..40, 0..20),
            two in proptest::collection::btree_set(0u32..40, 0..40),
            node in 0u32..40, other in 0u32..40,
        ) {
            let make = |set: &BTreeSet<u32>| set.iter().copied().map(NodeId).collect::<Nodes>();
            let nodes = make(&one);
            prop_assert_eq!(nodes.len(), one.len());
            prop_assert_eq!(nodes.contains(NodeId(node)), one.contains(&node));
            let (first, last) = (node.min(other), node.max(other));
            prop_assert_eq!(nodes.meets(first, last), one.range(first..=last).next().is_some());
            let outside = one.difference(&two).next().copied().map(NodeId);
            prop_assert_eq!(nodes.first_outside(&make(&two)), outside);
            for (place, node) in nodes.iter().enumerate() {
                prop_assert_eq!((nodes.at(place), nodes.place(node)), (Some(node), Some(place)));
            }
            let others = one.iter().copied().filter(|other| *other != node).collect();
            prop_assert_eq!(nodes.without(NodeId(node)), make(&others));
            prop_assert_eq!(Nodes::from_ranges(nodes.ranges()), Some(nodes));
        }
    }
}

//! What a node knows of its children: who is behind, in their subtrees too.
//!
//! Nobody waits for a report, so a report says what was known when it left: a node that is `d`
//! levels down is spoken of `d` reports later. A child is late when its own last report is too old;
//! it reports in its turn, whatever its children do, so nobody seems late because of another.

use super::wire::{Behind, Report, Why};
use crate::protocol::NodeId;
use muster_base::limits;
use std::collections::BTreeMap;

/// A child.
#[derive(Debug, Default)]
struct Child {
    /// Since this strobe it can be expected to report.
    since: u64,
    is_lost: bool,
    /// Its last report; of strobe 0: none.
    report: Report,
}

/// All children.
#[derive(Debug, Default)]
pub struct Children {
    children: BTreeMap<NodeId, Child>,
}

impl Children {
    /// The tree has changed: who still is a child stays as it was. Says who no longer is one, of
    /// those who can be reached.
    pub fn set(&mut self, children: &[NodeId], now: u64) -> Vec<NodeId> {
        let gone: Vec<NodeId> =
            self.reachable().filter(|child| !children.contains(child)).collect();
        self.children.retain(|child, _| children.contains(child));
        for child in children {
            self.children.entry(*child).or_insert(Child { since: now, ..Child::default() });
        }
        gone
    }

    /// This strobe was held up on its way here: each child may report one later than it could have.
    pub fn excuse(&mut self, sequence: u64) {
        for child in self.children.values_mut() {
            child.since = (child.since.max(child.report.sequence) + 1).min(sequence);
        }
    }

    /// From this strobe on reports come as often as there is time for: those of before are no
    /// measure.
    pub fn begin_at(&mut self, sequence: u64) {
        for child in self.children.values_mut() {
            child.since = child.since.max(sequence);
        }
    }

    /// Those who can be reached.
    pub fn reachable(&self) -> impl Iterator<Item = NodeId> {
        self.children.iter().filter(|(_, child)| !child.is_lost).map(|(node, _)| *node)
    }

    /// Takes a child's report; true when it tells of a node that is newly lost.
    pub fn report(&mut self, node: NodeId, report: Report) -> bool {
        let Some(child) = self.children.get_mut(&node) else { return false };
        if report.sequence < child.report.sequence {
            return false;
        }
        let known = |lost: &Behind| child.report.behind.iter().any(|old| same(old, lost));
        let urgent = report.behind.iter().any(|one| one.why == Why::Lost && !known(one));
        (child.report, child.is_lost) = (report, false);
        urgent
    }

    /// A child's connection has ended; true when that is new.
    pub fn lose(&mut self, node: NodeId) -> bool {
        let child = self.children.get_mut(&node);
        child.is_some_and(|child| !std::mem::replace(&mut child.is_lost, true))
    }

    /// A child has been heard of again.
    pub fn find(&mut self, node: NodeId) {
        if let Some(child) = self.children.get_mut(&node) {
            child.is_lost = false;
        }
    }

    /// What is known at this strobe.
    pub fn known(&self, sequence: u64, allowed: u64) -> Report {
        let mut all = Report { sequence, since: sequence, ..Report::default() };
        for (node, child) in &self.children {
            let Report { sequence: seen, since, behind, truncated } = &child.report;
            let why = if child.is_lost {
                Why::Lost
            } else if (*seen).max(child.since) + allowed < sequence {
                Why::Late
            } else if *seen < child.since {
                Why::New
            } else {
                all.behind.extend(behind);
                all.since = all.since.min(*since);
                all.truncated |= truncated;
                continue;
            };
            all.behind.push(Behind { node: *node, why, seen: *seen });
        }
        // The certain ones first: they are kept when there are too many.
        all.behind.sort_by_key(|behind| std::cmp::Reverse(behind.why as u32));
        all.truncated |= all.behind.len() > limits::LATE_MAX;
        all.behind.truncate(limits::LATE_MAX);
        all
    }
}

fn same(one: &Behind, other: &Behind) -> bool {
    one.node == other.node && one.why == other.why
}

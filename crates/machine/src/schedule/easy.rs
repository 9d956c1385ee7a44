//! EASY backfill (Lifka 1995; Mu'alem and Feitelson 2001): first come, first served, but while the
//! first job that cannot start waits, jobs behind it may start if that does not delay it.
//!
//! The first one has a *reservation*: the earliest moment at which enough of its nodes are free if
//! every job runs as long as it may, and all nodes that are free then. A job behind it passes if it
//! has ended by that moment, or if it leaves enough of those nodes. A job without a time has never
//! ended, so it passes only in the second way.

use super::{Ask, Cluster, Moment, Scheduler, Start};
use std::collections::{BTreeMap, BTreeSet};

/// The scheduler.
pub(super) struct Easy;

/// What is kept for the first job that waits.
pub(super) struct Reservation {
    /// When it can start; `None` while jobs run of which nobody knows when they end.
    pub(super) at: Option<Moment>,
    /// The nodes that it can have then.
    nodes: BTreeSet<u32>,
    need: usize,
}

/// Until when each node is busy; `None` is not known.
type Busy = BTreeMap<u32, Option<Moment>>;

impl Reservation {
    pub(super) fn of(ask: &Ask, cluster: &Cluster, busy: &Busy) -> Reservation {
        let edges = cluster.partitions.values().filter_map(|part| part.edge(cluster.now));
        let ends = busy.values().flatten().map(|end| (*end).max(cluster.now));
        let moments: BTreeSet<Moment> = ends.chain(edges).collect();
        let free_by = |node: &u32, at: Moment| match busy.get(node) {
            Some(end) => end.is_some_and(|end| end <= at),
            None => true,
        };
        for at in moments {
            let candidates = cluster.candidates(ask, at).into_iter();
            let nodes: BTreeSet<u32> = candidates.filter(|node| free_by(node, at)).collect();
            if nodes.len() >= ask.nodes {
                return Reservation { at: Some(at), nodes, need: ask.nodes };
            }
        }
        let nodes = cluster.candidates(ask, cluster.now).into_iter().collect();
        Reservation { at: None, nodes, need: ask.nodes }
    }

    /// Chooses nodes among `free` for a job that starts now; not if that delayed the first one.
    fn pass(&mut self, ask: &Ask, now: Moment, mut free: Vec<u32>) -> Option<Vec<u32>> {
        let ends = ask.time.map(|time| now + time);
        let is_over = |ends: Moment| self.at.is_none_or(|at| ends <= at);
        if !ends.is_some_and(is_over) {
            // Nodes that the first one has no use for go first.
            free.sort_by_key(|node| self.nodes.contains(node));
            let spare = self.nodes.len() - self.need;
            let others = free.iter().filter(|node| !self.nodes.contains(node)).count();
            free.truncate(others + spare);
            if free.len() >= ask.nodes {
                self.nodes.retain(|node| !free[..ask.nodes].contains(node));
            }
        }
        free.truncate(ask.nodes);
        (free.len() == ask.nodes).then_some(free)
    }
}

impl Scheduler for Easy {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let now = cluster.now;
        let mut busy = cluster.busy();
        let mut first: Option<Reservation> = None;
        let mut starts = Vec::new();
        for ask in &cluster.pending {
            let candidates = cluster.candidates(ask, now);
            if candidates.len() < ask.nodes {
                continue;
            }
            let mut free = candidates;
            free.retain(|node| !busy.contains_key(node));
            let nodes = match &mut first {
                Some(first) => first.pass(ask, now, free),
                None if free.len() >= ask.nodes => Some(free[..ask.nodes].to_vec()),
                None => {
                    first = Some(Reservation::of(ask, cluster, &busy));
                    None
                }
            };
            if let Some(nodes) = nodes {
                let end = ask.time.map(|time| now + time);
                busy.extend(nodes.iter().map(|node| (*node, end)));
                starts.push(Start { job: ask.job, nodes });
            }
        }
        starts
    }
}

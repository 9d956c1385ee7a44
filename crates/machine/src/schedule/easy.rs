//! EASY backfill (Lifka 1995; Mu'alem and Feitelson 2001): first come, first served, but while the
//! first job that cannot start waits, jobs behind it may start if that does not delay it.
//!
//! The first one has a *reservation*: the earliest moment at which enough of its nodes are free if
//! every job runs as long as it may, and all nodes that are free then. A job behind it passes if it
//! has ended by that moment, or if it leaves enough of those nodes. A job without a time has never
//! ended, so it passes only in the second way.
//!
//! First is who waits before all others that could have one of its nodes, so jobs of partitions
//! that share no node each have a first one, and who passes delays none of these.

use super::{Ask, Cluster, Moment, Scheduler, Start};
use std::collections::{BTreeMap, BTreeSet};

/// The scheduler.
pub(super) struct Easy;

/// What is kept for a job that waits before all others that could have one of its nodes.
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

    /// Whether a job that has ended at `ends` may have to be waited for.
    fn is_delayed(&self, ends: Option<Moment>) -> bool {
        ends.is_none_or(|ends| self.at.is_some_and(|at| ends > at))
    }
}

/// Chooses nodes among `free` for a job that ends at `ends`; not if that delayed one of the first.
fn pass(
    firsts: &mut [Reservation],
    ask: &Ask,
    ends: Option<Moment>,
    free: &[u32],
) -> Option<Vec<u32>> {
    // No node is kept for two of them.
    let mut kept: Vec<_> = firsts.iter_mut().filter(|first| first.is_delayed(ends)).collect();
    let is_kept = |node: &&u32| kept.iter().any(|first| first.nodes.contains(node));
    // Nodes that the first ones have no use for go first.
    let mut nodes: Vec<u32> = free.iter().filter(|node| !is_kept(node)).copied().collect();
    for first in &kept {
        let spare = first.nodes.len() - first.need;
        let its = free.iter().filter(|node| first.nodes.contains(node));
        nodes.extend(its.take(spare));
    }
    nodes.truncate(ask.nodes);
    if nodes.len() < ask.nodes {
        return None;
    }
    for first in &mut kept {
        first.nodes.retain(|node| !nodes.contains(node));
    }
    Some(nodes)
}

impl Scheduler for Easy {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let now = cluster.now;
        let mut busy = cluster.busy();
        let mut firsts = Vec::new();
        // Nodes that jobs ahead could have, which wait.
        let mut wanted: BTreeSet<u32> = BTreeSet::new();
        let mut starts = Vec::new();
        for ask in &cluster.pending {
            let mut free = cluster.candidates(ask, now);
            if free.len() < ask.nodes {
                continue;
            }
            free.retain(|node| !busy.contains_key(node));
            let end = ask.time.map(|time| now + time);
            if let Some(nodes) = pass(&mut firsts, ask, end, &free) {
                busy.extend(nodes.iter().map(|node| (*node, end)));
                starts.push(Start { job: ask.job, nodes });
                continue;
            }
            let reach = cluster.reach(ask);
            if reach.iter().all(|node| !wanted.contains(node)) {
                firsts.push(Reservation::of(ask, cluster, &busy));
            }
            wanted.extend(reach);
        }
        starts
    }
}

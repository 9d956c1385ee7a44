//! EASY backfill (Lifka 1995; Mu'alem and Feitelson 2001): first come, first served, but while the
//! first job that cannot start waits, jobs behind it may start if that does not delay it.
//!
//! The first one has a *reservation*: the earliest moment at which enough of its nodes are free if
//! every job runs as long as it may, and all nodes that are free then. A job behind it passes if it
//! has ended by that moment, or if it leaves enough of those nodes. A job without a time has never
//! ended, so it passes only in the second way, and not at all on nodes of one that waits for
//! another such job: each would put it off, one after the other.
//!
//! First is who waits before all others that could have one of its nodes, so jobs of partitions
//! that share no node each have a first one, and who passes delays none of these. Who comes behind
//! a first one has a reservation, too, of nodes that this could not have, if these are enough: else
//! a job that waits for one certain node would leave all others to whoever passes. One that only
//! reserved times keep from starting is among the first if these are over within a day: else who
//! comes behind it would take its nodes just before they are. A node that has gone a moment ago is
//! kept as if it were there.

use super::{Ask, Cluster, Moment, Scheduler, Start};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How far ahead a reserved time may end for which a job waits that has nodes kept.
const AHEAD: Duration = Duration::from_secs(86_400);

/// The scheduler.
pub(super) struct Easy;

/// What is kept for a job that waits before all others that could have one of these nodes.
pub(super) struct Reservation {
    /// When it can start; `None` while jobs run of which nobody knows when they end.
    pub(super) at: Option<Moment>,
    /// The nodes that it can have then, and how many of them are not to be spared.
    nodes: BTreeSet<u32>,
    need: usize,
}

/// Until when each node is busy; `None` is not known.
type Busy = BTreeMap<u32, Option<Moment>>;

impl Reservation {
    /// What is kept for a job beside the nodes of `others`; `None` if it could not start soon on an
    /// empty cluster either, or not without theirs.
    pub(super) fn of(
        ask: &Ask,
        cluster: &Cluster,
        busy: &Busy,
        others: &BTreeSet<u32>,
    ) -> Option<Reservation> {
        // Whatever the moment, it has none but these. Mostly they are too few: who is the first has
        // all nodes, and a thousand wait behind it.
        let soon = cluster.soon(ask);
        let own = soon.iter().filter(|node| !others.contains(node)).count();
        if own < ask.least.unwrap_or(ask.nodes) {
            return None;
        }
        let opens = opening(ask, cluster)?;
        let ends = busy.values().flatten().map(|end| (*end).max(opens));
        let mut moments: BTreeSet<Moment> = ends.chain([opens]).collect();
        // Nodes come free when a job or a reserved time ends. Where the days are alike one is as
        // good as the next; what is reserved once has each day after it (the second round).
        for _ in 0..2 {
            let more = moments.iter().flat_map(|at| cluster.reserved_ends(*at));
            let more: Vec<Moment> = more.collect();
            moments.extend(more);
        }
        let free_by = |node: &u32, at: Moment| match busy.get(node) {
            Some(end) => end.is_some_and(|end| end <= at),
            None => true,
        };
        for at in moments {
            let candidates = cluster.candidates_soon(ask, at);
            let need = ask.need(candidates.len());
            let own = candidates.into_iter().filter(|node| !others.contains(node));
            let free = own.filter(|node| free_by(node, at));
            let nodes: BTreeSet<u32> = free.collect();
            if nodes.len() >= need {
                return Some(Reservation { at: Some(at), nodes, need });
            }
        }
        // Who knows which of them come free first? None can be spared for a job without a time.
        let candidates = cluster.candidates_soon(ask, opens);
        let need = ask.need(candidates.len());
        let own = candidates.into_iter().filter(|node| !others.contains(node));
        let nodes: BTreeSet<u32> = own.collect();
        (nodes.len() >= need).then_some(Reservation { at: None, need: nodes.len(), nodes })
    }

    /// Whether a job that has ended at `ends` may have to be waited for.
    fn is_delayed(&self, ends: Option<Moment>) -> bool {
        ends.is_none_or(|ends| self.at.is_some_and(|at| ends > at))
    }
}

/// From when on a job could run if no other job were there, if that is soon.
fn opening(ask: &Ask, cluster: &Cluster) -> Option<Moment> {
    let now = cluster.now;
    let ends = cluster.reserved_ends(now).filter(|end| *end <= now + AHEAD);
    let moments: BTreeSet<Moment> = ends.chain([now]).collect();
    moments.into_iter().find(|at| {
        let can = cluster.candidates_soon(ask, *at).len();
        can >= ask.need(can)
    })
}

/// Chooses `need` nodes of `free` for a job that ends at `ends`, in the order that these have; not
/// if that delayed one of the first.
fn pass(
    cluster: &Cluster,
    firsts: &mut [Reservation],
    need: usize,
    ends: Option<Moment>,
    free: &[u32],
) -> Option<Vec<u32>> {
    // No node is kept for two of them.
    let mut kept: Vec<_> = firsts.iter_mut().filter(|first| first.is_delayed(ends)).collect();
    let is_kept = |node: &&u32| kept.iter().any(|first| first.nodes.contains(node));
    // Nodes that the first ones have no use for go first.
    let mut chosen: Vec<u32> = free.iter().filter(|node| !is_kept(node)).copied().collect();
    for first in &kept {
        // One that has gone may not come back, and is no reason to spare one that is there.
        let there = first.nodes.iter().filter(|node| cluster.is_up(**node));
        let spare = there.count().saturating_sub(first.need);
        let its = free.iter().filter(|node| first.nodes.contains(node));
        chosen.extend(its.take(spare));
    }
    chosen.truncate(need);
    if chosen.len() < need {
        return None;
    }
    let chosen: BTreeSet<u32> = chosen.into_iter().collect();
    for first in &mut kept {
        first.nodes.retain(|node| !chosen.contains(node));
    }
    // Ranks follow the order in which the job names its nodes.
    Some(free.iter().filter(|node| chosen.contains(node)).copied().collect())
}

impl Scheduler for Easy {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let now = cluster.now;
        let mut busy = cluster.busy();
        let mut firsts = Vec::new();
        // Nodes that the first ones could have: when theirs come free may change.
        let mut wanted: BTreeSet<u32> = BTreeSet::new();
        let mut starts = Vec::new();
        let mut refused: Option<&Ask> = None;
        for ask in &cluster.pending {
            // Those of one that has a reservation are not for another, and who has none has none.
            if refused.is_some_and(|one| one.is_like(ask)) {
                continue;
            }
            let mut free = cluster.candidates(ask, now);
            let need = ask.need(free.len());
            free.retain(|node| !busy.contains_key(node));
            let end = ask.time.map(|time| now + time);
            if let Some(nodes) = pass(cluster, &mut firsts, need, end, &free) {
                busy.extend(nodes.iter().map(|node| (*node, end)));
                starts.push(Start { job: ask.job, nodes });
                refused = None;
                continue;
            }
            refused = Some(ask);
            if let Some(first) = Reservation::of(ask, cluster, &busy, &wanted) {
                firsts.push(first);
                wanted.extend(cluster.soon(ask));
            }
        }
        starts
    }
}
